// POST requests to one address over kept-alive connections, from any number of threads.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace unmask {

struct HttpEndpoint {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  int max_connections = 16;
  // Each from the moment a connection was free for the request.
  double connect_timeout_seconds = 10;
  double first_byte_timeout_seconds = 600;
  double total_timeout_seconds = 1200;
  std::size_t max_reply_bytes = std::size_t{64} << 20;
  std::size_t max_text_bytes = std::size_t{16} << 20;  // of one JSON string in the reply
};

struct HttpReply {
  enum class End {
    Answered,      // status and body are the server's
    NotConnected,  // refused, unresolved, unreachable
    Broken,        // the connection ended before the reply did
    TimedOut,
    TooLong,    // more than max_reply_bytes, or a text of more than max_text_bytes; see `reason`
    Untrusted,  // a certificate or an address that will not get better by trying again
    Stopped,
  };
  End end = End::Stopped;
  int status = 0;
  std::string body;
  std::string content_type;
  std::string retry_after;
  std::string location;  // where a redirect points
  double seconds = 0.0;
  std::string reason;  // why it is not Answered, in a few words
};

// One thread runs all transfers (libcurl's multi interface); at most max_connections at once, the
// others wait in the order they came.
//
// Threads  post() may be called from many at once; no call may be running at destruction.
class HttpTransport {
 public:
  explicit HttpTransport(HttpEndpoint endpoint);
  ~HttpTransport();
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;

  // Blocks until the reply is there; returns at once when `stop` asks for it.
  HttpReply post(std::string body, const std::stop_token& stop);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace unmask
