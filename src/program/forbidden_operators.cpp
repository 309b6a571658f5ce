#include "program/forbidden_operators.h"

#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace repro_minify {
namespace {

constexpr std::string_view forbidden_names[] = {"aten::save", "aten::from_file", "prim::rpc_sync", "prim::rpc_async",
                                                "prim::rpc_remote"};
/// Namespaces of operators for processes that compute together, and for a debugger's files.
constexpr std::string_view forbidden_namespaces[] = {"c10d", "symm_mem", "debugprims", "_c10d_functional",
                                                     "_c10d_functional_autograd"};

bool is_forbidden(std::string_view name) {
  const auto is = [&](std::string_view other) { return name == other; };
  const auto is_in = [&](std::string_view space) { return name.substr(0, name.find("::")) == space; };
  return std::any_of(std::begin(forbidden_names), std::end(forbidden_names), is) ||
         std::any_of(std::begin(forbidden_namespaces), std::end(forbidden_namespaces), is_in);
}

bool is_part_of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
}

} // namespace

void forget_forbidden_operators() {
  [[maybe_unused]] static const bool once = [] {
    std::vector<c10::FunctionSchema> schemas;
    for (const auto &known : torch::jit::getAllOperators())
      if (is_forbidden(known->schema().name()))
        schemas.push_back(known->schema());
    for (const auto &schema : schemas)
      torch::jit::deregisterOperator(schema);
    return true;
  }();
}

std::string forbidden_operator_in(const std::string &message) {
  constexpr std::string_view unknown[] = {"Unknown builtin op: ", "Unknown operator: "};
  for (const auto words : unknown)
    if (const auto at = message.find(words); at != std::string::npos) {
      const auto begin = message.begin() + static_cast<std::ptrdiff_t>(at + words.size());
      std::string name(begin, std::find_if_not(begin, message.end(), is_part_of_a_name));
      while (!name.empty() && name.back() == ':')
        name.pop_back();
      return is_forbidden(name) ? name : "";
    }
  return "";
}

} // namespace repro_minify
