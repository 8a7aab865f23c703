#include "chat_server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

extern char** environ;

namespace unmask {
namespace {

int port_in(const std::string& line) {
  int port = 0;
  return std::sscanf(line.c_str(), "listening on %d", &port) == 1 ? port : 0;
}

std::string first_line(int descriptor) {
  std::string line;
  for (char c = 0; read(descriptor, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace

std::unique_ptr<ChatServerProcess> ChatServerProcess::start(
    int port, const std::vector<std::string>& arguments) {
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0) return nullptr;
  if (pipe2(output, O_CLOEXEC) != 0) return nullptr;
  std::vector<std::string> words = {"python3", UNMASK_CHAT_SERVER, "--port", std::to_string(port),
                                    "--end-with-stdin"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], 0);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  std::unique_ptr<ChatServerProcess> server(new ChatServerProcess);
  const int failed =
      posix_spawnp(&server->pid_, "python3", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
  server->input_ = input[1];
  if (failed) server->pid_ = -1;
  server->port_ = failed ? 0 : port_in(first_line(output[0]));
  close(output[0]);
  if (server->port_ == 0) return nullptr;
  return server;
}

ChatServerProcess::~ChatServerProcess() {
  if (input_ >= 0) close(input_);
  if (pid_ > 0) kill(pid_, SIGKILL);
  wait_for_end();
}

void ChatServerProcess::wait_for_end() {
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace unmask
