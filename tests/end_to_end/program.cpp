#include "program.h"
#include "test_paths.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

extern char **environ;

namespace repro_minify::end_to_end {
namespace {

constexpr std::chrono::milliseconds poll_interval(2);

[[noreturn]] void fail(int error, const std::string &what) {
  throw std::system_error(error, std::generic_category(), what);
}

bool has(const std::vector<std::string> &arguments, const char *word) {
  return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
}

/// Into a folder of results, with the model first; subcommands have names.
bool minimises(const std::vector<std::string> &arguments) {
  const bool has_model = !arguments.empty() && contains(arguments.front(), "/");
  return has_model && has(arguments, "-o");
}

} // namespace

// The streams go to files: a pipe would have to be drained while the program runs.
RunningProgram::RunningProgram(const std::vector<std::string> &arguments) {
  std::vector<std::string> words = arguments;
  std::vector<char *> argv;
  argv.reserve(words.size() + 1);
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  const std::string out = streams_ / "out", err = streams_ / "err";
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawnp(&pid_, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    fail(error, "cannot start " + arguments.at(0));
}

RunningProgram::~RunningProgram() {
  if (!ended_) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
}

bool RunningProgram::has_ended() {
  if (!ended_)
    ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return ended_;
}

bool RunningProgram::wait_until(const std::function<bool()> &condition, std::chrono::seconds limit) {
  for (auto polls = limit / poll_interval; !condition(); --polls) {
    if (polls <= 0 || has_ended())
      return false;
    std::this_thread::sleep_for(poll_interval);
  }
  return true;
}

bool RunningProgram::has_children() const {
  const std::string pid = std::to_string(pid_);
  return !read_text("/proc/" + pid + "/task/" + pid + "/children").empty();
}

void RunningProgram::send_signal(int signal) const {
  if (!ended_)
    kill(pid_, signal);
}

Finished RunningProgram::wait(std::chrono::seconds limit) {
  Finished finished;
  if (!wait_until([&] { return has_ended(); }, limit)) {
    finished.timed_out = true;
    kill(-pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
    ended_ = true;
  }
  if (WIFEXITED(status_))
    finished.exit_code = WEXITSTATUS(status_);
  else if (WIFSIGNALED(status_))
    finished.signal = WTERMSIG(status_);
  finished.out = read_text(streams_ / "out");
  finished.err = read_text(streams_ / "err");
  return finished;
}

Finished run_program(const std::vector<std::string> &arguments, std::chrono::seconds limit) {
  return RunningProgram(arguments).wait(limit);
}

Finished run_tool(std::vector<std::string> arguments, std::chrono::seconds limit) {
  const bool verifies = std::erase(arguments, verify) > 0;
  if (minimises(arguments) && !has(arguments, "--ablation") && !has(arguments, "--no-verify"))
    arguments.emplace_back(verifies ? "--no-ablation" : "--no-verify");
  arguments.insert(arguments.begin(), test_paths::program);
  return run_program(arguments, limit);
}

std::string read_text(const std::filesystem::path &file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text; // an iterator throws where a file of /proc cannot be read, as its process has ended
  text << stream.rdbuf();
  return text.str();
}

bool sleeps(const std::string &seconds) {
  for (const auto &entry : std::filesystem::directory_iterator("/proc"))
    if (read_text(entry.path() / "cmdline") == "sleep" + ('\0' + seconds + '\0'))
      return true;
  return false;
}

long lines_in(const std::filesystem::path &file) {
  const std::string text = read_text(file);
  return std::count(text.begin(), text.end(), '\n');
}

std::string describe(const Finished &finished) {
  std::string text = finished.timed_out     ? "killed at the time limit"
                     : finished.signal != 0 ? "ended by signal " + std::to_string(finished.signal)
                                            : "exit code " + std::to_string(finished.exit_code);
  return text + "\n--- standard output\n" + finished.out + "\n--- standard error\n" + finished.err;
}

} // namespace repro_minify::end_to_end
