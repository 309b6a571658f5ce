#include "cases.h"

#include "program.h"
#include "test_paths.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace repro_minify::end_to_end {

std::filesystem::path fixtures() {
  return test_paths::fixtures;
}

std::filesystem::path Case::model() const {
  return fixtures() / table / name / "failing.pt";
}

std::filesystem::path Case::inputs() const {
  return fixtures() / table / name / "inputs.pt";
}

std::filesystem::path Case::repro() const {
  return std::filesystem::path(test_paths::test_repros) / (name + ".repro");
}

bool Case::lacks_python() const {
  return backend == "inductor" && std::string(test_paths::python).empty();
}

namespace {

/// "2.14.1+cpu" as {2, 14, 1}.
std::vector<int> numbers_of(const std::string &version) {
  std::istringstream in(version);
  std::vector<int> numbers;
  for (int number = 0; in >> number; in.ignore())
    numbers.push_back(number);
  return numbers;
}

} // namespace

bool Case::is_right() const {
  if ((wrong_since.empty() && fixed_in.empty()) || std::string(test_paths::python).empty())
    return false;
  const Finished asked =
      run_program({test_paths::python, "-c", "import importlib.metadata as m; print(m.version('torch'))"});
  const std::vector<int> here = numbers_of(asked.out);
  return (!wrong_since.empty() && here < numbers_of(wrong_since)) ||
         (!fixed_in.empty() && here >= numbers_of(fixed_in));
}

std::vector<std::string> Case::with_backend(std::vector<std::string> arguments) const {
  arguments.insert(arguments.end(), {"--backend", backend});
  if (grad)
    arguments.emplace_back("--grad");
  if (backend == "inductor")
    arguments.insert(arguments.end(), {"--python", test_paths::python});
  return arguments;
}

std::string Case::checker_backend() const {
  if (grad)
    return "grad";
  if (backend == "optimize-for-inference")
    return "ofi";
  if (backend == "static-runtime")
    return "static";
  std::string short_name = backend;
  if (backend.rfind("pass:", 0) == 0)
    std::replace(short_name.begin(), short_name.end(), '-', '_');
  return short_name;
}

SteadyMemory::SteadyMemory(const Case &one) {
  if (one.reads_unwritten_memory)
    setenv("MALLOC_PERTURB_", "85", /*replace=*/1);
}

SteadyMemory::~SteadyMemory() {
  unsetenv("MALLOC_PERTURB_");
}

void PrintTo(const Case &one, std::ostream *stream) {
  *stream << one.name;
}

std::vector<Case> all_cases(const std::string &table) {
  std::ifstream file(fixtures() / table / "expected.json");
  std::vector<Case> cases;
  for (const auto &row : nlohmann::json::parse(file)) {
    Case one;
    one.table = table;
    one.name = row.at("case").get<std::string>();
    one.backend = row.at("backend").get<std::string>();
    one.grad = row.at("grad").get<bool>();
    one.kind = row.at("kind").get<std::string>();
    one.reduced_kind = row.value("reduced_kind", one.kind);
    one.operators_at_most = row.value("operators_at_most", 0);
    one.reads_unwritten_memory = row.value("reads_unwritten_memory", false);
    one.wrong_since = row.value("wrong_since", "");
    one.fixed_in = row.value("fixed_in", "");
    one.guilty = row.value("guilty", "");
    one.must_have = row.value("must_have", std::vector<std::string>());
    one.must_not_have = row.value("must_not_have", std::vector<std::string>());
    cases.push_back(one);
  }
  return cases;
}

std::string pass_of(const nlohmann::json &step) {
  return step.is_null() ? "none" : std::regex_replace(step.get<std::string>(), std::regex("#[0-9]+"), "");
}

Case case_named(const std::string &name) {
  for (const Case &one : all_cases())
    if (one.name == name)
      return one;
  throw std::out_of_range("no case " + name + " in expected.json");
}

std::set<std::string> operators_of(const std::filesystem::path &repro) {
  return nlohmann::json::parse(read_text(repro / "report.json")).at("program").at("operators");
}

std::string name_of(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

} // namespace repro_minify::end_to_end
