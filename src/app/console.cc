#include "app/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "report/display.h"

namespace unmask {
namespace {

constexpr int kUsualWidth = 80;
constexpr int kWidest = 100;
constexpr int kNarrowest = 20;

// 0, or the errno that stopped it.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

std::optional<int> terminal_columns(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return std::nullopt;
}

std::optional<int> columns_variable() {
  const char* text = std::getenv("COLUMNS");
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const std::from_chars_result read = std::from_chars(text, end, value);
  if (read.ec != std::errc() || read.ptr != end || value <= 0) return std::nullopt;
  return value;
}

bool is_set(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0';
}

bool wants_color(ColorChoice choice) {
  if (choice != ColorChoice::Auto) return choice == ColorChoice::Always;
  if (is_set("NO_COLOR") || ::isatty(STDOUT_FILENO) == 0) return false;
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) != "dumb";
}

std::atomic<int> holders{0};
std::atomic<bool> pending{false};
std::atomic<bool> on_terminal{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

[[noreturn]] void end_interrupted() {
  // A terminal has echoed "^C", or holds half a progress bar.
  std::string_view text = "\nunmask: interrupted\n";
  if (!on_terminal.load()) text.remove_prefix(1);
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) {
    // Nobody is left to tell.
  }
  ::_exit(static_cast<int>(ExitStatus::Interrupted));
}

bool standard_output_closed = false;

void on_interrupt(int) {
  if (holders.load() > 0)
    pending.store(true);
  else
    end_interrupted();
}

}  // namespace

void note_closed_standard_output() {
  standard_output_closed = true;
}

bool standard_output_was_closed() {
  return standard_output_closed;
}

Result<Done> write_standard_output(std::string_view text) {
  const int code = write_all(STDOUT_FILENO, text);
  if (code == 0 || code == EPIPE) return Done{};
  return Error{ErrorKind::Unavailable, std::string("cannot write: ") + std::strerror(code),
               "standard output"};
}

ExitStatus print_result(std::string_view text) {
  const Result<Done> written = write_standard_output(text);
  return written ? ExitStatus::Done : fail(written.error());
}

void print_error(std::string_view text) {
  (void)write_all(STDERR_FILENO, text);
}

std::string safe_lines(const std::string& text) {
  std::string out;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin || end < text.size())
      out += safe_for_terminal(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

void print_warnings(const std::vector<Warning>& warnings) {
  for (const Warning& warning : warnings)
    print_error(safe_lines(fmt::format("unmask: warning: {}{}{}\n", warning.where,
                                       warning.where.empty() ? "" : ": ", warning.message)));
}

ExitStatus fail(std::string_view sentence) {
  print_error("unmask: " + safe_for_terminal(sentence) + "\n");
  return ExitStatus::Unusable;
}

ExitStatus fail(const Error& error) {
  return fail(to_string(error));
}

TerminalStyle style_of_standard_output(ColorChoice choice) {
  std::optional<int> columns = terminal_columns(STDOUT_FILENO);
  if (!columns) columns = columns_variable();
  return {wants_color(choice), std::clamp(columns.value_or(kUsualWidth), kNarrowest, kWidest)};
}

void end_on_interrupt() {
  on_terminal.store(::isatty(STDERR_FILENO) != 0);
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

HoldInterrupts::HoldInterrupts() {
  holders.fetch_add(1);
}

HoldInterrupts::~HoldInterrupts() {
  if (holders.fetch_sub(1) == 1 && pending.load()) end_interrupted();
}

struct Progress::State {
  bool quiet = false;
  bool redraws = false;
  std::mutex mutex;
  std::string text;
  bool drawn = false;
  std::chrono::steady_clock::time_point last_drawn;

  void clear() {
    if (drawn) print_error("\r\x1b[K");
    drawn = false;
  }

  void draw(double share) {
    const int columns = std::max(terminal_columns(STDERR_FILENO).value_or(kUsualWidth), kNarrowest);
    constexpr std::size_t kBar = 24;
    std::string line = "\r\x1b[K";
    const std::size_t room = static_cast<std::size_t>(columns) - 1;
    if (share >= 0 && room > kBar + 20) {
      const auto full = static_cast<std::size_t>(share * static_cast<double>(kBar));
      std::string bar;
      for (std::size_t i = 0; i < kBar; ++i) bar += i < full ? "█" : "░";
      line += fmt::format("{} {:>3.0f}%  {}", bar, share * 100, fit(text, room - kBar - 7));
    } else {
      line += fit(text, room);
    }
    print_error(line);
    drawn = true;
  }
};

Progress::Progress(bool quiet) : state_(std::make_unique<State>()) {
  state_->quiet = quiet;
  state_->redraws = ::isatty(STDERR_FILENO) != 0;
}

Progress::~Progress() {
  finish();
}

void Progress::step(const std::string& text) {
  if (state_->quiet) return;
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->text = safe_for_terminal(text);
  if (state_->redraws)
    state_->draw(-1);
  else
    print_error(state_->text + "\n");
}

void Progress::bytes(std::uint64_t done, std::uint64_t total) {
  if (state_->quiet || !state_->redraws || total == 0) return;
  const std::lock_guard<std::mutex> lock(state_->mutex);
  const auto now = std::chrono::steady_clock::now();
  if (now - state_->last_drawn < std::chrono::milliseconds(100)) return;
  state_->last_drawn = now;
  state_->draw(std::min(1.0, static_cast<double>(done) / static_cast<double>(total)));
}

void Progress::finish() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->clear();
}

}  // namespace unmask
