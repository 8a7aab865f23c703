#include "llm/retry.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <string_view>

namespace unmask {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos &&
         text.front() != '.' && std::count(text.begin(), text.end(), '.') <= 1;
}

}  // namespace

double backoff_seconds(const Backoff& backoff, int retry, std::optional<double> asked_seconds,
                       Rng& rng) {
  const double full =
      std::min(backoff.cap_seconds, backoff.base_seconds * std::ldexp(1.0, std::min(retry, 60)));
  const double wait = full * (0.5 + 0.5 * rng.uniform());
  if (!asked_seconds) return wait;
  return std::max(wait, std::min(*asked_seconds, backoff.retry_after_cap_seconds));
}

std::optional<double> retry_after_seconds(const std::string& text, std::int64_t now) {
  if (is_number(text)) return text.size() > 12 ? 1e12 : std::stod(text);
  // libcurl reads bare numbers as dates too ("-5", "20260101"); an HTTP date names a month.
  const bool named = std::any_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  const std::time_t date = named ? curl_getdate(text.c_str(), nullptr) : -1;
  if (date == -1) return std::nullopt;
  return std::max(0.0, static_cast<double>(date - now));
}

bool sleep_unless_stopped(double seconds, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
  return !stop.stop_requested();
}

bool is_passing_status(int status) {
  return status == 408 || status == 409 || status == 425 || status == 429 ||
         (status >= 500 && status <= 599 && status != 501 && status != 505);
}

}  // namespace unmask
