#include "llm/http_transport.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/check.h"

namespace unmask {
namespace {

using Clock = std::chrono::steady_clock;

// A request on its way. The caller and the network thread both hold it, so that a caller who stops
// can leave while libcurl still reads the body.
struct Exchange {
  std::string body;
  std::atomic<bool> abandoned = false;

  std::mutex mutex;  // guards what follows
  std::condition_variable_any finished;
  bool done = false;
  HttpReply reply;
};

// An easy handle with all options that never change; used again for later requests.
struct Slot {
  CURL* easy = nullptr;
  std::shared_ptr<Exchange> exchange;  // null: idle
  HttpReply reply;
  Clock::time_point started;
  bool first_byte = false;
  std::string too_long;          // why the reply is refused; empty: it is not
  std::size_t text_begin = 0;    // behind the last quotation mark of the body that is not escaped
  std::size_t text_scanned = 0;  // up to here the body has been looked through for these
  std::size_t max_reply_bytes = 0;
  std::size_t max_text_bytes = 0;
  char problem[CURL_ERROR_SIZE] = {};

  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() {
    if (easy) curl_easy_cleanup(easy);
  }
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

// Keeps the value of `line` where its name is `name`, lower case with the colon.
void keep_header(std::string_view line, std::string_view name, std::string& value) {
  if (line.size() >= name.size() && strncasecmp(line.data(), name.data(), name.size()) == 0)
    value = trimmed(line.substr(name.size()));
}

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* user) {
  Slot& slot = *static_cast<Slot*>(user);
  const std::string_view line(bytes, size * count);
  slot.first_byte = true;
  try {
    if (line.starts_with("HTTP/")) {  // a 100 came before
      slot.reply.content_type.clear();
      slot.reply.retry_after.clear();
      slot.reply.location.clear();
    }
    keep_header(line, "content-type:", slot.reply.content_type);
    keep_header(line, "retry-after:", slot.reply.retry_after);
    keep_header(line, "location:", slot.reply.location);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return line.size();
}

bool is_escaped(const std::string& body, std::size_t at) {
  std::size_t backslashes = 0;
  while (backslashes < at && body[at - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

// Whether the body has a JSON string beyond the limit: so many bytes without a quotation mark that
// is not escaped. What stands between strings is counted alike, and is never so long.
bool has_long_text(Slot& slot) {
  const std::string& body = slot.reply.body;
  for (;;) {
    const std::size_t mark = body.find('"', slot.text_scanned);
    if (std::min(mark, body.size()) - slot.text_begin > slot.max_text_bytes) return true;
    if (mark == std::string::npos) {
      slot.text_scanned = body.size();
      return false;
    }
    slot.text_scanned = mark + 1;
    if (!is_escaped(body, mark)) slot.text_begin = mark + 1;
  }
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* user) {
  Slot& slot = *static_cast<Slot*>(user);
  const std::size_t length = size * count;
  slot.first_byte = true;
  if (length > slot.max_reply_bytes - slot.reply.body.size()) {
    slot.too_long = fmt::format("the reply is longer than {} bytes", slot.max_reply_bytes);
    return 0;
  }
  try {
    slot.reply.body.append(bytes, length);
  } catch (const std::bad_alloc&) {
    slot.too_long = "no memory for the reply";  // short enough to need none itself
    return 0;
  }
  if (!has_long_text(slot)) return length;
  slot.too_long = fmt::format("the reply holds a text of more than {} bytes", slot.max_text_bytes);
  return 0;
}

HttpReply::End end_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpReply::End::Answered;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
      return HttpReply::End::NotConnected;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpReply::End::TimedOut;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
      return HttpReply::End::Untrusted;
    default:
      return HttpReply::End::Broken;
  }
}

// What the environment says, and this machine itself: no proxy can reach it.
std::string hosts_without_proxy() {
  const std::string here = "localhost,127.0.0.1,::1";
  const char* value = std::getenv("no_proxy");
  if (value == nullptr) value = std::getenv("NO_PROXY");
  if (value == nullptr || *value == '\0') return here;
  return std::string_view(value) == "*" ? "*" : here + "," + value;
}

long milliseconds(double seconds) {
  return static_cast<long>(std::clamp(seconds * 1000.0, 1.0, 1e9));
}

void finish(Exchange& exchange, HttpReply reply) {
  const std::lock_guard lock(exchange.mutex);
  exchange.reply = std::move(reply);
  exchange.done = true;
  exchange.finished.notify_all();
}

}  // namespace

class HttpTransport::Loop {
 public:
  explicit Loop(HttpEndpoint endpoint) : endpoint_(std::move(endpoint)) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    multi_ = curl_multi_init();
    UNMASK_CHECK(multi_ != nullptr);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(endpoint_.max_connections));
    for (const std::string& header : endpoint_.headers)
      headers_ = curl_slist_append(headers_, header.c_str());
    thread_ = std::thread([this] { run(); });
  }

  ~Loop() {
    closing_ = true;
    curl_multi_wakeup(multi_);
    thread_.join();
    for (std::unique_ptr<Slot>& slot : slots_)
      if (slot->exchange) curl_multi_remove_handle(multi_, slot->easy);
    slots_.clear();
    curl_multi_cleanup(multi_);
    curl_slist_free_all(headers_);
  }

  void enqueue(std::shared_ptr<Exchange> exchange) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(exchange));
    }
    curl_multi_wakeup(multi_);
  }

  void abandon(Exchange& exchange) {
    exchange.abandoned = true;
    abandonment_ = true;
    curl_multi_wakeup(multi_);
  }

 private:
  void run() {
    while (!closing_) {
      if (abandonment_.exchange(false)) drop_abandoned();
      admit();
      int running = 0;
      curl_multi_perform(multi_, &running);
      collect();
      expire();
      if (!can_admit()) curl_multi_poll(multi_, nullptr, 0, patience(), nullptr);
    }
  }

  bool can_admit() {
    const std::lock_guard lock(mutex_);
    return !waiting_.empty() && active_ < endpoint_.max_connections;
  }

  // Starts waiting requests while connections are free.
  void admit() {
    while (active_ < endpoint_.max_connections) {
      std::shared_ptr<Exchange> next;
      {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) return;
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      if (!next->abandoned) start(std::move(next));
    }
  }

  void start(std::shared_ptr<Exchange> exchange) {
    Slot& slot = idle_slot();
    slot.exchange = std::move(exchange);
    slot.reply = {};
    slot.first_byte = false;
    slot.too_long.clear();
    slot.text_begin = slot.text_scanned = 0;
    slot.problem[0] = '\0';
    slot.started = Clock::now();
    curl_easy_setopt(slot.easy, CURLOPT_POSTFIELDS, slot.exchange->body.data());
    curl_easy_setopt(slot.easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(slot.exchange->body.size()));
    curl_multi_add_handle(multi_, slot.easy);
    ++active_;
  }

  Slot& idle_slot() {
    for (std::unique_ptr<Slot>& slot : slots_)
      if (!slot->exchange) return *slot;
    slots_.push_back(std::make_unique<Slot>());
    Slot& slot = *slots_.back();
    slot.easy = curl_easy_init();
    UNMASK_CHECK(slot.easy != nullptr);
    slot.max_reply_bytes = endpoint_.max_reply_bytes;
    slot.max_text_bytes = endpoint_.max_text_bytes;
    curl_easy_setopt(slot.easy, CURLOPT_URL, endpoint_.url.c_str());
    curl_easy_setopt(slot.easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(slot.easy, CURLOPT_NOPROXY, no_proxy_.c_str());
    curl_easy_setopt(slot.easy, CURLOPT_POST, 1L);
    curl_easy_setopt(slot.easy, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(slot.easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(slot.easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(slot.easy, CURLOPT_CONNECTTIMEOUT_MS,
                     milliseconds(endpoint_.connect_timeout_seconds));
    curl_easy_setopt(slot.easy, CURLOPT_TIMEOUT_MS, milliseconds(endpoint_.total_timeout_seconds));
    curl_easy_setopt(slot.easy, CURLOPT_ERRORBUFFER, slot.problem);
    curl_easy_setopt(slot.easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(slot.easy, CURLOPT_HEADERDATA, &slot);
    curl_easy_setopt(slot.easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(slot.easy, CURLOPT_WRITEDATA, &slot);
    curl_easy_setopt(slot.easy, CURLOPT_PRIVATE, &slot);
    return slot;
  }

  void collect() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;  // the message dies with the handle's removal
      void* owner = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
      Slot& slot = *static_cast<Slot*>(owner);
      describe_end(slot, code);
      release(slot);
    }
  }

  static void describe_end(Slot& slot, CURLcode code) {
    long status = 0;
    curl_off_t microseconds = 0;
    curl_easy_getinfo(slot.easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(slot.easy, CURLINFO_TOTAL_TIME_T, &microseconds);
    slot.reply.status = static_cast<int>(status);
    slot.reply.seconds = static_cast<double>(microseconds) * 1e-6;
    slot.reply.end = slot.too_long.empty() ? end_of(code) : HttpReply::End::TooLong;
    if (!slot.too_long.empty())
      slot.reply.reason = slot.too_long;
    else if (code != CURLE_OK)
      slot.reply.reason = slot.problem[0] ? slot.problem : curl_easy_strerror(code);
  }

  void release(Slot& slot) {
    curl_multi_remove_handle(multi_, slot.easy);
    --active_;
    finish(*slot.exchange, std::move(slot.reply));
    slot.reply = {};
    slot.exchange.reset();
  }

  // Ends transfers that have waited too long for the first byte of a reply.
  void expire() {
    const Clock::time_point now = Clock::now();
    for (std::unique_ptr<Slot>& slot : slots_) {
      if (!slot->exchange || slot->first_byte) continue;
      const double waited = std::chrono::duration<double>(now - slot->started).count();
      if (waited < endpoint_.first_byte_timeout_seconds) continue;
      slot->reply.end = HttpReply::End::TimedOut;
      slot->reply.seconds = waited;
      slot->reply.reason = "no byte of a reply in time";
      release(*slot);
    }
  }

  // Milliseconds until the next first-byte limit; libcurl watches its own limits.
  int patience() const {
    double seconds = 1.0;
    const Clock::time_point now = Clock::now();
    for (const std::unique_ptr<Slot>& slot : slots_) {
      if (!slot->exchange || slot->first_byte) continue;
      const double waited = std::chrono::duration<double>(now - slot->started).count();
      seconds = std::min(seconds, endpoint_.first_byte_timeout_seconds - waited);
    }
    return static_cast<int>(std::max(1.0, seconds * 1000.0 + 1.0));
  }

  void drop_abandoned() {
    for (std::unique_ptr<Slot>& slot : slots_)
      if (slot->exchange && slot->exchange->abandoned) release(*slot);
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [](const std::shared_ptr<Exchange>& e) { return e->abandoned.load(); });
  }

  const HttpEndpoint endpoint_;
  const std::string no_proxy_ = hosts_without_proxy();
  CURLM* multi_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> abandonment_ = false;
  std::mutex mutex_;  // guards waiting_
  std::deque<std::shared_ptr<Exchange>> waiting_;
  // Only the network thread touches these.
  std::vector<std::unique_ptr<Slot>> slots_;
  int active_ = 0;
  std::thread thread_;
};

HttpTransport::HttpTransport(HttpEndpoint endpoint)
    : loop_(std::make_unique<Loop>(std::move(endpoint))) {}

HttpTransport::~HttpTransport() = default;

HttpReply HttpTransport::post(std::string body, const std::stop_token& stop) {
  HttpReply stopped;
  stopped.reason = "stopped";
  if (stop.stop_requested()) return stopped;
  const std::shared_ptr<Exchange> exchange = std::make_shared<Exchange>();
  exchange->body = std::move(body);
  loop_->enqueue(exchange);
  std::unique_lock lock(exchange->mutex);
  if (exchange->finished.wait(lock, stop, [&] { return exchange->done; }))
    return std::move(exchange->reply);
  lock.unlock();
  loop_->abandon(*exchange);
  return stopped;
}

}  // namespace unmask
