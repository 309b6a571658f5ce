#include "repro/triage.h"

#include "backends/in_python.h"
#include "check/verdict_text.h"
#include "core/escape.h"
#include "core/number_text.h"
#include "core/text.h"
#include "program/formula.h"
#include "program/python_call.h"
#include "program/values.h"
#include "repro/script_run.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <set>

namespace repro_minify {
namespace {

constexpr size_t most_of_message = 110, most_of_statement = 100, most_of_values = 40; // of a title
constexpr std::size_t most_elements_in_title = 3;

std::string shortened(std::string text, size_t most) {
  if (text.size() <= most)
    return text;
  size_t end = std::min(text.rfind(' ', most), most);
  if (const size_t remark = text.rfind(" (", end); remark < end && text.find(')', remark) > end)
    end = remark;
  return cut_at_character(text, end) + " ...";
}

/// "batch_norm, linear", each once, the last first: that is where the result comes from. A part taken out of a list is
/// none.
std::string operators_in_words(const Program &program) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const auto *node : program.graph->nodes().reverse())
    if (counts_as_operator(node) && node->kind() != torch::jit::aten::__getitem__ &&
        seen.insert(short_operator_name(node)).second)
      names.push_back(short_operator_name(node));
  if (names.size() > 5)
    names.resize(5);
  return names.empty() ? "the program" : joined(names);
}

std::string signal_in_words(int signal) {
  const std::pair<int, const char *> names[] = {
      {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGBUS, "SIGBUS"}};
  for (const auto &[number, name] : names)
    if (number == signal)
      return name;
  return signal > 0 ? "signal " + std::to_string(signal) : "an exit of its own";
}

/// A message comes from the model: one line that begins no mark-up. Python's "<OpOverload(...)>" loses both its ends.
std::string plain(std::string text) {
  for (size_t at = 0; (at = text.find("<Op", at)) != std::string::npos; text.erase(at, 1))
    if (const size_t end = text.find(")>", at); end != std::string::npos)
      text.erase(end + 1, 1);
  for (char &c : text)
    c = static_cast<unsigned char>(c) < 32 || c == '`' || c == '<' ? ' ' : c;
  return shortened(text, most_of_message);
}

constexpr int digits_shown = 4;

std::string number_in_words(double value, at::ScalarType dtype) {
  if (dtype == at::kBool)
    return value != 0 ? "True" : "False";
  if (std::isnan(value))
    return "nan";
  const double most = at::isIntegralType(dtype, true) ? 1e15 : 1e7; // whole floating-point numbers may be large
  const bool is_whole = std::abs(value) < most && value == std::floor(value) && !(value == 0 && std::signbit(value));
  return is_whole ? fixed_text(value, 0) : rounded_text(value, digits_shown);
}

/// "-0", or "[0, nan]".
std::string elements_in_words(const std::vector<double> &elements, at::ScalarType dtype) {
  const std::string text = joined(elements, ", ", [&](double element) { return number_in_words(element, dtype); });
  return elements.size() == 1 ? text : "[" + text + "]";
}

bool is_particular(double element) {
  return (element != 0 || std::signbit(element)) && element != 1;
}

/// " for x = [0, nan]": the values of the inputs, where these are few and at least one is neither 0 nor 1. Such a value
/// was not replaced by a plainer one, so that the failure depends on it. `statement` may have other names for the
/// inputs than the program: then " where its input is [0, nan]", and nothing where there are several.
std::string values_of_inputs(const Program &program, const std::string &statement) {
  const bool are_named = std::all_of(program.inputs.begin(), program.inputs.end(),
                                     [&](const ProgramInput &input) { return mentions(statement, input.name); });
  if (!are_named && program.inputs.size() > 1)
    return "";
  std::vector<std::string> values;
  std::size_t count = 0;
  bool any = false;
  for (const ProgramInput &input : program.inputs) {
    if (!input.value.isTensor())
      return "";
    const at::Tensor tensor = input.value.toTensor();
    const auto elements = elements_of(tensor, most_elements_in_title);
    if (!elements || elements->empty() || (elements->size() > 1 && tensor.dim() > 1))
      return "";
    count += elements->size();
    any |= std::any_of(elements->begin(), elements->end(), is_particular);
    const std::string value = elements_in_words(*elements, tensor.scalar_type());
    values.push_back(are_named ? input.name + " = " + value : value);
  }
  const std::string text = (are_named ? " for " : " where its input is ") + joined(values);
  return any && count <= most_elements_in_title && text.size() <= most_of_values ? text : "";
}

/// Row-major, as a person counts: "[0, 1]".
/// `index` is negative for a value that is no tensor.
BothValues values_at(std::int64_t index, double expected, double found, const LeafReport &leaf) {
  const auto &sizes = leaf.ref_form->sizes;
  const bool single = index < 0 || std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size == 1; });
  const std::string path = leaf.path.starts_with('[') || leaf.path.starts_with('.') ? leaf.path : ""; // else "input 0"
  const std::string place = single ? "" : path + position_text(index, sizes);
  const std::string one = number_in_words(expected, leaf.ref_form->dtype),
                    other = number_in_words(found, leaf.res_form->dtype);
  if (one != other || expected == found)
    return {one, other, place};
  const auto [longer, other_longer] = differing_texts(expected, found, digits_shown);
  return {longer, other_longer, place};
}

BothValues values_of(const LeafReport &leaf, FailureKind kind) {
  if (kind == FailureKind::Structure && leaf.ref_form && leaf.res_form && leaf.ref_type == leaf.res_type &&
      leaf.ref_form->strides != leaf.res_form->strides)
    return {"strides [" + joined_numbers(leaf.ref_form->strides) + "]",
            "strides [" + joined_numbers(leaf.res_form->strides) + "]", ""};
  if (kind == FailureKind::Structure || !leaf.ref_form || !leaf.res_form)
    return {leaf.ref_type, leaf.res_type, ""};
  if (kind == FailureKind::Dtype)
    return {dtype_name(leaf.ref_form->dtype), dtype_name(leaf.res_form->dtype), ""};
  if (kind == FailureKind::Shape)
    return {leaf.ref_type, leaf.res_type, ""};
  if (kind == FailureKind::Nan && leaf.special_index >= 0)
    return values_at(leaf.special_index, leaf.ref_special, leaf.res_special, leaf);
  if (std::isnan(leaf.ref_at_worst) || std::isnan(leaf.res_at_worst))
    return {};
  return values_at(leaf.worst_index, leaf.ref_at_worst, leaf.res_at_worst, leaf);
}

using Quote = std::string (*)(const std::string &);

std::string unquoted(const std::string &text) {
  return text;
}

/// The name of the input in which a state shows; "an input" where it is a buffer, or not known.
std::string input_with(const LeafReport *leaf, const Program &program, Quote quote) {
  int place = leaf ? leaf->argument : -1;
  for (const ProgramInput &input : program.inputs)
    if (input.role == Role::Input && place-- == 0)
      return quote(input.name);
  return "an input";
}

/// The first sentence of an exception's message: what follows explains it.
std::string first_words(const std::string &message) {
  const size_t end = message.find(". ");
  return message.substr(0, end);
}

/// True if a message begins with the name of an exception in Python, or is a compiler's.
bool names_its_type(const std::string &message) {
  const size_t colon = message.find(": "), space = message.find(' ');
  return message.starts_with("C++ ") || (colon != std::string::npos && colon < space);
}

/// The exception of a program: TorchInductor's messages leave out the name of a RuntimeError alone (failure.py).
std::string exception_in_words(const ReproFacts &facts) {
  const std::string &message = facts.reduced.message;
  const bool in_python = is_inductor(facts);
  return plain((in_python && !names_its_type(message) ? "RuntimeError: " : "") + first_words(message));
}

/// `quote`: how values, names and messages are marked.
std::string what_happens(const Program &program, const ReproFacts &facts, Quote quote) {
  const FailureKind kind = facts.signature.kind;
  switch (kind) {
  case FailureKind::Exception:
    return "raises " + quote(exception_in_words(facts));
  case FailureKind::Crash:
    if (is_told_by_message(facts.signature))
      return "raises " + quote(exception_in_words(facts));
    return "crashes with " + signal_in_words(facts.signature.signal);
  case FailureKind::Hang:
    return "does not end within " + std::to_string(facts.hang_seconds) + " s";
  case FailureKind::Memory:
    return "runs out of memory";
  case FailureKind::Interesting:
    return "is interesting";
  default:
    break;
  }
  const BothValues values = both_values(facts);
  if (values.found.empty())
    return "is wrong";
  if (kind == FailureKind::Accuracy && facts.reads_unwritten.value_or(false)) // another number each time
    return "gives what lay in memory, expected " + quote(values.expected);
  const std::string at = values.place.empty() ? "" : " at " + quote(values.place), found = quote(values.found);
  const bool in_state = facts.signature.where == "state", in_gradient = facts.signature.where == "gradient";
  const LeafReport *leaf = leaf_showing(facts.reduced, facts.signature);
  return std::string(in_state      ? "leaves " + found + at + " in " + input_with(leaf, program, quote)
                     : in_gradient ? "has the gradient " + found + at
                                   : "gives " + found + at) +
         ", expected " + quote(values.expected);
}

std::string title_of(const ReproFacts &facts) {
  const std::string part = faulty_part_of_pytorch(facts);
  return part.empty() ? facts.backend->title() : part;
}

/// True if the guilty step is all that the title names: torch.export, or the runtime as a whole.
bool is_in_title(const ReproFacts &facts) {
  const OwnTracker *own = facts.backend->parts().tracker;
  if (!own)
    return false;
  return !faulty_part_of_pytorch(facts).empty() || *facts.bisection->guilty == own->tracker().at("name");
}

/// The guilty step in the words of its library: "reinplace_inplaceable_ops", "decomposition of round"; empty where none
/// is known, or its words tell nothing. A lowering that is left out ends a fusion too: it may hide a failure that is
/// another's, so no title names it; nor what has a number for a name ("pass_pattern_1"). The parts of AOTAutograd are
/// asked after repro.py was written, which then names none.
std::string blamed_in_title(const ReproFacts &facts) {
  if (!facts.bisection || !facts.bisection->guilty || is_in_title(facts))
    return "";
  const std::string &step = *facts.bisection->guilty, &name = facts.bisection->name;
  const StepKind kind = facts.bisection->kind;
  if (step == "inductor" || kind == StepKind::Lowering || name.starts_with("pass_pattern_"))
    return "";
  if (!name.empty() && kind == StepKind::Decomposition)
    return "decomposition of " + name;
  if (step == "aot_eager")
    return fails_under(facts, ablation_names::functionalized).value_or(false) ? "functionalization"
           : fails_under(facts, ablation_names::decomposed).value_or(false)   ? "decompositions"
           : has_row(facts, ablation_names::decomposed)                       ? "AOTAutograd"
                                                                              : "";
  return name.empty() ? step : name;
}

} // namespace

BothValues both_values(const ReproFacts &facts) {
  const LeafReport *leaf = leaf_showing(facts.reduced, facts.signature);
  return leaf ? values_of(*leaf, facts.signature.kind) : BothValues{};
}

std::string headline(const Program &program, const ReproFacts &facts, const std::string &call) {
  const std::string &statement = call.empty() ? facts.script.statement : call;
  const bool is_short = !statement.empty() && statement.size() <= most_of_statement;
  const std::string what = is_short ? "`" + statement + "`" : operators_in_words(program);
  const std::string happens = what_happens(program, facts, unquoted), guilty = blamed_in_title(facts);
  const std::string by = guilty.empty() || happens.find(guilty) != std::string::npos ? "" : " (" + guilty + ")";
  const std::string how = explanation_clause(facts), condition = condition_in_title(facts.conditions);
  const bool says_it = condition.empty() || how.find(condition) != std::string::npos;
  const std::string with = is_comparison(facts.signature.kind) && is_short ? values_of_inputs(program, statement) : "";
  if (call.empty() && !how.empty() && how.size() <= most_of_statement)
    return title_of(facts) + ": " + how + (says_it ? "" : ", for " + condition) + by + "; " + happens + with;
  return title_of(facts) + ": " + what + (condition.empty() ? " " : " of " + condition + " ") + happens + with + by;
}

std::string sentence(const Program &program, const ReproFacts &facts) {
  const std::string &statement = facts.script.statement;
  return "Under " + markdown_text(title_of(facts)) + ", " +
         markdown_code(statement.empty() ? operators_in_words(program) : statement) + " " +
         what_happens(program, facts, markdown_code) + ".";
}

} // namespace repro_minify
