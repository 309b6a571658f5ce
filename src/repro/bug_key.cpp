#include "repro/triage.h"

#include "core/text.h"
#include "program/value_digest.h"

#include <algorithm>
#include <array>
#include <functional>
#include <regex>
#include <set>

namespace repro_minify {
namespace {

using OperatorNames = std::set<std::string, std::less<>>;

/// Operators in groups, the commonest in models first; the rarest are not here.
const std::array<OperatorNames, 4> &common_operators() {
  static const std::array<OperatorNames, 4> table = {
      set_of_words("add sub rsub mul neg size"), set_of_words("div truediv pow sum mean"),
      set_of_words(
          "relu sigmoid tanh exp log sqrt rsqrt reciprocal abs sin cos erf gelu silu square "
          "eq ne lt le gt ge where logical_not logical_and logical_or bitwise_not "
          "linear matmul mm bmm addmm conv "
          "zeros ones full empty zeros_like ones_like full_like empty_like arange clone contiguous to "
          "view reshape flatten squeeze unsqueeze transpose permute t expand expand_as select slice getitem chunk "
          "split "
          "cat stack item Int Float Bool ScalarImplicit float half double long int bool"),
      set_of_words(
          "clamp hardtanh leaky_relu elu hardswish softmax log_softmax dropout batch_norm layer_norm group_norm "
          "embedding max_pool avg_pool adaptive_avg_pool")};
  return table;
}

/// In place, what counts is that something is written, or laid out anew; with which numbers is the model's affair.
struct InPlace {
  const char *words;
  OperatorNames names;
};

const std::array<InPlace, 2> &in_place_operators() {
  static const std::array<InPlace, 2> table = {
      InPlace{"a write",
              set_of_words("add_ sub_ rsub_ mul_ neg_ div_ pow_ copy_ fill_ zero_ setitem iadd isub imul itruediv")},
      InPlace{"a view in place", set_of_words("t_ transpose_ swapaxes_ swapdims_ unsqueeze_ squeeze_ as_strided_")}};
  return table;
}

/// Returns the name that an operator has in any dialect: "aten::conv2d" and "torch.nn.functional.conv1d" are "conv",
/// as one operator in several widths.
std::string family(const std::string &name) {
  static const std::regex width("([a-z])[123]d(_?)$");
  const bool has_overload = name.starts_with("torch.ops."); // torch.ops.aten.add.Tensor
  const std::string whole = has_overload ? name.substr(0, name.rfind('.')) : name;
  const std::string word = whole.substr(whole.find_last_of(":.") + 1);
  if (word == "_convolution" || word == "convolution")
    return "conv";
  return std::regex_replace(word, width, "$1$2");
}

/// The operators of a namespace of the user's own are no common ones.
bool is_pytorch(const std::string &name) {
  if (name.starts_with("torch.ops."))
    return name.starts_with("torch.ops.aten.") || name.starts_with("torch.ops.prim");
  return name.starts_with("aten::") || name.starts_with("prim::") || name.starts_with("torch.") ||
         name.starts_with("operator.") || name.starts_with(".") || name.find_first_of(":.") == std::string::npos;
}

OperatorNames without(const OperatorNames &names, const OperatorNames &others) {
  OperatorNames left;
  std::set_difference(names.begin(), names.end(), others.begin(), others.end(), std::inserter(left, left.end()));
  return left;
}

std::string in_words(const OperatorNames &names, const std::vector<std::string> &done) {
  std::vector<std::string> words(names.begin(), names.end());
  words.insert(words.end(), done.begin(), done.end());
  return joined(words, " ");
}

} // namespace

std::string essence_of(const std::vector<std::string> &operators) {
  OperatorNames families;
  for (const std::string &name : operators)
    families.insert(is_pytorch(name) ? family(name) : name);
  OperatorNames left = families;
  std::vector<std::string> done;
  for (const InPlace &kind : in_place_operators()) {
    const OperatorNames rest = without(left, kind.names);
    if (rest.size() < left.size())
      done.push_back(kind.words);
    left = rest;
  }
  const auto &common = common_operators();
  for (size_t commoner = common.size(); commoner > 0; --commoner) {
    OperatorNames rare = left;
    for (size_t i = 0; i < commoner; ++i)
      rare = without(rare, common[i]);
    if (!rare.empty())
      return in_words(rare, done);
  }
  const OperatorNames all = without(families, common.front());
  return in_words(all.empty() ? families : all, {});
}

BugKey bug_key(const Program &program, const ReproFacts &facts) {
  BugKey key;
  if (facts.bisection && facts.bisection->guilty)
    key.guilty = facts.bisection->pass;
  if (facts.signature.kind != FailureKind::Nan) // whether it overflows or is none hangs on what reads it
    key.detail = facts.signature.detail;
  if (facts.not_reduced)
    return key;
  // It gives each operator its types by a table: where a type is wrong the table is the fault, and which of its rows a
  // reduction keeps is an accident of the model.
  const bool is_of_types = facts.signature.kind == FailureKind::Dtype && key.guilty == "Autocast";
  key.essence = is_of_types ? "the types that " + key.guilty + " gives" : essence_of(operators_of(program));
  key.shared_results = count_shared_results(program);
  return key;
}

std::string to_string(const BugKey &key, const ReproFacts &facts) {
  return joined({facts.backend->name(), to_string(facts.signature.kind), key.guilty, key.detail, key.essence,
                 std::to_string(key.shared_results)},
                "\n");
}

} // namespace repro_minify
