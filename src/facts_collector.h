// What reading a log keeps of its episodes. Internal to the front door.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "audit.h"
#include "metrics/excerpt_shelf.h"

namespace unmask {

// Classifies and measures episodes as they arrive from several threads; keeps facts, not texts.
//
// Threads  take() may be called concurrently; the rest once every episode was taken.
class FactsCollector {
 public:
  // Both must outlive it.
  FactsCollector(const ToolsFile* tools, const AuditOptions& options)
      : tools_(tools),
        options_(options),
        shelf_(static_cast<std::size_t>(options.excerpts_per_channel)) {}

  void take(const RunInfo& info, std::size_t index, const Episode& episode);

  std::vector<EpisodeList::Shared> take_all() { return std::move(facts_); }
  std::vector<Excerpt> take_excerpts() { return shelf_.take_all(); }

 private:
  const ToolsFile* tools_;
  const AuditOptions& options_;
  std::once_flag made_;
  std::unique_ptr<Classifier> classifier_;
  std::mutex mutex_;
  std::vector<EpisodeList::Shared> facts_;
  std::mutex shelf_mutex_;
  ExcerptShelf shelf_;
};

// Of log-probabilities of decisions that could not be read, or cannot be true.
std::vector<Warning> decision_warnings(const std::vector<EpisodeList::Shared>& episodes);

}  // namespace unmask
