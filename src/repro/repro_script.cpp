#include "repro/repro_script.h"
#include "core/number_text.h"
#include "core/text.h"

#include "backends/in_python.h"
#include "program/surgery.h"
#include "program/values.h"
#include "repro/predicate.h"
#include "repro/python_source.h"
#include "repro/render.h"
#include "repro/repro_py.h"
#include "repro/repro_words.h"
#include "repro/tensor_literal.h"
#include "repro/torchscript_source.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace repro_minify {
namespace {

using nlohmann::json;

constexpr size_t most_script_bytes = size_t{32} * 1024; // it is pasted into an issue, with everything else

/// One way to write it.
struct Form {
  PythonCalls calls;
  bool interpreted;       ///< eager is TorchScript's interpreter, and its result is not optimised again
  bool general;           ///< of several results, and of gradients that there are none of
  bool constants = false; ///< what is a constant of the graph is one again, not a buffer of a module
};
// A constant that a search has left matters: where it did not it would be an argument (reduce/passes/roles.cpp).
constexpr Form forms[] = {{PythonCalls::AsUsual, false, false, true}, {PythonCalls::AsUsual, false, false},
                          {PythonCalls::AsUsual, false, true},        {PythonCalls::AsUsual, true, true},
                          {PythonCalls::AsAten, false, true},         {PythonCalls::AsAten, true, true}};

/// Returns the names that the script itself uses, and that no variable of the program may have.
const std::set<std::string> &taken_names() {
  static const std::set<std::string> names = {
      "torch", "Repro",  "program",  "model",     "graph",     "node",        "run",
      "call",  "result", "results",  "parts",     "leaves",    "leaf",        "loss",
      "eager", "inputs", "found",    "text",      "optimised", "e",           "f",
      "error", "bound",  "same",     "r",         "p",         "g",           "part",
      "print", "super",  "scripted", "gradients", "expected",  "with_passes", "with_constants"};
  return names;
}

std::string variable(const std::string &name) {
  return taken_names().contains(name) ? name + "_0" : name;
}

class Script {
public:
  /// `marker`: of the program that is handed over, which may have constants where this one has buffers.
  Script(const Program &program, const std::string &marker, const ReproFacts &facts, const PythonCall &call,
         const Form &form)
      : program_(program), marker_(marker), facts_(facts), call_(call), form_(form),
        source_(python_source(torchscript_source(program), form.calls)),
        is_function_(source_.one_function && !call.needs_module && !has_attributes()) {}

  std::string text() const {
    json values = {{"headline", headline(facts_)},
                   {"found", "Found: " + facts_.reduced.message},
                   {"made", "Seen with PyTorch " + seen_with() + "; minimised by repro-minify " + facts_.version +
                                ". Ends with an error while the failure is there."},
                   {"types", joined(source_.types)},
                   {"settings", section_of(settings())},
                   {"operators", facts_.libraries},
                   {"has_operators", !facts_.libraries.empty()},
                   {"marker", marker_}};
    for (const json &part : {definition(), run(), calls(), comparison()})
      values.update(part);
    return render("repro.py.tpl", values);
  }

private:
  /// A backend in a process of its own can have another PyTorch than this one.
  std::string seen_with() const {
    const ReproInPython *own = facts_.backend->parts().repro_in_python;
    return own ? own->torch_version() : facts_.torch_version;
  }

  bool has_attributes() const {
    return std::any_of(program_.inputs.begin(), program_.inputs.end(),
                       [](const ProgramInput &input) { return input.role != Role::Input; });
  }

  static json section_of(const json &list) { return list.empty() ? json(nullptr) : json{{"list", list}}; }

  bool on_cpu() const { return facts_.check.device.is_cpu(); }

  /// The text of a tensor, which makes it on the CPU, with its way to the device of the failure. It is a leaf after it.
  std::string moved(std::string tensor) const {
    const std::string wish = ".requires_grad_()";
    const bool wants_gradient = tensor.ends_with(wish);
    if (on_cpu())
      return tensor;
    tensor.resize(tensor.size() - (wants_gradient ? wish.size() : 0));
    return tensor + ".to(\"" + facts_.check.device.str() + "\")" + (wants_gradient ? wish : "");
  }

  json settings() const {
    json lines = call_.settings;
    if (!on_cpu() && facts_.check.tf32)
      lines.push_back("torch.backends.cuda.matmul.allow_tf32 = True");
    if (!on_cpu() && !facts_.check.tf32)
      lines.push_back("torch.backends.cudnn.allow_tf32 = False");
    if (form_.interpreted || facts_.check.threads != 1)
      lines.push_back("torch.set_num_threads(" + std::to_string(facts_.check.threads) + ")");
    if (form_.interpreted && !facts_.check.grad)
      lines.push_back("torch.set_grad_enabled(False)");
    if (draws_random_numbers(*program_.graph))
      for (const auto &line : call_.random_settings)
        lines.push_back(line);
    if (facts_.needs_determinism && facts_.check.determinism != Determinism::Off &&
        (draws_random_numbers(*program_.graph) || !on_cpu()))
      lines.push_back("torch.use_deterministic_algorithms(True, warn_only=True)");
    return lines;
  }

  json attributes() const {
    TensorLiterals literals(facts_.check.grad, Language::Python);
    json list = json::array();
    for (const auto &input : program_.inputs) {
      if (input.role == Role::Input)
        continue;
      std::string tensor = literals.expression(input, "self." + input.name);
      const bool is_parameter = input.role == Role::Parameter;
      if (is_parameter && tensor.ends_with(".requires_grad_()"))
        tensor.resize(tensor.size() - 17);
      const bool grad = facts_.check.grad && input.value.toTensor().requires_grad();
      list.push_back({{"name", input.name},
                      {"tensor", moved(tensor)},
                      {"is_parameter", is_parameter},
                      {"requires_grad", grad ? "True" : "False"}});
    }
    return list;
  }

  json definition() const {
    json values = {{"model", !is_function_}, {"has_attributes", has_attributes()}};
    if (is_function_) {
      values["function"] = as_function(source_, "program");
      return values;
    }
    std::istringstream lines(source_.text);
    std::string indented;
    for (std::string line; std::getline(lines, line);)
      indented +=
          line.empty() ? "\n" : (line.starts_with("def ") && !indented.empty() ? "\n    " : "    ") + line + "\n";
    values["methods"] = indented;
    if (const json list = attributes(); !list.empty())
      values["attributes"] = {{"list", list}};
    return values;
  }

  /// True if each call needs inputs of its own, or gives more than it returns.
  bool needs_run() const {
    return facts_.check.grad || facts_.signature.where == "state" || facts_.check.autocast ||
           writes_to_something(*program_.graph) || draws_random_numbers(*program_.graph) || facts_.reduced.stateful;
  }

  std::vector<std::string> names_of_inputs() const {
    std::vector<std::string> names;
    for (const auto &input : program_.inputs)
      if (input.role == Role::Input)
        names.push_back(variable(input.name));
    return names;
  }

  json inputs() const {
    TensorLiterals literals(facts_.check.grad, Language::Python);
    json list = json::array();
    for (const auto &input : program_.inputs)
      if (input.role == Role::Input)
        list.push_back(
            {{"name", variable(input.name)}, {"tensor", moved(literals.expression(input, variable(input.name)))}});
    return list;
  }

  /// One real tensor that everything comes from: its mean's gradients are all there are to compare.
  bool is_plain_gradient() const {
    const auto is_complex = [](const ProgramInput &input) { return input.value.toTensor().is_complex(); };
    return !form_.general && program_.graph->outputs().size() == 1 && !has_attributes() &&
           program_.graph->outputs()[0]->type()->kind() == c10::TypeKind::TensorType &&
           std::none_of(program_.inputs.begin(), program_.inputs.end(), is_complex);
  }

  json run() const {
    json values = {{"inputs", inputs()}, {"arguments", joined(names_of_inputs())}, {"run", needs_run()}};
    if (!needs_run())
      return values;
    if (draws_random_numbers(*program_.graph))
      values["seed"] = std::to_string(facts_.check.seed);
    values["autocast"] = facts_.check.autocast ? "torch." + dtype_name(facts_.check.autocast_dtype) : "";
    values["device"] = c10::DeviceTypeName(facts_.check.device.type(), /*lower_case=*/true);
    const bool state = facts_.signature.where == "state";
    const bool grad = facts_.check.grad && !state;
    values["forward_too"] = facts_.signature.where != "gradient";
    values["mean"] = grad && is_plain_gradient();
    values["loss"] = grad && !is_plain_gradient();
    values["state"] = state;
    values["has_buffers"] = !is_function_;
    values["plain"] = !grad && !state;
    values["gradients"] = joined(gradients());
    values["leaves"] = joined(leaves());
    return values;
  }

  std::vector<std::string> gradients() const {
    std::vector<std::string> words;
    for (const auto &input : program_.inputs)
      if (input.role == Role::Input && input.value.toTensor().requires_grad())
        words.push_back(variable(input.name) + ".grad");
    return words;
  }

  std::vector<std::string> leaves() const {
    std::vector<std::string> words = names_of_inputs();
    if (!is_function_ && facts_.backend->traits().gradients == Gradients::All)
      words.insert(words.begin(), "*model.parameters()");
    return words;
  }

  std::string called(const std::string &function) const {
    return needs_run() ? "run(" + function + ")" : function + "(" + joined(names_of_inputs()) + ")";
  }

  json calls() const {
    const std::string model = is_function_ ? "program" : "model";
    std::string optimised = rewrites_graph() ? name_of_rewriting() + "(model)" : call_.optimised;
    if (const size_t at = optimised.find("model"); at != std::string::npos)
      optimised.replace(at, 5, model);
    json values = {{"callable", model},
                   {"expected", called(form_.interpreted ? "eager" : model)},
                   {"interpreted", form_.interpreted},
                   {"optimised", optimised},
                   {"called", called("optimised")},
                   {"plain_interpreter", call_.plain_interpreter && (form_.interpreted || !call_.passes.empty())}};
    if (rewrites_graph())
      values["rewriting"] = {{"name", name_of_rewriting()}};
    if (!call_.passes.empty())
      values["rewriting"]["statements"] = call_.passes;
    values["calls"] = number_of_calls() > 1 ? json(number_of_calls()) : json(nullptr);
    return values;
  }

  bool rewrites_graph() const { return form_.constants || !call_.passes.empty(); }
  std::string name_of_rewriting() const { return form_.constants ? "with_constants" : "with_passes"; }

  int number_of_calls() const {
    if (call_.plain_interpreter)
      return 1;
    const bool any_call = !is_comparison(facts_.signature.kind); // which one raises is not known
    return std::max(facts_.reduced.failing_call, any_call ? facts_.check.calls : 1);
  }

  json comparison() const {
    const FailureKind kind = facts_.signature.kind;
    if (!is_comparison(kind))
      return json::object();
    const Predicate predicate = predicate_of(facts_);
    const bool close = predicate.form == Predicate::Form::Close || kind == FailureKind::Nan ||
                       kind == FailureKind::Dtype || kind == FailureKind::Shape || kind == FailureKind::Structure;
    json values = {{"close", close},
                   {"pairwise", !close},
                   {"rtol", double_literal(predicate.rtol)},
                   {"atol", double_literal(predicate.atol)},
                   {"limit", double_literal(predicate.limit)},
                   {"equal_nan", predicate.equal_nan},
                   {"check_dtype", kind == FailureKind::Dtype ? "True" : "False"},
                   {"strides", kind == FailureKind::Structure},
                   {"rms", predicate.form == Predicate::Form::Rms},
                   {"bound", predicate.form == Predicate::Form::Bound},
                   {"exact", predicate.form == Predicate::Form::Exact},
                   {"equal", predicate.form == Predicate::Form::Equal},
                   {"direction", predicate.form == Predicate::Form::Direction},
                   {"overlap", predicate.form == Predicate::Form::Overlap}};
    const bool several = facts_.check.grad || facts_.signature.where == "state" || program_.graph->outputs().size() > 1;
    values["pairs"] = several ? "zip(expected, found)" : "[(expected, found)]";
    return values;
  }

  const Program &program_;
  const std::string &marker_;
  const ReproFacts &facts_;
  const PythonCall &call_;
  const Form &form_;
  const PythonSource source_;
  const bool is_function_;
};

/// True if the program can be written with the constants that it has: no pass that Python names takes part, as its
/// script has them in any case, and nothing else is an attribute.
bool can_have_constants(const Program &program, const PythonCall &call) {
  const auto has_role = [&](auto is) { return std::any_of(program.inputs.begin(), program.inputs.end(), is); };
  return call.optimised == scripted_call().optimised && call.passes.empty() &&
         has_role([](const ProgramInput &input) { return input.role == Role::Constant; }) &&
         !has_role(
             [](const ProgramInput &input) { return input.role == Role::Parameter || input.role == Role::Buffer; });
}

std::string why_none(const ReproFacts &facts) {
  if (!facts.backend->parts().python_call && !facts.backend->parts().tracker)
    return "Python does not reach " + facts.backend->title();
  if (facts.not_reduced)
    return "the model could not be reduced";
  if (facts.backend->parts().repro_in_python && facts.reads_unwritten.value_or(false))
    return "the failure depends on uninitialised memory";
  if (facts.reduced.stateful)
    return "the program keeps state from call to call";
  return "";
}

} // namespace

ReproScripts repro_scripts(const Program &given, const ReproFacts &facts) {
  ReproScripts scripts{{}, why_none(facts)};
  if (!scripts.none_because.empty())
    return scripts;
  if (facts.backend->parts().tracker) {
    scripts.texts =
        facts.backend->parts().repro_in_python->scripts(constants_as_buffers(given), facts_for_python(given, facts));
    return scripts;
  }
  const PythonCall call = *facts.backend->parts().python_call;
  const Program program = constants_as_buffers(given);
  const std::string marker = reproduction_marker(given, facts.signature);
  try {
    for (const Form &form : forms) {
      if ((form.interpreted && call.eager_is_python) || (form.constants && !can_have_constants(given, call)))
        continue;
      std::string text = Script(program, marker, facts, call, form).text();
      if (text.size() > most_script_bytes)
        return {{}, "its inputs are too large to be written down"};
      if (std::find(scripts.texts.begin(), scripts.texts.end(), text) == scripts.texts.end())
        scripts.texts.push_back(std::move(text));
    }
  } catch (const std::exception &error) {
    return {{}, std::string("the program has no Python: ") + error.what()};
  }
  return scripts;
}

int lines_of_code(const std::string &script) {
  std::istringstream stream(script);
  int count = 0;
  for (std::string line; std::getline(stream, line);) {
    const size_t begin = line.find_first_not_of(' ');
    count += begin != std::string::npos && line[begin] != '#';
  }
  return count;
}

} // namespace repro_minify
