#include "llm/openai.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <random>
#include <string_view>
#include <utility>
#include <variant>

#include "base/rng.h"
#include "llm/chat_reply.h"
#include "llm/chat_request.h"
#include "llm/endpoint_url.h"
#include "llm/http_transport.h"
#include "llm/retry.h"
#include "llm/server_words.h"

// One request is a loop over attempts. Each attempt ends in an Outcome: a reply, an error that will
// stay, a reason to try again later, or to ask again at once without log-probabilities.
namespace unmask {
namespace {

struct TryLater {
  Error reason;
  std::optional<double> asked_seconds;  // Retry-After
};
struct AskWithoutLogprobs {};
using Outcome = std::variant<ChatReply, Error, TryLater, AskWithoutLogprobs>;

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

HttpEndpoint http_endpoint(const EndpointOptions& options, std::string url) {
  HttpEndpoint endpoint;
  endpoint.url = std::move(url);
  // "Expect:" keeps libcurl from asking leave for large bodies, which costs a second at servers
  // that do not answer.
  endpoint.headers = {"Content-Type: application/json", "Accept: application/json",
                      "User-Agent: unmask/" UNMASK_VERSION, "Expect:"};
  if (!options.api_key.empty())
    endpoint.headers.push_back("Authorization: Bearer " + options.api_key);
  endpoint.max_connections = options.max_connections;
  endpoint.connect_timeout_seconds = options.connect_timeout_seconds;
  endpoint.first_byte_timeout_seconds = options.first_byte_timeout_seconds;
  endpoint.total_timeout_seconds = options.total_timeout_seconds;
  endpoint.max_reply_bytes = options.max_reply_bytes;
  endpoint.max_text_bytes = options.max_text_bytes;
  return endpoint;
}

class OpenAiModel : public ChatModel {
 public:
  OpenAiModel(EndpointOptions options, const EndpointUrl& url, Secrets secrets)
      : options_(std::move(options)),
        place_(url.printable),
        secrets_(std::move(secrets)),
        settings_(secrets_.hide(sampling_settings(options_))),
        jitter_((std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}()),
        ask_logprobs_(options_.logprobs),
        transport_(http_endpoint(options_, url.full)) {}

  const std::string& name() const override { return options_.model; }
  const std::string& settings() const override { return settings_; }

  Result<ChatReply> complete(const ChatRequest& request) override {
    int retries = 0;
    while (true) {
      const bool ask_logprobs = ask_logprobs_;
      Result<std::string> body = write_chat_request(options_, request, ask_logprobs);
      if (!body) return body.error();
      const std::uint64_t id_seed = Rng::hash(*body);
      HttpReply http = transport_.post(std::move(*body), request.stop);
      // Without tools it wrote no call: the server's own fault, which may pass.
      if (!request.tools.empty() && http.end == HttpReply::End::Answered && http.status >= 500)
        if (std::optional<ChatReply> reply = unread(http, ask_logprobs, id_seed)) {
          reply->retries = retries;
          return std::move(*reply);
        }
      Outcome outcome = judge(std::move(http), ask_logprobs, id_seed);
      if (ChatReply* reply = std::get_if<ChatReply>(&outcome)) {
        reply->retries = retries;
        return std::move(*reply);
      }
      if (Error* error = std::get_if<Error>(&outcome)) return std::move(*error);
      if (std::holds_alternative<AskWithoutLogprobs>(outcome)) continue;
      const TryLater& later = std::get<TryLater>(outcome);
      if (retries == options_.max_retries) return given_up(later.reason, retries);
      if (!sleep_unless_stopped(wait_before(retries, later.asked_seconds), request.stop))
        return stopped();
      ++retries;
    }
  }

 private:
  Outcome judge(HttpReply http, bool asked_logprobs, std::uint64_t id_seed) {
    switch (http.end) {
      case HttpReply::End::Stopped:
        return stopped();
      case HttpReply::End::NotConnected:
        return TryLater{unavailable("cannot connect: " + http.reason), {}};
      case HttpReply::End::Broken:
        return TryLater{unavailable("the transfer broke off: " + http.reason), {}};
      case HttpReply::End::TimedOut:
        return TryLater{
            unavailable(fmt::format("timed out after {:.1f} s: {}", http.seconds, http.reason)),
            {}};
      case HttpReply::End::TooLong:
        return unavailable(http.reason);
      case HttpReply::End::Untrusted:
        return unavailable("no connection can be made: " + http.reason);
      case HttpReply::End::Answered:
        break;
    }
    if (http.status < 200 || http.status > 299) return judge_refusal(http, asked_logprobs);
    return judge_answer(http, asked_logprobs, id_seed);
  }

  // Looked at before all else: what the server quotes may hold any words. Not asked again: another
  // attempt would change the sample.
  std::optional<ChatReply> unread(const HttpReply& http, bool asked_logprobs,
                                  std::uint64_t id_seed) const {
    std::optional<ChatReply> reply = read_unread_output(secrets_.hide_long(http.body), id_seed);
    if (!reply) return std::nullopt;
    reply->seconds = http.seconds;
    if (asked_logprobs) reply->warnings.emplace_back("logprobs_absent");
    return reply;
  }

  Outcome judge_refusal(const HttpReply& http, bool asked_logprobs) {
    if (http.status != 429 && says_context_overflow(http.body)) return context_overflow(http.body);
    // Whatever the status, a passing fault of a server that also mentions logprobs costs one
    // request.
    if (asked_logprobs && http.status != 429 && mentions_logprobs(http.body)) {
      ask_logprobs_ = false;
      return AskWithoutLogprobs{};
    }
    const std::string said = server_said(http.body);
    const std::string sentence =
        fmt::format("the server refused the request with HTTP status {}{}{}{}", http.status,
                    said.empty() ? "" : ": ", said, redirected(http));
    if (is_passing_status(http.status))
      return TryLater{unavailable(sentence), retry_after_seconds(http.retry_after, unix_seconds())};
    return Error{ErrorKind::InvalidArgument, sentence, place_};
  }

  Outcome judge_answer(HttpReply& http, bool asked_logprobs, std::uint64_t id_seed) {
    Result<ChatReply> reply = read_chat_reply(secrets_.hide_long(std::move(http.body)), id_seed);
    if (!reply) {
      // Some gateways send errors with status 200.
      if (says_context_overflow(reply.error().message))
        return context_overflow(reply.error().message);
      return TryLater{unavailable(secrets_.hide(reply.error().message)), {}};
    }
    reply->seconds = http.seconds;
    if (http.content_type.find("json") == std::string::npos)
      reply->warnings.emplace_back("content_type");
    if (options_.logprobs && !asked_logprobs) reply->warnings.emplace_back("logprobs_refused");
    if (asked_logprobs && reply->logprobs.empty()) reply->warnings.emplace_back("logprobs_absent");
    price(*reply);
    return std::move(*reply);
  }

  // A redirect is not followed: the key would go to whoever it names.
  std::string redirected(const HttpReply& http) const {
    if (http.status / 100 != 3 || http.location.empty()) return "";
    return " (it points to " + printable(secrets_.hide(http.location), 200) +
           ", which is not followed: give that address)";
  }

  void price(ChatReply& reply) const {
    if (!reply.usage) return;
    if (!options_.usd_per_million_prompt_tokens && !options_.usd_per_million_completion_tokens)
      return;
    const double prompt = static_cast<double>(reply.usage->prompt);
    const double completion = static_cast<double>(reply.usage->completion);
    reply.cost_usd = 1e-6 * (prompt * options_.usd_per_million_prompt_tokens.value_or(0) +
                             completion * options_.usd_per_million_completion_tokens.value_or(0));
  }

  // Hidden first: shortening might leave half a secret.
  std::string server_said(const std::string& body) const {
    return secrets_.hide(server_message(secrets_.hide(body)));
  }

  Error unavailable(const std::string& sentence) const {
    return Error{ErrorKind::Unavailable, printable(secrets_.hide(sentence), 500), place_};
  }

  Error context_overflow(const std::string& body) const {
    return Error{ErrorKind::Unavailable,
                 "the conversation does not fit the model's context window: " + server_said(body),
                 std::string(kContextWindow)};
  }

  static Error stopped() {
    return Error{ErrorKind::Unavailable, "given up because a stop was asked for",
                 std::string(kStopped)};
  }

  static Error given_up(Error reason, int retries) {
    if (retries > 0) reason.message += fmt::format(" (given up after {} attempts)", retries + 1);
    return reason;
  }

  double wait_before(int retry, std::optional<double> asked_seconds) {
    const Backoff backoff{options_.backoff_base_seconds, options_.backoff_cap_seconds,
                          options_.retry_after_cap_seconds};
    const std::lock_guard lock(jitter_mutex_);
    return backoff_seconds(backoff, retry, asked_seconds, jitter_);
  }

  const EndpointOptions options_;
  const std::string place_;
  const Secrets secrets_;
  const std::string settings_;
  std::mutex jitter_mutex_;
  Rng jitter_;  // of waits only, so its seed is nobody's result
  std::atomic<bool> ask_logprobs_;
  HttpTransport transport_;
};

Error wrong(const std::string& sentence) {
  return Error{ErrorKind::InvalidArgument, sentence, ""};
}

Result<Done> check(const EndpointOptions& options) {
  if (options.model.empty()) return wrong("model is empty");
  if (options.api_key.find_first_of("\r\n\0", 0, 3) != std::string::npos)
    return wrong("api_key holds a line break");
  if (options.max_connections < 1 || options.max_connections > 4096)
    return wrong("max_connections must be 1 to 4096");
  if (options.max_retries < 0) return wrong("max_retries must not be negative");
  if (options.max_reply_bytes == 0) return wrong("max_reply_bytes must be positive");
  if (options.max_text_bytes == 0) return wrong("max_text_bytes must be positive");
  if (options.logprobs && options.top_logprobs < 0)
    return wrong("top_logprobs must not be negative");
  if (options.max_tokens && *options.max_tokens < 1) return wrong("max_tokens must be positive");
  const std::pair<const char*, double> positive[] = {
      {"connect_timeout_seconds", options.connect_timeout_seconds},
      {"first_byte_timeout_seconds", options.first_byte_timeout_seconds},
      {"total_timeout_seconds", options.total_timeout_seconds}};
  for (const auto& [key, seconds] : positive)
    if (!(seconds > 0) || !std::isfinite(seconds))
      return wrong(std::string(key) + " must be positive");
  const std::pair<const char*, double> waits[] = {
      {"backoff_base_seconds", options.backoff_base_seconds},
      {"backoff_cap_seconds", options.backoff_cap_seconds},
      {"retry_after_cap_seconds", options.retry_after_cap_seconds}};
  for (const auto& [key, seconds] : waits)
    if (!(seconds >= 0) || !std::isfinite(seconds))
      return wrong(std::string(key) + " must not be negative");
  return check_extra_body(options.extra_body);
}

}  // namespace

Result<std::unique_ptr<ChatModel>> open_openai(const EndpointOptions& options) {
  const Result<Done> sound = check(options);
  if (!sound) return sound.error();
  const Result<EndpointUrl> url = chat_completions_url(options.base_url);
  if (!url) return url.error();
  Secrets secrets;
  secrets.add(options.api_key);
  for (const std::string& secret : url->secrets) secrets.add(secret);
  return std::unique_ptr<ChatModel>(
      std::make_unique<OpenAiModel>(options, *url, std::move(secrets)));
}

}  // namespace unmask
