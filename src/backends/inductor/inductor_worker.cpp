#include "backends/inductor/inductor_worker.h"

#include "backends/backend_parts.h"
#include "backends/in_python.h"
#include "core/frame.h"
#include "core/no_answer.h"
#include "core/programs.h"
#include "repro_minify/program.h"
#include "repro_minify/sandbox.h"
#include "tasks/child_process.h"
#include "tasks/compiler.h"
#include "tasks/time_limit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <utility>

namespace repro_minify {
namespace {

constexpr auto time_to_start =
    std::chrono::minutes(10); // a first import on a cold, busy machine, and a header to precompile

/// Returns a confinement that lets the worker write what it generates, and its probes of the machine, which are kept
/// beside the kernels.
Confinement confinement_of_worker(const std::string &python, const std::string &folder,
                                  const std::vector<std::string> &entries) {
  Confinement confinement{.writable = {folder}, .readable = what_worker_reads(python, entries), .unix_sockets = true};
  confinement.readable.emplace_back("/proc"); // each child of the worker reads the entries of its own process
  if (confinement.cuda) // its driver writes to /proc/PID/task; each child gives up all of /proc but its own first
    confinement.writable.emplace_back("/proc");
  if (const char *kept = std::getenv("TORCHINDUCTOR_CACHE_DIR"))
    confinement.writable.emplace_back(kept);
  return confinement;
}

/// Probes of the machine are libraries that are loaded, and PyTorch's own place for them is a name in the temporary
/// folder that any user can take first.
void keep_probes_in_our_cache(const std::string &folder) {
  std::error_code error;
  fs::path kept = folder;
  try {
    kept = kernel_cache_folder() / "torchinductor";
    fs::create_directory(kept, error);
  } catch (const NoAnswer &) { // then it is found out again each time
  }
  setenv("TORCHINDUCTOR_CACHE_DIR", kept.c_str(), 1);
}

[[noreturn]] void end_as(const json &died) {
  if (const int signal = died.value("signal", 0)) {
    ::signal(signal, SIG_DFL); // no report of a crash: the frames of this process are not those of the failure
    raise(signal);
  }
  _exit(died.value("exit", 1));
}

} // namespace

std::vector<std::string> what_worker_reads(const std::string &python, const std::vector<std::string> &entries) {
  std::vector<std::string> paths = folders_of_python(python);
  paths.push_back(fs::path(inductor_worker_script()).parent_path().string());
  for (const auto &entry : entries)
    if (const size_t at = entry.find('/'); at != std::string::npos) {
      const std::string path = entry.substr(at, entry.find_first_of("'\"", at) - at);
      const std::string module = module_and_function(path).first; // backend=FILE.py:FUNCTION
      paths.push_back(is_python_file(module) ? module : path);
    }
  return paths;
}

std::string inductor_worker_script() {
  return script_of_ours("inductor/worker.py", "backends/inductor/worker.py");
}

InductorWorker::InductorWorker(std::string backend, const std::string &python, const std::vector<std::string> &entries)
    : backend_(std::move(backend)), folder_(temporary_.path()), address_(folder_ + "/socket"), owner_(getpid()) {
  const int listener = listening_socket_of("inductor", address_);
  std::array<int, 2> alive{}, report{};
  if (pipe2(alive.data(), O_CLOEXEC) != 0 || pipe2(report.data(), O_CLOEXEC) != 0)
    give_up("no pipe can be made");
  std::vector<std::string> words = {python,
                                    "-B",
                                    inductor_worker_script(),
                                    std::to_string(listener),
                                    std::to_string(alive[0]),
                                    std::to_string(report[1]),
                                    folder_};
  words.insert(words.end(), entries.begin(), entries.end());
  prepare_confinement(); // here and not in the child, where exec() would close the lock that protects its folder
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  pid_ = start_program({.words = words,
                        .output = folder_ + "/log",
                        .input = nothing,
                        .descriptors = {listener, alive[0], report[1]},
                        .own_group = true, // Ctrl-C is for repro-minify
                        .before = [&] {
                          keep_probes_in_our_cache(folder_);
                          confine(confinement_of_worker(python, folder_, entries));
                        }});
  alive_ = alive[1];
  for (const int theirs : {listener, alive[0], report[1], nothing})
    close(theirs);
  report_ = report[0];
  if (pid_ < 0)
    give_up("no process can be started");
}

void InductorWorker::await(const std::function<bool()> &interrupted) {
  if (report_ < 0)
    return;
  std::string text;
  pollfd entry{report_, POLLIN, 0};
  const auto give_up_at = std::chrono::steady_clock::now() + time_to_start;
  constexpr std::chrono::milliseconds between_looks(100);
  std::array<char, 4096> buffer{};
  while (text.find('\n') == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(give_up_at - std::chrono::steady_clock::now());
    if (interrupted && interrupted()) {
      end();
      throw Interrupted{};
    }
    const int ready = left.count() > 0 ? poll(&entry, 1, static_cast<int>(std::min(left, between_looks).count())) : 0;
    if ((ready < 0 && errno == EINTR) || (ready == 0 && left > between_looks))
      continue;
    const ssize_t count = ready > 0 ? read(report_, buffer.data(), buffer.size()) : 0;
    if (count <= 0)
      break;
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  close(report_);
  report_ = -1;
  if (std::chrono::steady_clock::now() >= give_up_at)
    give_up("the Python worker did not start within ten minutes");
  const auto answer = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) {
    const std::string last = last_line(folder_ + "/log");
    give_up("the Python worker " + (last.empty() ? "ended without a word" : "did not start: " + last));
  }
  if (answer.contains("problem"))
    give_up(answer.at("problem").get<std::string>());
  torch_version_ = answer.at("torch").get<std::string>();
  python_version_ = answer.at("python").get<std::string>();
  call_ = answer.at("call");
  recipe_ = answer.at("recipe");
}

bool InductorWorker::lives() {
  return is_running(pid_);
}

void InductorWorker::give_up(const std::string &problem) {
  end();
  throw UserError("--backend " + backend_ + ": " + problem);
}

void InductorWorker::end() {
  using namespace std::chrono_literals;
  const bool is_ready = report_ < 0;
  if (!is_ready)
    close(std::exchange(report_, -1));
  if (alive_ >= 0)
    close(std::exchange(alive_, -1)); // it ends, and its children, and removes its folder
  // A worker that still imports would notice that only after seconds.
  if (runs_after(pid_, is_ready ? 5s : 0s)) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

InductorWorker::~InductorWorker() {
  if (getpid() == owner_) // a child's copy has no say
    end();
}

InductorConnection::InductorConnection(const std::string &address) : socket_(connected_socket(address)) {
  const auto greeting = socket_ < 0 ? std::nullopt : receive_message(socket_);
  if (!greeting || !greeting->header.contains("pid")) {
    close(socket_);
    throw NoAnswer(greeting ? greeting->header.value("unanswered", "the Python worker's child has ended")
                            : "the Python worker is gone");
  }
  is_helped_by(greeting->header.at("pid").get<pid_t>());
}

InductorConnection::~InductorConnection() {
  close(socket_);
}

InductorMessage InductorConnection::answer_to(const InductorMessage &message) {
  const bool sent = send_message(socket_, message);
  auto answer = receive_message(socket_); // also where not all was sent: a child that dies says so first
  if (!answer)
    throw NoAnswer(sent ? "the Python worker is gone" : "the Python worker does not listen");
  if (const auto used = answer->header.find("used"); used != answer->header.end())
    helper_has_used({std::chrono::nanoseconds(used->at(0).get<std::int64_t>()),
                     std::chrono::nanoseconds(used->at(1).get<std::int64_t>())});
  return std::move(*answer);
}

InductorMessage InductorConnection::exchange(const InductorMessage &message) {
  InductorMessage answer = answer_to(message);
  for (const char *problem : {"died", "memory", "cannot", "raised", "unanswered"})
    if (answer.header.contains(problem))
      throw std::runtime_error("the Python worker: " + std::string(problem) + " " + answer.header.at(problem).dump());
  return answer;
}

InductorMessage InductorConnection::ask(const InductorMessage &message) {
  InductorMessage answer = answer_to(message);
  const auto &header = answer.header;
  if (header.contains("died"))
    end_as(header.at("died"));
  if (header.contains("memory"))
    throw std::bad_alloc();
  if (header.contains("unanswered"))
    throw NoAnswer(header.at("unanswered").get<std::string>());
  if (header.contains("cannot"))
    throw CannotCompile(header.at("cannot").get<std::string>());
  if (header.contains("raised"))
    throw std::runtime_error(header.at("raised").get<std::string>());
  return answer;
}

std::shared_ptr<InductorConnection> connection_of_this_process(const std::string &address) {
  struct Kept {
    pid_t process = 0;
    std::string address;
    std::shared_ptr<InductorConnection> connection;
  };
  static Kept kept; // a process has one thread that asks; one that was forked finds what its parent has asked
  if (kept.process != getpid() || kept.address != address)
    kept = {getpid(), address, std::make_shared<InductorConnection>(address)};
  return kept.connection;
}

} // namespace repro_minify
