// tests/server/chat_server.py as a child process.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace unmask {

class ChatServerProcess {
 public:
  // Waits until it listens; port 0: any free one. nullptr where python3 cannot be started.
  static std::unique_ptr<ChatServerProcess> start(int port = 0,
                                                  const std::vector<std::string>& arguments = {});
  ~ChatServerProcess();  // ends it
  ChatServerProcess(const ChatServerProcess&) = delete;
  ChatServerProcess& operator=(const ChatServerProcess&) = delete;

  int port() const { return port_; }
  std::string base_url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  void wait_for_end();  // of a server that was told to die

 private:
  ChatServerProcess() = default;
  pid_t pid_ = -1;
  int input_ = -1;  // its standard input: it ends when this closes, however we end
  int port_ = 0;
};

}  // namespace unmask
