// The episodes of an arm, shared until written to: an arm is paired, reduced to common tasks and
// read under several assumptions, and most of its episodes are the same each time.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "metrics/episode_facts.h"

namespace unmask {

// Threads  lists that share episodes may be used by different threads; one list object may not be
//          written while another thread uses it.
class EpisodeList {
 public:
  using Shared = std::shared_ptr<const EpisodeFacts>;

  EpisodeList() = default;
  explicit EpisodeList(std::vector<Shared> episodes) : episodes_(std::move(episodes)) {}

  std::size_t size() const { return episodes_.size(); }
  bool empty() const { return episodes_.empty(); }
  const EpisodeFacts& operator[](std::size_t i) const { return *episodes_[i]; }

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = EpisodeFacts;
    using difference_type = std::ptrdiff_t;
    using pointer = const EpisodeFacts*;
    using reference = const EpisodeFacts&;

    Iterator() = default;
    explicit Iterator(std::vector<Shared>::const_iterator at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    std::vector<Shared>::const_iterator at_;
  };
  Iterator begin() const { return Iterator(episodes_.begin()); }
  Iterator end() const { return Iterator(episodes_.end()); }

  const Shared& shared(std::size_t i) const { return episodes_[i]; }
  void push_back(Shared episode) { episodes_.push_back(std::move(episode)); }

  // The episode as one of this list's own, to be changed; others keep what they share.
  EpisodeFacts& edit(std::size_t i) {
    std::shared_ptr<EpisodeFacts> own = std::make_shared<EpisodeFacts>(*episodes_[i]);
    EpisodeFacts& facts = *own;
    episodes_[i] = std::move(own);
    return facts;
  }

 private:
  std::vector<Shared> episodes_;
};

}  // namespace unmask
