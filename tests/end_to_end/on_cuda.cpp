#include "on_cuda.h"

#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Each line of the journal is an answer, but for the first.
std::vector<std::string> answers_in(const fs::path &journal) {
  std::vector<std::string> answers;
  std::istringstream lines(read_text(journal));
  for (std::string line; std::getline(lines, line);)
    if (const json entry = json::parse(line); entry.contains("hash")) {
      const json &verdict = entry.at("verdict");
      answers.push_back(
          json{entry.at("hash"), entry.at("same_failure"), verdict.at("outcome"), verdict.at("message")}.dump());
    }
  return answers;
}

} // namespace

std::vector<std::string> words_on_cuda(const std::vector<std::string> &arguments,
                                       const std::vector<std::string> &settings) {
  std::vector<std::string> words = {"env", std::string("LD_PRELOAD=") + test_paths::pretended_cuda,
                                    std::string("PYTHONPATH=") + test_paths::pretended_cuda_of_python};
  words.insert(words.end(), settings.begin(), settings.end());
  words.emplace_back(test_paths::program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--device", "cuda"});
  return words;
}

Finished run_on_cuda(const std::vector<std::string> &arguments, const std::vector<std::string> &settings) {
  return run_program(words_on_cuda(arguments, settings), std::chrono::seconds(300));
}

ReducedOnCuda reduced_on_cuda(std::vector<std::string> arguments, const std::string &asked,
                              const std::vector<std::string> &settings) {
  const TemporaryFolder folder;
  const bool verifies = std::erase(arguments, verify) > 0;
  arguments.insert(arguments.end(),
                   {"-o", folder / "x", "--no-bisect", "--quiet", verifies ? "--no-ablation" : "--no-verify"});
  const std::string contexts = folder / "contexts";
  std::vector<std::string> all = {"PRETENDED_CUDA_CONTEXTS=" + contexts, "PRETENDED_CUDA=" + asked};
  all.insert(all.end(), settings.begin(), settings.end());
  ReducedOnCuda reduced;
  reduced.finished = run_on_cuda(arguments, all);
  if (const fs::path report = folder / "x" / "report.json"; fs::exists(report))
    reduced.report = json::parse(read_text(report));
  if (fs::exists(contexts))
    reduced.contexts = fs::file_size(contexts);
  reduced.answers = answers_in(folder / "x" / "journal.jsonl");
  return reduced;
}

std::vector<std::string> with_nvrtc(const fs::path &folder) {
  fs::copy(test_paths::fake_nvrtc, folder / "nvrtc.so");
  fs::copy(test_paths::fake_driver, folder / "libcuda.so.1");
  return {"REPRO_MINIFY_NVRTC=" + (folder / "nvrtc.so").string(), "LD_LIBRARY_PATH=" + folder.string()};
}

} // namespace repro_minify::end_to_end
