// Ctrl-C for work that ends well: once to finish what has begun, twice to give it up, three times
// to leave at once.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <thread>

namespace unmask {

// While it lives, SIGINT and SIGTERM go to it and not to the handler of console.h.
//
// Threads  create it before the threads whose work it ends: they inherit that the signals are held.
class InterruptWatch {
 public:
  // Called from a thread of its own with 1, then 2.
  explicit InterruptWatch(std::function<void(int count)> told);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  std::stop_token once() const { return once_.get_token(); }
  std::stop_token twice() const { return twice_.get_token(); }
  int count() const { return count_.load(); }

 private:
  void watch(const std::stop_token& over);

  std::function<void(int count)> told_;
  std::stop_source once_;
  std::stop_source twice_;
  std::atomic<int> count_{0};
  std::jthread thread_;
};

}  // namespace unmask
