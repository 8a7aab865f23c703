// What does a chat request cost beyond the HTTP exchange itself? The same exchange as a bare
// libcurl easy loop on a kept-alive connection and through ChatModel::complete(), alternating,
// against one responder in this process; then 256 callers at once, and how long the unluckiest
// waits.
//
//   llm_bench [CALLS]     results: bench/results/llm.md
#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "llm/chat_request.h"
#include "llm/openai.h"

namespace {

using namespace unmask;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Answers every request with the same bytes; one thread, epoll.
class Responder {
 public:
  explicit Responder(const std::string& body)
      : answer_(fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                            "Content-Length: {}\r\n\r\n{}",
                            body.size(), body)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 1024) != 0)
      std::exit(2);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    poll_ = epoll_create1(0);
    watch(listener_);
    thread_ = std::thread([this] { serve(); });
  }
  ~Responder() {
    ending_ = true;
    thread_.join();
    for (const auto& [connection, unread] : unread_) close(connection);
    close(listener_);
    close(poll_);
  }
  std::string base_url() const { return fmt::format("http://127.0.0.1:{}", port_); }

 private:
  void watch(int descriptor) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    epoll_ctl(poll_, EPOLL_CTL_ADD, descriptor, &event);
  }

  void serve() {
    epoll_event events[64];
    while (!ending_) {
      const int count = epoll_wait(poll_, events, 64, 50);
      for (int i = 0; i < count; ++i)
        events[i].data.fd == listener_ ? greet() : answer(events[i].data.fd);
    }
  }

  void greet() {
    const int connection = accept(listener_, nullptr, nullptr);
    const int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    unread_[connection];
    watch(connection);
  }

  void answer(int connection) {
    char bytes[1 << 16];
    const ssize_t length = read(connection, bytes, sizeof bytes);
    if (length <= 0) {
      unread_.erase(connection);
      close(connection);
      return;
    }
    std::string& unread = unread_[connection];
    unread.append(bytes, static_cast<std::size_t>(length));
    if (!is_whole(unread)) return;
    unread.clear();
    for (std::size_t sent = 0; sent < answer_.size();) {
      const ssize_t n = write(connection, answer_.data() + sent, answer_.size() - sent);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }

  static bool is_whole(const std::string& request) {
    const std::size_t head = request.find("\r\n\r\n");
    const std::size_t length = request.find("Content-Length: ");
    if (head == std::string::npos || length == std::string::npos) return false;
    return request.size() >= head + 4 + std::strtoul(request.c_str() + length + 16, nullptr, 10);
  }

  const std::string answer_;
  int listener_ = -1;
  int poll_ = -1;
  int port_ = 0;
  std::map<int, std::string> unread_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

// A reply with one call and, per token, 20 alternatives; `tokens` 0: none.
std::string reply_body(int tokens) {
  std::string logprobs;
  for (int t = 0; t < tokens; ++t) {
    std::string top;
    for (int i = 0; i < 20; ++i)
      top += fmt::format(R"({}{{"token":"t{}","logprob":-{}.125,"bytes":[116,48]}})", i ? "," : "",
                         i, i);
    logprobs += fmt::format(R"({}{{"token":"t0","logprob":-0.125,"top_logprobs":[{}]}})",
                            t ? "," : "", top);
  }
  return fmt::format(
      R"({{"choices":[{{"finish_reason":"tool_calls","logprobs":{},"message":{{"role":"assistant",)"
      R"("content":null,"tool_calls":[{{"id":"x","type":"function","function":{{"name":"find_order",)"
      R"("arguments":"{{\"id\": 1}}"}}}}]}}}}],"usage":{{"prompt_tokens":9,"completion_tokens":9}}}})",
      tokens ? fmt::format(R"({{"content":[{}]}})", logprobs) : "null");
}

// As long as a retail episode half way: 10 kB of policy, 16 tools, 20 messages.
struct Conversation {
  std::vector<ChatMessage> messages;
  std::string tools = "[";

  Conversation() {
    messages.emplace_back().role = ChatMessage::Role::System;
    messages.back().content = std::string(10'000, 'p');
    for (int i = 0; i < 10; ++i) {
      messages.emplace_back().role = ChatMessage::Role::Assistant;
      messages.back().calls = {{fmt::format("c{}", i), "find_order", "{\"order_id\": \"#W1\"}"}};
      messages.emplace_back().role = ChatMessage::Role::Tool;
      messages.back().call_id = fmt::format("c{}", i);
      messages.back().content = std::string(600, 'r');
    }
    for (int i = 0; i < 16; ++i)
      tools += fmt::format(
          R"({}{{"type":"function","function":{{"name":"tool_{}","description":"{}","parameters":)"
          R"({{"type":"object","properties":{{"a":{{"type":"string"}}}}}}}}}})",
          i ? ", " : "", i, std::string(500, 'd'));
    tools += "]";
  }
  ChatRequest request() const {
    ChatRequest request;
    request.messages = messages;
    request.tools = tools;
    request.seed = 1;
    return request;
  }
};

std::size_t append_bytes(char* bytes, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(bytes, size * count);
  return size * count;
}

// The comparator: one easy handle, the same body each time, the reply gathered and not looked at.
class BareLoop {
 public:
  BareLoop(const std::string& base_url, std::string body) : body_(std::move(body)) {
    easy_ = curl_easy_init();
    headers_ = curl_slist_append(nullptr, "Content-Type: application/json");
    headers_ = curl_slist_append(headers_, "Expect:");
    curl_easy_setopt(easy_, CURLOPT_URL, (base_url + "/v1/chat/completions").c_str());
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body_.data());
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body_.size()));
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, append_bytes);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &reply_);
  }
  ~BareLoop() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
  }
  bool call() {
    reply_.clear();
    return curl_easy_perform(easy_) == CURLE_OK;
  }

 private:
  std::string body_;
  std::string reply_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
};

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

std::unique_ptr<ChatModel> model_at(const std::string& base_url, int connections) {
  EndpointOptions options;
  options.base_url = base_url;
  options.model = "m";
  options.max_connections = connections;
  options.max_retries = 0;
  Result<std::unique_ptr<ChatModel>> model = open_openai(options);
  if (!model) std::exit(2);
  return std::move(*model);
}

void compare_calls(int calls, int tokens) {
  const Responder responder(reply_body(tokens));
  const Conversation conversation;
  const std::unique_ptr<ChatModel> model = model_at(responder.base_url(), 1);
  EndpointOptions same;
  same.model = "m";
  BareLoop bare(responder.base_url(), *write_chat_request(same, conversation.request(), true));
  std::vector<double> bare_ms, model_ms;
  for (int i = 0; i < calls; ++i) {
    Clock::time_point start = Clock::now();
    if (!bare.call()) std::exit(2);
    bare_ms.push_back(milliseconds_since(start));
    start = Clock::now();
    if (!model->complete(conversation.request())) std::exit(2);
    model_ms.push_back(milliseconds_since(start));
  }
  const double added = quantile(model_ms, 0.5) - quantile(bare_ms, 0.5);
  fmt::print(
      "{} tokens with alternatives: bare libcurl {:.3f} ms, complete() {:.3f} ms, added {:.3f} ms "
      "(medians of {}; "
      "p99 {:.3f} and {:.3f})\n",
      tokens, quantile(bare_ms, 0.5), quantile(model_ms, 0.5), added, calls,
      quantile(bare_ms, 0.99), quantile(model_ms, 0.99));
}

void many_callers(int callers, int each) {
  const Responder responder(reply_body(40));
  const Conversation conversation;
  const std::unique_ptr<ChatModel> model = model_at(responder.base_url(), callers);
  std::mutex mutex;
  std::vector<double> all;
  std::vector<std::thread> threads;
  const Clock::time_point start = Clock::now();
  for (int c = 0; c < callers; ++c)
    threads.emplace_back([&] {
      std::vector<double> mine;
      for (int i = 0; i < each; ++i) {
        const Clock::time_point begun = Clock::now();
        if (model->complete(conversation.request())) mine.push_back(milliseconds_since(begun));
      }
      const std::lock_guard lock(mutex);
      all.insert(all.end(), mine.begin(), mine.end());
    });
  for (std::thread& thread : threads) thread.join();
  const double seconds = milliseconds_since(start) / 1000;
  fmt::print(
      "{} callers x {} requests: {} answered in {:.2f} s ({:.0f}/s), latency median {:.0f} ms, "
      "p99 {:.0f} ms, worst {:.0f} ms\n",
      callers, each, all.size(), seconds, static_cast<double>(all.size()) / seconds,
      quantile(all, 0.5), quantile(all, 0.99), quantile(all, 1.0));
}

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (calls < 1) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  compare_calls(calls, 0);
  compare_calls(calls, 40);
  many_callers(256, 1);
  many_callers(256, std::max(1, calls / 100));
}
