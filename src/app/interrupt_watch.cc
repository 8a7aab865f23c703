#include "app/interrupt_watch.h"

#include <signal.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "app/command.h"

namespace unmask {
namespace {

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

InterruptWatch::InterruptWatch(std::function<void(int count)> told) : told_(std::move(told)) {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this](const std::stop_token& over) { watch(over); });
}

InterruptWatch::~InterruptWatch() {
  thread_.request_stop();
  thread_.join();
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void InterruptWatch::watch(const std::stop_token& over) {
  const sigset_t set = interrupts();
  const timespec moment{0, 20'000'000};  // how long the end may have to wait
  while (!over.stop_requested()) {
    if (sigtimedwait(&set, nullptr, &moment) < 0) continue;
    const int count = count_.fetch_add(1) + 1;
    if (count > 2) ::_exit(static_cast<int>(ExitStatus::Interrupted));
    told_(count);
    (count == 1 ? once_ : twice_).request_stop();
  }
}

}  // namespace unmask
