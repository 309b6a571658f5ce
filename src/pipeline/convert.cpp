#include "pipeline/convert.h"

#include "backends/in_python.h"
#include "core/files.h"
#include "core/json.h"
#include "core/number_text.h"
#include "core/programs.h"
#include "core/text.h"
#include "program/compute.h"
#include "program/read_inputs.h"
#include "repro_minify/program.h"
#include "repro_minify/sandbox.h"
#include "tasks/limits.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <unistd.h>

namespace repro_minify {
namespace {

constexpr const char *kind_words[] = {"", "export", "program", "log"};

/// Where PyTorch may have kept the data of a program: it names a folder, which may have moved with the program. Only
/// what is named as such a folder names it is opened to the program, which otherwise could name any other.
std::vector<std::string> folders_of_data(const std::string &program) {
  constexpr std::string_view named = "save_dir='";
  constexpr size_t longest_path = 4096, most_folders = 8;
  const std::string text = bytes_of(program);
  std::error_code error;
  const fs::path itself = fs::canonical(program, error); // a link stands for what it leads to
  std::vector<fs::path> folders;
  for (const fs::path &here : {fs::absolute(program).parent_path(), itself.parent_path()}) {
    folders.push_back(here);
    folders.push_back(here / "checkpoints");
  }
  for (size_t at = 0; folders.size() < most_folders && (at = text.find(named, at)) != std::string::npos;) {
    at += named.size();
    const size_t end = text.find_first_of("'\n", at);
    if (end != std::string::npos && text[end] == '\'' && end > at && end - at <= longest_path)
      folders.emplace_back(text.substr(at, end - at));
  }
  std::vector<std::string> storages;
  for (const auto &folder : folders) // a link comes with the program, and may lead to what is private
    if (fs::is_directory(fs::symlink_status(folder / "storages", error)))
      storages.push_back((folder / "storages").string());
  return storages;
}

/// The data of a program in the FX dialect (fx_program.py): data-2.pt beside program-2.py. Empty where there is none. A
/// link comes with the program, and may lead to what is private.
std::string data_beside(const std::string &program) {
  constexpr std::string_view own = "program";
  const std::string name = fs::path(program).stem().string();
  if (!name.starts_with(own))
    return "";
  const fs::path data = fs::absolute(program).parent_path() / ("data" + name.substr(own.size()) + ".pt");
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(data, error)) ? data.string() : "";
}

Confinement confinement_of(const std::string &python, const std::string &path, ModelKind kind,
                           const ConvertOptions &options, const TemporaryFolder &folder) {
  Confinement confinement{.writable = {folder.path().string()}, .readable = folders_of_python(python)};
  confinement.readable.push_back(
      fs::path(script_of_ours("convert/convert.py", "inputs/python/convert.py")).parent_path().string());
  confinement.readable.push_back(fs::absolute(path).string());
  confinement.readable.push_back(
      fs::path(script_of_ours("inductor/fx_call.py", "backends/inductor/fx_call.py")).parent_path().string());
  if (kind == ModelKind::Program) {
    for (const auto &data : folders_of_data(path))
      confinement.readable.push_back(data);
    if (const std::string data = data_beside(path); !data.empty())
      confinement.readable.push_back(data);
  }
  if (!options.inputs.empty())
    confinement.readable.push_back(fs::absolute(options.inputs).string());
  for (const auto &library : options.libraries)
    confinement.readable.push_back(fs::absolute(library).string());
  for (const auto &module : options.imports)
    if (is_python_file(module))
      confinement.readable.push_back(fs::absolute(module).string());
  return confinement;
}

std::vector<std::string> words_of(const std::string &python, const std::string &path, ModelKind kind,
                                  const ConvertOptions &options, const TemporaryFolder &folder, bool original) {
  std::vector<std::string> words = {python,
                                    "-B",
                                    script_of_ours("convert/convert.py", "inputs/python/convert.py"),
                                    kind_words[static_cast<int>(kind)],
                                    fs::absolute(path).string(),
                                    folder.path().string(),
                                    "--seed=" + std::to_string(options.seed),
                                    "--graph=" + std::to_string(options.graph)};
  for (const auto &library : options.libraries)
    words.push_back("--load-library=" + fs::absolute(library).string());
  for (const auto &module : options.imports)
    words.push_back("--import=" + importable(module));
  if (options.keeps_calls)
    words.emplace_back("--calls");
  if (options.weights_inside)
    words.emplace_back("--weights-inside");
  if (!options.inputs.empty())
    words.push_back("--inputs=" + fs::absolute(options.inputs).string());
  if (original)
    words.emplace_back("--original");
  return words;
}

/// Unsets all environment variables but those that Python, torch and compilers heed: others may hold keys and tokens,
/// which a stranger's program could write into what becomes of it, and so into a report.
void keep_environment_of_torch() {
  constexpr std::string_view kept[] = {
      "PATH=",   "HOME=",   "USER=",   "LOGNAME=", "SHELL=",      "TERM=",         "TZ=",       "TMPDIR=", "LANG",
      "LC_",     "LD_",     "PYTHON",  "VIRTUAL_", "CONDA_",      "TORCH",         "PYTORCH",   "ATEN_",   "C10_",
      "OMP_",    "GOMP_",   "KMP_",    "MKL_",     "DNNL_",       "ONEDNN_",       "OPENBLAS_", "CUDA_",   "CUBLAS_",
      "NVIDIA_", "TRITON_", "MALLOC_", "CCACHE_D", "XDG_CACHE_H", "REPRO_MINIFY_", "CC=",       "CXX="};
  std::vector<std::string> gone;
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (std::none_of(std::begin(kept), std::end(kept), [&](std::string_view begin) { return text.starts_with(begin); }))
      gone.emplace_back(text.substr(0, text.find('=')));
  }
  for (const auto &name : gone)
    unsetenv(name.c_str());
}

/// A program may as well write without end, or start others without end.
Growth growth_of_a_program(const Limits &limits, const fs::path &folder) {
  constexpr std::size_t most_processes = 64;
  // Folders may lie in memory as well.
  return {most_processes, {folder, private_folder_of_children()}, limits.memory_bytes};
}

std::string how_conversion_ended(const JobEnd &job_end, const Limits &limits) {
  switch (job_end.ending) {
  case Ending::TimedOut:
    return "takes more than " + std::to_string(limits.timeout.count() / 1000) + " s; --timeout gives it longer";
  case Ending::OutOfMemory:
    return "takes more than " + memory_text(limits.memory_bytes) + "; --memory-limit gives it more";
  case Ending::Crashed:
    return "ends its process with signal " + std::to_string(job_end.signal);
  default:
    break;
  }
  const std::string said = job_end.output_tail.substr(0, job_end.output_tail.find_last_not_of(" \n") + 1);
  const std::string last = said.substr(said.rfind('\n') + 1);
  return last.empty() ? "gives no answer" : "ends with: " + last.substr(0, 300);
}

/// Text of a stranger's must not begin a line, as this program's own words do.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string line_of_answer(const json &answer, const char *key) {
  return in_one_line(answer.value(key, ""));
}

std::vector<std::string> texts(const json &answer, const char *key) {
  std::vector<std::string> lines = answer.value(key, std::vector<std::string>());
  std::transform(lines.begin(), lines.end(), lines.begin(), in_one_line);
  return lines;
}

/// A name of torch._inductor.config, and nothing else that the worker heeds (load-library).
void require_entry_of_config(const std::string &entry) {
  const auto is_of_a_name = [](char c) { return c == '_' || c == '.' || std::isalnum(static_cast<unsigned char>(c)); };
  const size_t end = entry.find('=');
  if (end == std::string::npos || !std::all_of(entry.begin(), entry.begin() + static_cast<long>(end), is_of_a_name))
    throw std::invalid_argument("no entry of a configuration: " + entry.substr(0, 60));
}

Conversion conversion_of(const json &answer, const std::string &path, ModelKind kind, int number, int of,
                         const std::shared_ptr<TemporaryFolder> &folder) {
  const std::string stem = (folder->path() / ("converted-" + std::to_string(number))).string();
  Conversion made;
  made.given = path;
  made.kind = to_string(kind);
  made.graph = number;
  made.graphs = of;
  made.name = line_of_answer(answer, "name");
  made.problem = line_of_answer(answer, "problem");
  made.path = stem + ".pt";
  made.inputs_path = stem + "_inputs.pt";
  made.keeps_calls = answer.value("dialect", "") == "fx";
  made.operators = answer.value("operators", 0);
  made.data = line_of_answer(answer, "data");
  made.notes = texts(answer, "notes");
  made.dynamic = texts(answer, "dynamic");
  made.inductor_config = texts(answer, "inductor_config");
  std::for_each(made.inductor_config.begin(), made.inductor_config.end(), require_entry_of_config);
  made.folder = folder;
  return made;
}

/// Returns the conversions in an answer. A stranger's program may have written it: throws if it has another form.
std::vector<Conversion> conversions_in(const json &answer, const std::string &path, ModelKind kind, int wanted,
                                       const std::shared_ptr<TemporaryFolder> &folder) {
  const json &graphs = answer.at("graphs");
  constexpr size_t most_graphs = 10'000; // each is a line to read
  if (graphs.size() > most_graphs)
    throw UserError(path + ": converting it gives " + std::to_string(graphs.size()) + " graphs, more than the " +
                    std::to_string(most_graphs) + " that are read");
  const int count = static_cast<int>(graphs.size());
  if (count == 0)
    throw UserError(path + ": " + to_string(kind) + ", but no graph is in it: nothing was compiled while it was taken");
  if (wanted > count)
    throw UserError("--graph " + std::to_string(wanted) + ": " + path + " has " + counted(graphs.size(), "graph"));
  std::vector<Conversion> all;
  for (int number = 1; number <= count; ++number)
    if (wanted == 0 || wanted == number)
      all.push_back(conversion_of(graphs[number - 1], path, kind, number, count, folder));
  return all;
}

/// Throws UserError if an answer is no plain file, or too large: what was run may have written anything there. A link
/// would have this process read, and the results hold, what the program itself may not read; a pipe would keep this
/// process waiting for ever.
void require_plain_files(const fs::path &folder, const std::string &path) {
  constexpr std::uintmax_t most_answer_bytes = std::uintmax_t{1} << 26;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error)) {
    const fs::file_status status = entry.symlink_status(error);
    const bool is_wanted = entry.path().filename() == "answer.json" || entry.path().extension() == ".pt";
    if (is_wanted && (!fs::is_regular_file(status) || entry.hard_link_count(error) != 1))
      throw UserError(path + ": converting it leaves something else than files (" +
                      entry.path().filename().string().substr(0, 60) + "), so nothing of it is read");
    if (entry.path().filename() == "answer.json" && entry.file_size(error) > most_answer_bytes)
      throw UserError(path + ": converting it gives an answer of more than 64 MiB, which is not read");
  }
}

/// Runs convert.py on `path`, confined, and gives the answer.json that it writes. With `original` nothing is converted:
/// the answer says how the file itself fares under torch.compile. Throws UserError where there is no answer, and
/// Interrupted.
json answer_of_python(const std::string &path, ModelKind kind, const ConvertOptions &options, const Limits &limits,
                      const TemporaryFolder &folder, bool original) {
  const std::string python = find_python_with_torch(options.python);
  if (python.empty())
    throw UserError(path + ": " + to_string(kind) +
                    ", which a Python with torch converts, and none is here; name one "
                    "with --python");
  prepare_confinement();
  Growth growth = growth_of_a_program(limits, folder.path());
  Limits watched = limits;
  watched.interrupted = [&] { return growth.is_too_much() || (limits.interrupted && limits.interrupted()); };
  const JobEnd job_end = run_in_sandbox(
      [&](Child &child) {
        child.confine(confinement_of(python, path, kind, options, folder));
        keep_environment_of_torch();
        become_program(words_of(python, path, kind, options, folder, original));
      },
      watched);
  if (limits.interrupted && limits.interrupted())
    throw Interrupted{};
  if (!growth.what().empty())
    throw UserError(path + ": converting it " + growth.what() + ", so nothing of it is read");
  require_plain_files(folder.path(), path);
  std::ifstream file(folder.path() / "answer.json");
  json answer = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object())
    throw UserError(path + ": converting it " + how_conversion_ended(job_end, limits));
  return answer;
}

} // namespace

ModelKind recognise(const std::string &path, const Limits &limits) {
  let_children_read(path);
  try_in_sandbox(
      path, "reading it", [&](Child &) { kind_of_model(path); }, limits);
  return kind_of_model(path);
}

std::vector<Conversion> convert(const std::string &path, ModelKind kind, const ConvertOptions &options,
                                const Limits &limits) {
  const auto folder = std::make_shared<TemporaryFolder>();
  const json answer = answer_of_python(path, kind, options, limits, *folder, false);
  try {
    if (answer.contains("problem"))
      throw UserError(path + ": cannot be converted: " + line_of_answer(answer, "problem"));
    return conversions_in(answer, path, kind, options.graph, folder);
  } catch (const json::exception &) {
    throw UserError(path + ": converting it gives no answer that can be read");
  } catch (const std::invalid_argument &error) {
    throw UserError(path + ": converting it gives " + error.what());
  }
}

std::string failure_of_original(const Conversion &conversion, const ConvertOptions &options, const Limits &limits) {
  ConvertOptions of_graph = options;
  of_graph.graph = conversion.graph;
  of_graph.keeps_calls = conversion.keeps_calls;
  const TemporaryFolder folder;
  try {
    const ModelKind kind = recognise(conversion.given, limits);
    const json answer = answer_of_python(conversion.given, kind, of_graph, limits, folder, true);
    const std::string fails = line_of_answer(answer, "fails");
    if (fails.empty())
      return "";
    const std::vector<std::string> lost = texts(answer, "lost");
    return fails + (lost.empty() ? "" : "; its TorchScript does not call " + joined(lost, ", "));
  } catch (const UserError &) {
    return "";
  } catch (const json::exception &) {
    return "";
  }
}

std::string shown_path(const Conversion &conversion) {
  return conversion.graphs > 1 ? conversion.given + ", graph " + std::to_string(conversion.graph) : conversion.given;
}

std::string to_string(const Conversion &conversion) {
  std::string text = "converted from " + conversion.kind;
  if (conversion.graphs > 1)
    text += ", graph " + std::to_string(conversion.graph) + " of " + std::to_string(conversion.graphs) + " (" +
            conversion.name + ")";
  if (!conversion.data.empty())
    text += "; inputs: " + conversion.data;
  for (const auto &entry : conversion.inductor_config)
    text += "; it sets torch._inductor.config." + entry;
  for (const auto &note : conversion.notes)
    text += "; " + note;
  for (const auto &dimension : conversion.dynamic)
    text += "; symbolic: " + dimension;
  if (!conversion.dynamic.empty())
    text += " (--inductor-config dynamic=true compiles it so)";
  return text;
}

} // namespace repro_minify
