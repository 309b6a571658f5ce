#include "backends/external/command_server.h"

#include "backends/backend_parts.h"
#include "core/frame.h"
#include "core/json.h"
#include "core/no_answer.h"
#include "core/programs.h"
#include "repro_minify/program.h"
#include "repro_minify/sandbox.h"
#include "tasks/limits.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace repro_minify {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t most_answer_bytes = size_t{1} << 20; // a line with two numbers and a message
constexpr auto patience = std::chrono::minutes(10);   // what takes long to load is why there is a server

/// One request and its answer.
class Connection {
public:
  explicit Connection(const std::string &path) : socket_(connected_socket(path)), open_(socket_ >= 0) {}
  ~Connection() { close(socket_); }
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  void send(const json &request) {
    const std::string line = request.dump() + "\n";
    open_ = open_ && send_bytes(socket_, line.data(), line.size());
  }

  /// Waits as long as that (-1: for ever) for the answer to be whole or the other side to be gone.
  bool answered_within(int milliseconds) {
    pollfd entry{socket_, POLLIN, 0};
    while (open_ && answer_.find('\n') == std::string::npos) {
      const int ready = poll(&entry, 1, milliseconds);
      if (ready == 0)
        return false;
      std::array<char, 4096> buffer{};
      const ssize_t count = ready < 0 ? -1 : recv(socket_, buffer.data(), buffer.size(), 0);
      if (count > 0 && answer_.size() < most_answer_bytes)
        answer_.append(buffer.data(), static_cast<size_t>(count));
      else
        open_ = count < 0 && errno == EINTR;
    }
    return true;
  }

  /// True if a whole line has come, whatever it says.
  bool has_answered() const { return answer_.find('\n') != std::string::npos; }
  /// No object: there is none.
  json answer() const { return json::parse(answer_, nullptr, /*allow_exceptions=*/false); }

private:
  int socket_;
  bool open_;
  std::string answer_;
};

} // namespace

CommandServer::CommandServer(const std::vector<std::string> &words, const std::function<bool()> &interrupted)
    : address_(folder_ / "socket"), log_(folder_ / "log"), owner_(getpid()) {
  start(words);
  await(interrupted);
}

void CommandServer::start(const std::vector<std::string> &words) {
  const int listener = listening_socket_of("command", address_);
  pid_ = start_program({.words = words, .output = log_, .input = listener, .own_group = true, .ends_with_us = true});
  close(listener);
  if (pid_ < 0)
    throw UserError("--backend command: no process can be started");
  group_ = pid_;
}

void CommandServer::await(const std::function<bool()> &interrupted) {
  Connection connection(address_);
  connection.send(json::object());
  const auto give_up_at = Clock::now() + patience;
  while (!connection.answered_within(100)) {
    if (interrupted && interrupted()) {
      end();
      throw Interrupted{};
    }
    if (Clock::now() > give_up_at)
      give_up("the program did not serve within ten minutes");
  }
  if (!connection.answer().is_object())
    give_up("the program does not serve: " + last_words());
}

void CommandServer::give_up(const std::string &problem) {
  end();
  throw UserError("--backend command: " + problem);
}

void CommandServer::end() {
  using namespace std::chrono_literals;
  if (group_ <= 0)
    return;
  kill(-group_, SIGTERM);
  const bool stays = runs_after(pid_, 2s);
  kill(-std::exchange(group_, -1), SIGKILL); // and what it has started, which may have outlived it
  if (stays)
    waitpid(std::exchange(pid_, -1), nullptr, 0);
}

CommandServer::~CommandServer() {
  if (getpid() == owner_) // a child's copy has no say
    end();
}

CommandServer::End CommandServer::ask(const std::vector<std::string> &files, std::uint64_t seed) const {
  Connection connection(address_);
  connection.send({{"model", files.at(0)},
                   {"inputs", files.at(1)},
                   {"outputs", files.at(2)},
                   {"memory", memory_allowance()},
                   {"seed", seed}});
  connection.answered_within(-1);
  if (!connection.has_answered())
    throw NoAnswer("the command that serves is gone: " + last_words());
  const json answer = connection.answer();
  try {
    return {answer.value("signal", 0), answer.value("exit", 0), answer.value("message", "")};
  } catch (const json::exception &) {
    throw CannotCompile("the command that serves answers with something else than docs/backends.md says");
  }
}

bool CommandServer::lives() {
  return is_running(pid_);
}

std::string CommandServer::last_words() const {
  const std::string last = last_line(log_);
  return last.empty() ? "it said nothing" : last;
}

} // namespace repro_minify
