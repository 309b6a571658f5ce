// Runs the program with a CUDA device where there is none: LD_PRELOAD brings one whose memory and operators are the
// CPU's (plugins/pretended_cuda).
#pragma once
#include "program.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace repro_minify::end_to_end {

/// Returns the words of the command, with --device cuda. `settings`: of the environment, as NAME=VALUE.
std::vector<std::string> words_on_cuda(const std::vector<std::string> &arguments,
                                       const std::vector<std::string> &settings = {});
/// It ends, or is killed in the end.
Finished run_on_cuda(const std::vector<std::string> &arguments, const std::vector<std::string> &settings = {});

struct ReducedOnCuda {
  Finished finished;
  nlohmann::json report;            ///< null where there is none
  std::uintmax_t contexts = 0;      ///< processes that used the device
  std::vector<std::string> answers; ///< of each check of the search, one after the other
};

/// Reduces without bisection, and unless `verify` is among the arguments without verification. `asked`: for
/// $PRETENDED_CUDA.
ReducedOnCuda reduced_on_cuda(std::vector<std::string> arguments, const std::string &asked = "",
                              const std::vector<std::string> &settings = {});

/// Returns settings under which inductor-like's kernels are compiled for the processor and run there: a driver and an
/// NVRTC that do so are laid into the folder.
std::vector<std::string> with_nvrtc(const std::filesystem::path &folder);

/// A process for each check, as on the CPU.
constexpr const char *fresh_processes = "REPRO_MINIFY_QUESTIONS=1";

} // namespace repro_minify::end_to_end
