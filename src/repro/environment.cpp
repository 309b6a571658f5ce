// Asks torch.utils.collect_env about a Python and its machine, for issue.md. Importing torch takes two seconds of
// a processor, and the answer changes only when something is installed: so it is kept for a day.
#include "core/digest.h"
#include "core/files.h"
#include "core/programs.h"
#include "core/text.h"
#include "repro/results_folder.h"
#include "repro_minify/repro.h"
#include "tasks/sandbox.h"

#include <chrono>
#include <cstdlib>

namespace repro_minify {
namespace {

/// Lines of collect_env that say where something lies on this machine.
bool names_the_machine(const std::string &line) {
  return line.find('/') != std::string::npos &&
         (line.find("/home") != std::string::npos || line.find("/root") != std::string::npos || line[0] == '/');
}

/// Returns what the script prints, or an empty string if it cannot be run.
std::string printed_by(const std::string &python, const char *script) {
  const JobEnd job_end = run_command({python, "-c", script}, std::chrono::seconds(60));
  return job_end.ending == Ending::Exited && job_end.exit_code == 0 ? job_end.output_tail : "";
}

/// collect_env would ask pip and conda for seconds. The interpreter knows its packages itself, and those that a report
/// names are the ones that collect_env looks for. What importing torch warns of is no part of that.
constexpr const char *collect =
    "import importlib.metadata, os\n"
    "os.dup2(os.open(os.devnull, os.O_WRONLY), 2)\n"
    "from torch.utils import collect_env as c\n"
    "names = ['PIP_PATTERNS', 'COMMON_PATTERNS', 'NVIDIA_PATTERNS', 'ONEAPI_PATTERNS', 'DEFAULT_PIP_PATTERNS']\n"
    "wanted = [word for name in names for word in getattr(c, name, ())]\n"
    "found = {f\"{d.metadata['Name']}=={d.version}\" for d in importlib.metadata.distributions()}\n"
    "rows = sorted(row for row in found if any(word in row for word in wanted))\n"
    "c.get_pip_packages = lambda *a, **k: ('pip3', '\\n'.join(rows))\n"
    "c.get_conda_packages = lambda *a, **k: None\n"
    "print(c.get_pretty_env_info())\n";

std::string ask(const std::string &python) {
  std::string text;
  for (const std::string &line : split_lines(printed_by(python, collect)))
    if (line.empty() || !names_the_machine(line))
      text += line + "\n";
  return text;
}

/// The second line is where torch lies; it is not imported.
constexpr const char *who_are_you = "import importlib.util, platform, sys\n"
                                    "print(sys.version.replace('\\n', ' '), platform.platform())\n"
                                    "print(importlib.util.find_spec('torch').origin)\n";

/// All that the answer depends on: the interpreter, its torch and where packages lie beside it, the compilers, the
/// system, the graphics cards, and what is asked. Empty where that cannot be told.
std::string key_of(const std::string &python) {
  const std::string said = printed_by(python, who_are_you);
  const size_t end_of_first = said.find('\n');
  if (end_of_first == std::string::npos)
    return "";
  std::string torch = said.substr(end_of_first + 1);
  torch = torch.substr(0, torch.find('\n'));
  Digest digest;
  digest.add(std::string_view(python));
  digest.add(said);
  digest.add(std::string_view(collect));
  std::error_code unknown;
  for (const char *name : {"gcc", "g++", "clang", "clang++", "cmake", "nvcc", "nvidia-smi", "rocminfo"})
    digest.add(mark_of_file(fs::canonical(find_program(name), unknown)));
  for (const fs::path &file :
       {fs::path(find_program(python)), fs::path(torch), fs::path(torch).parent_path() / "version.py",
        fs::path(torch).parent_path().parent_path(), fs::path("/etc/os-release")})
    digest.add(mark_of_file(file));
  digest.add(read_file("/proc/driver/nvidia/version"));
  for (const char *variable : {"CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CUDA_MODULE_LOADING", "CUBLAS_WORKSPACE_CONFIG"}) {
    const char *value = std::getenv(variable);
    digest.add(std::string_view(value ? value : ""));
  }
  return digest.text();
}

/// Removes answers that are older than a day: they are not used any more.
void tidy(const fs::path &folder) {
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string::npos &&
        !is_of_today(entry.path()))
      fs::remove(entry.path(), ignored);
  }
}

} // namespace

std::string collect_environment(const std::string &python) {
  if (python.empty())
    return "";
  const fs::path folder = kept_folder("environments");
  const std::string key = folder.empty() ? "" : key_of(python);
  if (key.empty())
    return ask(python);
  if (is_of_today(folder / key))
    if (const std::string kept = read_file(folder / key); !kept.empty())
      return kept;
  const std::string text = ask(python);
  try {
    if (!text.empty())
      write_atomically(folder / key, text);
    tidy(folder);
  } catch (const UserError &) { // a full disk: asked again the next time
  }
  return text;
}

} // namespace repro_minify
