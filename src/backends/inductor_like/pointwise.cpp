#include "backends/inductor_like/pointwise.h"

#include "backends/inductor_like/kernel_math.h"

#include <cstdint>
#include <map>

namespace repro_minify::inductor_like {
namespace {

struct Simple {
  const char *floating; ///< expression for floating types; empty: not covered
  const char *integral; ///< for integers and booleans; empty: not covered
  Operands operands = Operands::Result;
};

/// Those that take tensors and numbers only, and nothing that changes what they compute.
const std::map<std::string, Simple> simple_operators = {
    {"aten::mul", {"$0 * $1", "$0 * $1"}},
    {"aten::multiply", {"$0 * $1", "$0 * $1"}},
    {"aten::true_divide", {"$0 / $1", ""}},
    {"aten::neg", {"-$0", "-$0"}},
    {"aten::abs", {"@fabs($0)", "absolute<T>($0)"}},
    {"aten::square", {"$0 * $0", "$0 * $0"}},
    {"aten::exp", {"@exp($0)", ""}},
    {"aten::exp2", {"@looped_exp2(#, $0)", ""}},
    {"aten::expm1", {"@expm1($0)", ""}},
    {"aten::log", {"@log($0)", ""}},
    {"aten::log2", {"@log2($0)", ""}},
    {"aten::log10", {"@log10($0)", ""}},
    {"aten::log1p", {"@log1p($0)", ""}},
    {"aten::sqrt", {"@sqrt($0)", ""}},
    {"aten::rsqrt", {"T(1) / @sqrt($0)", ""}},
    {"aten::reciprocal", {"T(1) / $0", ""}},
    {"aten::sin", {"@sin($0)", ""}},
    {"aten::cos", {"@cos($0)", ""}},
    {"aten::tan", {"@tan($0)", ""}},
    {"aten::asin", {"@asin($0)", ""}},
    {"aten::acos", {"@acos($0)", ""}},
    {"aten::atan", {"@atan($0)", ""}},
    {"aten::sinh", {"@sinh($0)", ""}},
    {"aten::cosh", {"@cosh($0)", ""}},
    {"aten::tanh", {"@tanh($0)", ""}},
    {"aten::asinh", {"@asinh($0)", ""}},
    {"aten::acosh", {"@acosh($0)", ""}},
    {"aten::atanh", {"@looped_atanh(#, $0)", ""}},
    {"aten::atan2", {"@atan2($0, $1)", ""}},
    {"aten::erf", {"@erf($0)", ""}},
    {"aten::erfc", {"@erfc($0)", ""}},
    {"aten::sigmoid", {"T(1) / (T(1) + @looped_exp(#, -$0))", ""}},
    {"aten::silu", {"$0 / (T(1) + @looped_exp(#, -$0))", ""}},
    {"aten::mish", {"$0 * @looped_tanh(#, chosen<T>($0 > T(20), $0, @looped_log1p(#, @looped_exp(#, $0))))", ""}},
    {"aten::elu", {"chosen<T>($0 > 0, $0 * $2, @looped_expm1(#, $0 * $3) * ($1 * $2))", ""}},
    {"aten::softplus", {"chosen<T>($0 * $1 > $2, $0, @looped_log1p(#, @looped_exp(#, $0 * $1)) / $1)", ""}},
    {"aten::log_sigmoid", {"smallest_of<T>($0, 0) - @log1p(@vectorized_exp(-@fabs($0)))", ""}},
    {"aten::relu", {"largest_of<T>(0, $0)", "largest_of<T>(0, $0)"}},
    {"aten::sign", {"sign_of<T>($0)", "sign_of<T>($0)"}},
    {"aten::sgn", {"sign_of<T>($0)", "sign_of<T>($0)"}},
    {"aten::floor", {"@floor($0)", "$0"}},
    {"aten::ceil", {"@ceil($0)", "$0"}},
    {"aten::trunc", {"@trunc($0)", "$0"}},
    {"aten::frac", {"$0 - @trunc($0)", ""}},
    {"aten::remainder", {"float_remainder<T>($1, @fmod($0, $1))", "floor_remainder<T>($0, $1)"}},
    {"aten::fmod", {"@fmod($0, $1)", "T(-1) < T(0) && $1 == T(-1) ? T(0) : T($0 % $1)"}},
    {"aten::floor_divide", {"float_floor_quotient<T>($0, $1, @fmod($0, $1))", "floor_quotient<T>($0, $1)"}},
    {"aten::maximum", {"largest_of<T>($0, $1)", "largest_of<T>($0, $1)"}},
    {"aten::minimum", {"smallest_of<T>($0, $1)", "smallest_of<T>($0, $1)"}},
    {"aten::isnan", {"$0 != $0", "false", Operands::Promoted}},
    {"aten::isinf", {"@fabs($0) == __builtin_inf()", "false", Operands::Promoted}},
    {"aten::isfinite", {"@fabs($0) < __builtin_inf()", "true", Operands::Promoted}},
    {"aten::eq", {"$0 == $1", "$0 == $1", Operands::Promoted}},
    {"aten::ne", {"$0 != $1", "$0 != $1", Operands::Promoted}},
    {"aten::lt", {"$0 < $1", "$0 < $1", Operands::Promoted}},
    {"aten::le", {"$0 <= $1", "$0 <= $1", Operands::Promoted}},
    {"aten::gt", {"$0 > $1", "$0 > $1", Operands::Promoted}},
    {"aten::ge", {"$0 >= $1", "$0 >= $1", Operands::Promoted}},
    {"aten::logical_and", {"$0 && $1", "$0 && $1", Operands::Boolean}},
    {"aten::logical_or", {"$0 || $1", "$0 || $1", Operands::Boolean}},
    {"aten::logical_xor", {"$0 != $1", "$0 != $1", Operands::Boolean}},
    {"aten::logical_not", {"!$0", "!$0", Operands::Boolean}},
    {"aten::bitwise_and", {"", "$0 & $1"}},
    {"aten::bitwise_or", {"", "$0 | $1"}},
    {"aten::bitwise_xor", {"", "$0 ^ $1"}},
    {"aten::__and__", {"", "$0 & $1"}},
    {"aten::__or__", {"", "$0 | $1"}},
    {"aten::__xor__", {"", "$0 ^ $1"}},
    {"aten::clamp_min", {"largest_of<T>($0, $1)", "largest_of<T>($0, $1)"}},
    {"aten::clamp_max", {"smallest_of<T>($0, $1)", "smallest_of<T>($0, $1)"}},
    {"aten::threshold", {"$0 <= $1 ? $2 : $0", "$0 <= $1 ? $2 : $0"}},
};

std::vector<size_t> first(size_t count) {
  std::vector<size_t> inputs(count);
  for (size_t k = 0; k < count; ++k)
    inputs[k] = k;
  return inputs;
}

bool is_none(const Node *node, size_t input, const Observation &seen) {
  return seen.constant(node->input(input)).isNone();
}

std::optional<double> number(const Node *node, size_t input, const Observation &seen) {
  const c10::IValue &value = seen.constant(node->input(input));
  if (value.isDouble() || value.isInt() || value.isBool())
    return value.toScalar().toDouble();
  return std::nullopt;
}

/// add, sub and rsub: the third operand scales the one that is added.
PointwiseRule added(const Node *node, const Observation &seen, const std::string &kind) {
  const bool reversed = kind == "aten::rsub";
  const std::string sign = kind == "aten::add" ? " + " : " - ";
  const std::string kept = reversed ? "$1" : "$0", moved = reversed ? "$0" : "$1";
  if (number(node, 2, seen) == 1.0)
    return {kept + sign + moved, Operands::Result, {0, 1}};
  return {kept + sign + "$2 * " + moved, Operands::Result, {0, 1, 2}};
}

std::optional<PointwiseRule> divided(const Node *node, const Observation &seen, bool floating) {
  const std::string mode =
      node->inputs().size() < 3 || is_none(node, 2, seen) ? "" : seen.constant(node->input(2)).toStringRef();
  if (mode == "floor")
    return PointwiseRule{floating ? "float_floor_quotient<T>($0, $1, @fmod($0, $1))" : "floor_quotient<T>($0, $1)",
                         Operands::Result,
                         {0, 1}};
  if (mode == "trunc")
    return PointwiseRule{floating ? "@trunc($0 / $1)" : "$0 / $1", Operands::Result, {0, 1}};
  if (!floating)
    return std::nullopt;
  return PointwiseRule{"$0 / $1", Operands::Result, {0, 1}};
}

std::optional<PointwiseRule> raised(const Node *node, const Observation &seen, bool floating) {
  const auto exponent = number(node, 1, seen);
  if (exponent == 1.0)
    return PointwiseRule{"$0", Operands::Result, {0}};
  if (exponent == 2.0)
    return PointwiseRule{"$0 * $0", Operands::Result, {0}};
  if (exponent == 3.0)
    return PointwiseRule{"$0 * $0 * $0", Operands::Result, {0}};
  if (exponent == 0.5 && floating)
    return PointwiseRule{"@sqrt($0)", Operands::Result, {0}};
  return PointwiseRule{floating ? "@pow($0, $1)" : "integer_power<T>($0, $1)", Operands::Result, {0, 1}};
}

/// Where an element is the bound but for the sign of a zero, eager keeps it if the bound is a number, and takes the
/// bound if that is a tensor; largest_of() and smallest_of() take their last operand.
PointwiseRule clamped(const Node *node, const Observation &seen) {
  PointwiseRule rule{"$0", Operands::Result, {0}};
  const auto bound = [&](size_t input, const std::string &function) {
    const std::string limit = "$" + std::to_string(rule.inputs.size());
    rule.expression = function + "<T>(" +
                      (number(node, input, seen) ? limit + ", " + rule.expression : rule.expression + ", " + limit) +
                      ")";
    rule.inputs.push_back(input);
  };
  if (!is_none(node, 1, seen))
    bound(1, "largest_of");
  if (!is_none(node, 2, seen))
    bound(2, "smallest_of");
  return rule;
}

PointwiseRule scaled_product(const Node *node, const Observation &seen, const std::string &operation) {
  if (number(node, 3, seen) == 1.0)
    return {"$0 + $1 " + operation + " $2", Operands::Result, {0, 1, 2}};
  return {"$0 + $3 * $1 " + operation + " $2", Operands::Result, {0, 1, 2, 3}};
}

PointwiseRule gelu(const Node *node, const Observation &seen) {
  if (seen.constant(node->input(1)).toStringRef() == "tanh")
    return {"T(0.5) * $0 * (T(1) + @looped_tanh(#, T(0.7978845608028654) * @fma(T(0.044715), $0 * $0 * $0, $0)))",
            Operands::Result,
            {0}};
  return {"$0 * T(0.5) * (T(1) + @vectorized_erf($0 * T(0.7071067811865476)))", Operands::Result, {0}};
}

bool has_overload(const Node *node, const std::string &name) {
  return node->maybeSchema() && node->schema().overload_name() == name;
}

/// Those whose expression depends on their arguments.
std::optional<PointwiseRule> special_rule(const Node *node, const std::string &kind, const Observation &seen,
                                          bool floating) {
  if (kind == "aten::add" || kind == "aten::sub" || kind == "aten::rsub")
    return node->inputs().size() < 3
               ? PointwiseRule{kind == "aten::add" ? "$0 + $1" : "$0 - $1", Operands::Result, {0, 1}}
               : added(node, seen, kind);
  if (kind == "aten::div" || kind == "aten::divide")
    return divided(node, seen, floating);
  if (kind == "aten::pow")
    return raised(node, seen, floating);
  if (kind == "aten::exp" && floating && node->input(0)->node()->kind() == c10::Symbol::fromQualString("aten::alias"))
    return PointwiseRule{"@vectorized_exp($0)", Operands::Result, {0}}; // decompose.cpp
  if (kind == "aten::gelu" && floating)
    return gelu(node, seen);
  if (kind == "aten::clamp")
    return clamped(node, seen);
  if ((kind == "aten::clamp_min" || kind == "aten::clamp_max") && number(node, 1, seen)) // as clamped() says
    return PointwiseRule{
        kind == "aten::clamp_min" ? "largest_of<T>($1, $0)" : "smallest_of<T>($1, $0)", Operands::Result, {0, 1}};
  if (kind == "aten::round" && has_overload(node, ""))
    return PointwiseRule{floating ? "@nearbyint($0)" : "$0", Operands::Result, {0}};
  if ((kind == "aten::max" || kind == "aten::min") && has_overload(node, "other"))
    return PointwiseRule{
        (kind == "aten::max" ? "largest" : "smallest") + std::string("_of<T>($0, $1)"), Operands::Result, {0, 1}};
  if (kind == "aten::bitwise_not" && !floating)
    return PointwiseRule{seen.tensor(node->output())->dtype == at::kBool ? "!$0" : "~$0", Operands::Result, {0}};
  if (kind == "aten::where" && node->inputs().size() == 3)
    return PointwiseRule{"$0 ? $1 : $2", Operands::Result, {0, 1, 2}, {0}};
  if (kind == "aten::masked_fill")
    return PointwiseRule{"$1 ? $2 : $0", Operands::Result, {0, 1, 2}, {1}};
  if (kind == "aten::addcmul" && floating)
    return scaled_product(node, seen, "*");
  if (kind == "aten::addcdiv" && floating)
    return scaled_product(node, seen, "/");
  if (kind == "aten::lerp" && floating)
    return PointwiseRule{
        "@fabs($2) < T(0.5) ? $0 + $2 * ($1 - $0) : $1 - ($1 - $0) * (T(1) - $2)", Operands::Result, {0, 1, 2}};
  return std::nullopt;
}

} // namespace

std::optional<PointwiseRule> pointwise_rule(const Node *node, const Observation &seen, Element compute) {
  const std::string kind = node->kind().toQualString();
  const bool floating = is_floating(compute);
  if (const auto special = special_rule(node, kind, seen, floating))
    return special;
  const auto found = simple_operators.find(kind);
  if (found == simple_operators.end())
    return std::nullopt;
  const Simple &simple = found->second;
  const char *expression = floating ? simple.floating : simple.integral;
  if (!*expression)
    return std::nullopt;
  size_t operands = 0;
  while (std::string(simple.floating).find("$" + std::to_string(operands)) != std::string::npos ||
         std::string(simple.integral).find("$" + std::to_string(operands)) != std::string::npos)
    ++operands;
  if (node->inputs().size() != operands)
    return std::nullopt; // an overload with more to it
  return PointwiseRule{expression, simple.operands, first(operands)};
}

std::string filled_in(const std::string &expression, const std::vector<std::string> &operands, Element type,
                      const std::string &past) {
  const bool single = compute_element(type) == Element::Float32;
  const std::string looped = "looped_", looped_operand = "(#, ";
  std::string text;
  for (size_t at = 0; at < expression.size(); ++at) {
    const char c = expression[at];
    const auto is_word = [&](size_t k) {
      return k < expression.size() &&
             (std::isalnum(static_cast<unsigned char>(expression[k])) != 0 || expression[k] == '_');
    };
    if (c == '$') {
      text += operands.at(static_cast<size_t>(expression[++at] - '0'));
    } else if (c == '#') {
      text += past;
    } else if (c == '@') {
      const size_t end = expression.find('(', at);
      std::string name = expression.substr(at + 1, end - at - 1);
      if (past == "0" && expression.compare(end, looped_operand.size(), looped_operand) == 0) {
        name.replace(0, looped.size(), "vectorized_");
        at = end + looped_operand.size() - 1; // no element is past
      } else {
        at = end;
        if (is_16_bit(type) && has_vector_math("vectorized_" + name))
          name = "vectorized_" + name; // ATen widens them, and takes SLEEF's there
      }
      text += (has_vector_math(name) ? "math_" : "__builtin_") + name + (single ? "f" : "") + "(";
    } else if (c == 'T' && !(at > 0 && is_word(at - 1)) && !is_word(at + 1)) {
      text += compute_type(type);
    } else {
      text += c;
    }
  }
  return text;
}

bool is_heavy(const Node *node) {
  const auto found = simple_operators.find(node->kind().toQualString());
  return (found != simple_operators.end() && std::string(found->second.floating).find('@') != std::string::npos &&
          found->first != "aten::abs" && found->first != "aten::floor" && found->first != "aten::ceil" &&
          found->first != "aten::trunc" && found->first != "aten::sqrt") ||
         node->kind().toQualString() == std::string("aten::pow") ||
         node->kind().toQualString() == std::string("aten::gelu");
}

std::optional<ReductionRule> reduction_rule(const Node *node) {
  static const std::map<std::string, ReductionRule> table = {
      {"aten::sum", {Fold::Sum, 0, false}},      {"aten::sum.dim_IntList", {Fold::Sum, 1, false}},
      {"aten::mean", {Fold::Sum, 0, true}},      {"aten::mean.dim", {Fold::Sum, 1, true}},
      {"aten::amax", {Fold::Largest, 1, false}}, {"aten::amin", {Fold::Smallest, 1, false}},
      {"aten::max", {Fold::Largest, 0, false}},  {"aten::min", {Fold::Smallest, 0, false}},
      {"aten::prod", {Fold::Product, 0, false}}, {"aten::prod.dim_int", {Fold::Product, 1, false}},
      {"aten::any", {Fold::Any, 0, false}},      {"aten::any.dim", {Fold::Any, 1, false}},
      {"aten::all", {Fold::All, 0, false}},      {"aten::all.dim", {Fold::All, 1, false}}};
  if (!node->maybeSchema())
    return std::nullopt;
  const std::string &overload = node->schema().overload_name();
  const auto found = table.find(node->kind().toQualString() + (overload.empty() ? "" : "." + overload));
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::vector<bool> reduced_dims(const Node *node, const ReductionRule &rule, size_t rank, const Observation &seen) {
  std::vector<int64_t> dims;
  if (rule.dims > 0) {
    const c10::IValue &given = seen.constant(node->input(rule.dims));
    if (given.isInt())
      dims = {given.toInt()};
    else if (given.isIntList())
      dims = given.toIntVector();
  }
  std::vector<bool> reduced(rank, dims.empty());
  for (const int64_t dim : dims)
    if (rank > 0)
      reduced[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim)] = true;
  return reduced;
}

} // namespace repro_minify::inductor_like
