#include "cases.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace repro_minify::end_to_end {

std::filesystem::path fixtures() {
  return REPRO_MINIFY_FIXTURES;
}

std::filesystem::path Case::model() const {
  return fixtures() / "cases" / name / "failing.pt";
}

std::filesystem::path Case::inputs() const {
  return fixtures() / "cases" / name / "inputs.pt";
}

std::vector<std::string> Case::backend_options() const {
  std::vector<std::string> options = {"--backend", backend};
  if (grad)
    options.emplace_back("--grad");
  return options;
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

std::vector<Case> all_cases() {
  std::ifstream file(fixtures() / "cases" / "expected.json");
  std::vector<Case> cases;
  for (const auto &row : nlohmann::json::parse(file)) {
    Case one;
    one.name = row.at("case").get<std::string>();
    one.backend = row.at("backend").get<std::string>();
    one.grad = row.at("grad").get<bool>();
    one.kind = row.at("kind").get<std::string>();
    one.operators_at_most = row.at("operators_at_most").get<int>();
    cases.push_back(one);
  }
  return cases;
}

Case case_named(const std::string &name) {
  for (const Case &one : all_cases())
    if (one.name == name)
      return one;
  throw std::out_of_range("no case " + name + " in expected.json");
}

} // namespace repro_minify::end_to_end
