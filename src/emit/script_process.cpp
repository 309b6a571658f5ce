#include "emit/script_process.h"

#include <fstream>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds longest_wait(60);

/// Arguments: module, seconds, the script. A byte says that it is there; the end, or so long without either, that it
/// never will be.
constexpr const char *wait_and_run = R"(import importlib, os, runpy, select, sys
del sys.argv[0]
importlib.import_module(sys.argv.pop(0))
if select.select([0], [], [], float(sys.argv.pop(0)))[0] and os.read(0, 1):
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__"))";

} // namespace

ScriptProcess::ScriptProcess(const ScriptSetting &setting) : setting_(setting) {
  for (const auto &library : setting_.libraries)
    fs::copy_file(library, alone_ / library.filename());
}

ScriptProcess::ScriptProcess(const ScriptSetting &setting, const std::string &script) : ScriptProcess(setting) {
  std::ofstream(file()) << script;
  start({setting_.python, "-B", file()}, setting_.patience, -1);
}

std::unique_ptr<ScriptProcess> ScriptProcess::in_waiting(const ScriptSetting &setting, const std::string &module) {
  std::unique_ptr<ScriptProcess> process(new ScriptProcess(setting));
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, process->ends_.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  auto &[ours, its] = process->ends_;
  process->waits_until_ = std::chrono::steady_clock::now() + longest_wait;
  process->start(
      {setting.python, "-B", "-c", wait_and_run, module, std::to_string(longest_wait.count()), process->file()},
      setting.patience + longest_wait, its);
  close(std::exchange(its, -1)); // so that a send fails once it has ended
  return process;
}

ScriptProcess::~ScriptProcess() {
  for (const int end : ends_)
    if (end >= 0)
      close(end);
}

void ScriptProcess::start(std::vector<std::string> command, std::chrono::milliseconds timeout, int input) {
  Confinement confinement = setting_.confinement;
  confinement.writable.push_back(alone_.path());
  running_.emplace(std::move(command), alone_.path(), confinement, timeout, input);
}

bool ScriptProcess::begin(const std::string &script) {
  // An interpreter that is about to give up might do so before it has read the byte.
  constexpr std::chrono::seconds margin(10);
  if (std::chrono::steady_clock::now() + margin > waits_until_)
    return false;
  std::ofstream(file()) << script;
  // The send fails where the interpreter has ended.
  return send(ends_[0], "1", 1, MSG_NOSIGNAL) == 1;
}

ReproRun ScriptProcess::wait(const std::function<bool()> &interrupted) {
  return running_->wait(interrupted);
}

} // namespace repro_minify
