// Our reducer on the programs that run_fx_minifier.py exported, with the same structural oracle in place of a backend's
// check: questions asked, what is left, and the time that goes anywhere but into the oracle.
//
//   bench_programs FOLDER [--rows SUBSTRING] [-o rows.json]
#include "programs.h"

#include "reduce/passes/pass.h"
#include "repro_minify/reducer.h"

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>

namespace repro_minify::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Signature planted_signature() {
  return {FailureKind::Exception, "", "planted"};
}

Verdict verdict(bool failing) {
  Verdict verdict;
  verdict.outcome = failing ? Verdict::Outcome::Fail : Verdict::Outcome::Pass;
  if (failing)
    verdict.signatures.push_back(planted_signature());
  return verdict;
}

/// A sandbox child answers, as it does for a real check.
InterestingnessTest structural_test(const StructuralOracle &oracle) {
  InterestingnessTest test;
  test.name = "structure";
  test.job = [&oracle](std::shared_ptr<const Program> program) -> Job {
    return [&oracle, program](Child &child) { child.reply(oracle.fails(*program) ? "fails" : "passes"); };
  };
  test.verdict_of = [](const JobEnd &job_end) {
    if (job_end.ending != Ending::Replied)
      throw std::runtime_error(std::string("a check ") + to_string(job_end.ending) + ": " + job_end.message);
    Verdict answer = verdict(job_end.reply == "fails");
    answer.wall_seconds = std::chrono::duration<double>(job_end.wall).count();
    return answer;
  };
  return test;
}

/// The passes that make programs smaller: values are no part of what is planted.
PassSelection structural_passes() {
  PassSelection selection;
  for (const auto &pass : reduction_passes())
    if (pass.goal == Goal::Size)
      selection.only.push_back(pass.name);
  return selection;
}

nlohmann::json reduce_one(const PlantedProgram &planted) {
  const auto begin = Clock::now();
  const Program program = load(planted);
  const double loading = seconds_since(begin);
  if (!planted.oracle.fails(program))
    throw std::runtime_error(planted.name + " does not fail as exported");
  ReduceOptions options;
  options.limits.timeout = std::chrono::minutes(10);
  options.passes = structural_passes();
  const std::clock_t processor = std::clock();
  const Reduction reduction =
      reduce(program, verdict(true), planted_signature(), structural_test(planted.oracle), options);
  const double processor_seconds = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC;
  if (!planted.oracle.fails(reduction.program))
    throw std::runtime_error(planted.name + ": the result does not fail");
  nlohmann::json passes = nlohmann::json::object();
  for (const auto &pass : reduction.passes)
    passes[pass.pass] = {{"checks", pass.checks}, {"seconds", pass.seconds}};
  return {{"name", planted.name},
          {"tool", "repro-minify"},
          {"nodes", size_in(planted.unit, program)},
          {"unit", planted.unit},
          {"shape", planted.shape},
          {"needed", planted.needed},
          {"left", size_in(planted.unit, reduction.program)},
          {"queries", reduction.checks},
          {"wall", reduction.seconds},
          {"outside_oracle", reduction.seconds - reduction.check_seconds},
          {"processor", processor_seconds}, // of this process alone: the children's is the checks'
          {"loading", loading},
          {"passes", passes}};
}

void print(const nlohmann::json &row) {
  const int queries = row.at("queries");
  const double outside = row.at("outside_oracle");
  std::printf("%-24s%6d -> %4d (needed %d)%7d queries %8.2f s, outside the checks %8.3f s (%7.2f ms a query), "
              "processor %8.3f s\n",
              row.at("name").get<std::string>().c_str(), row.at("nodes").get<int>(), row.at("left").get<int>(),
              row.at("needed").get<int>(), queries, row.at("wall").get<double>(), outside,
              1000 * outside / std::max(queries, 1), row.at("processor").get<double>());
  std::fflush(stdout);
}

int run(const std::string &folder, const std::string &rows, const std::string &output) {
  at::set_num_threads(1); // a process that forks must never enter an OpenMP region
  nlohmann::json results = nlohmann::json::array();
  for (const auto &planted : planted_programs(folder)) {
    if (planted.name.find(rows) == std::string::npos)
      continue;
    results.push_back(reduce_one(planted));
    print(results.back());
  }
  if (!output.empty())
    std::ofstream(output) << results.dump(1) << "\n";
  return 0;
}

} // namespace
} // namespace repro_minify::bench

int main(int argc, char **argv) {
  std::string folder, rows, output;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--rows" && i + 1 < argc)
      rows = argv[++i];
    else if (word == "-o" && i + 1 < argc)
      output = argv[++i];
    else
      folder = word;
  }
  if (folder.empty()) {
    std::cerr << "usage: bench_programs FOLDER [--rows SUBSTRING] [-o rows.json]\n";
    return 2;
  }
  try {
    return repro_minify::bench::run(folder, rows, output);
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
