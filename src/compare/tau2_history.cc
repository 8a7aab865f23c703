#include "compare/tau2_history.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace unmask {
namespace {

// First 12 digits of every mainline commit from v1.0.0 up to the one before the fix, sorted.
constexpr std::string_view kDefective[] = {
    "01e812d1d1c4", "05dba08970a3", "07a03d1862fb", "0c4e3be231ef", "0e9db9f1020f", "0f06982b1608",
    "13d62d886891", "147c9206847c", "17e07b1da2bb", "18ea98dffc70", "20062c79b729", "20c7b4f61862",
    "220b47844fb7", "2237ac8ec61c", "22b0efcc3af1", "250dd71390fc", "2949f77225e9", "2c9bb08e4491",
    "2f6c259b85fb", "31089ea3f85a", "3162c45e4a95", "37e0e3f46117", "387c77539413", "3b005ddbdb41",
    "45f7de059e4c", "46c80efbec00", "49a55b7d4595", "4c4cdd5ebaf8", "4cef465b6f1d", "5293c2de791a",
    "55f8e177ddb1", "5655af4573ed", "586d6463aba0", "58e5e1ace693", "6c00baa24eb3", "6deac5abe254",
    "6e1d57640fb2", "6e65007d5901", "72be66d906f8", "7311c51e5e65", "73dc24445d28", "79ad1bfafc3c",
    "7f8362eb363e", "8128adc407d4", "8d4f52741b98", "8d7d93db8b16", "9068d9fc9753", "92fc8d541b48",
    "931783e0f89d", "a03b7910bc96", "a11d95e19a04", "a4e984e12272", "ac388e9542b7", "acf281e9799d",
    "ada8e512e0f1", "b209e7557e42", "b3a758801aee", "b4aa36f73845", "b5d072888f94", "b76acee2e625",
    "b9a2ada5b4e3", "bb47037f68fe", "be34b73d5827", "bf58e1217896", "c074e5d5652d", "c47190af2f07",
    "c7e01411b008", "c8ceb95798c7", "c9b535cf423a", "c9da6c0b83cb", "cf2fdcef3cf9", "d11a97072c49",
    "d418bf31ee8b", "d901452b5109", "d95a11069cd4", "db2209e42977", "dce54ec8a973", "e40aba6ec7cc",
    "e4840979f78a", "e69071e36275", "f3b3f46385c0", "f419007b4645", "f956f7d96d85", "fb63d1db6e21",
    "fde49152a686", "fef171f5bc5c",
};

// Releases outside the window: v0.1.0 ... v0.2.0, the fix itself, v1.0.1.
constexpr std::string_view kSound[] = {"c6570c358282", "8dcf8d8affe4", "40f46d3540dc",
                                       "5ba9e3e56db5", "f8de30c29868", "2be691669909",
                                       "b711c1ead46f"};

constexpr std::string_view kFirstDay = "2026-03-18";
constexpr std::string_view kLastDay = "2026-04-29";

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Equal on the digits both have, 7 at least.
bool listed(std::string_view commit, std::span<const std::string_view> commits) {
  constexpr std::size_t kFewestDigits = 7;
  if (commit.size() < kFewestDigits || !is_hex(commit)) return false;
  const std::string digits = lower(commit);
  return std::any_of(commits.begin(), commits.end(), [&](std::string_view known) {
    const std::size_t n = std::min(known.size(), digits.size());
    return known.substr(0, n) == std::string_view(digits).substr(0, n);
  });
}

// "2026-04-02T10:11:12..." -> whether the day lies in the window. ISO dates sort as text.
bool dated_inside(std::string_view timestamp) {
  constexpr std::size_t kDayLength = 10;
  if (timestamp.size() < kDayLength) return false;
  const std::string_view day = timestamp.substr(0, kDayLength);
  for (std::size_t i = 0; i < kDayLength; ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? day[i] != '-' : (day[i] < '0' || day[i] > '9')) return false;
  }
  return day >= kFirstDay && day <= kLastDay;
}

}  // namespace

SelectionWindow selection_window(const RunInfo& info) {
  if (!info.format.starts_with("tau2")) return SelectionWindow::Outside;
  if (listed(info.git_commit, kDefective)) return SelectionWindow::ByCommit;
  if (listed(info.git_commit, kSound)) return SelectionWindow::Outside;
  return dated_inside(info.timestamp) ? SelectionWindow::ByDate : SelectionWindow::Outside;
}

}  // namespace unmask
