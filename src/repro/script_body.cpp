#include "repro/script_text.h"

#include "core/text.h"
#include "program/surgery.h"
#include "program/values.h"
#include "repro/render.h"
#include "repro/script_run.h"

#include <algorithm>

namespace repro_minify {
namespace {

constexpr size_t most_inline = 70; // characters of inputs that stand in both calls

/// How each side comes to its inputs, and what is compared.
enum class Mode {
  Plain,    ///< both sides are called with the same inputs
  Inline,   ///< each call has its own, written where they are passed
  Gradient, ///< of the mean of the only result
  State,    ///< what the calls leave in the inputs
  Run,      ///< a function `run` makes the inputs anew, calls, and returns what is compared
};

/// True for one call of a function that makes the same tensor on any device: its last parenthesis closes its first.
bool takes_a_device(const std::string &expression) {
  constexpr std::string_view makers[] = {"ones", "zeros", "full", "tensor", "arange", "linspace"};
  const size_t open = expression.find('(');
  if (!expression.starts_with("torch.") || open == std::string::npos ||
      std::find(std::begin(makers), std::end(makers), expression.substr(6, open - 6)) == std::end(makers))
    return false;
  int depth = 0;
  for (size_t at = open; at < expression.size(); ++at) {
    depth += expression[at] == '(' ? 1 : expression[at] == ')' ? -1 : 0;
    if (depth == 0)
      return at + 1 == expression.size();
  }
  return false;
}

class ScriptBody {
public:
  ScriptBody(const ScriptParts &parts, bool is_test)
      : program_(parts.program), text_(parts.text), facts_(parts.facts), call_(parts.call), form_(parts.form),
        is_test_(is_test), mode_(mode()) {}

  /// Renders repro_body.py.tpl.
  std::string text() const {
    json values = {{"definition", text_.definition},
                   {"is_module", text_.is_module},
                   {"callable", moved(text_.callable)},
                   {"interpreted", form_.interpreted},
                   {"calls", calls()}};
    if (rewrites_graph())
      values["rewriting"] = {
          {"name", name_of_rewriting()}, {"has_attributes", has_attributes(program_)}, {"statements", call_.passes}};
    if (!call_.statements.empty() && !calls_in_line())
      values["compiled"] = {{"statements", call_.statements}, {"single", returns_tensor()}};
    for (const json &part : {run(), comparison()})
      values.update(part);
    return render("repro_body.py.tpl", values);
  }

private:
  /// In a test each tensor is made where the test is asked to be, or goes there.
  std::string moved(const std::string &expression) const {
    if (!is_test_ || !on_cpu() || text_.reads_files || expression == "f")
      return expression;
    return takes_a_device(expression) ? expression.substr(0, expression.size() - 1) + ", device=device)"
                                      : expression + ".to(device)";
  }

  bool ends_the_process() const { return !is_told_by_message(facts_.signature); }
  bool compares() const { return is_test_ || is_comparison(facts_.signature.kind); }

  bool on_cpu() const { return facts_.check.device.is_cpu(); }

  /// A program that raises has no result to compare; where it writes into its inputs, a test looks at those.
  bool leaves_state_alone() const {
    return is_test_ && program_.graph->outputs().empty() && text_.writes && !facts_.check.grad;
  }

  bool asks_for_state() const {
    if (leaves_state_alone())
      return true;
    const auto &results = facts_.reduced.outputs; // where one of them is wrong too, it says the same in fewer words
    return facts_.signature.where == "state" &&
           std::all_of(results.begin(), results.end(), [](const LeafReport &leaf) { return leaf.same; });
  }

  /// True if an input's text names another one, whose memory it shares, or a file.
  bool are_entwined() const {
    return text_.reads_files || std::any_of(text_.inputs.begin(), text_.inputs.end(), [](const auto &input) {
             return input.second.find("as_strided") != std::string::npos ||
                    input.second.find(".detach()") != std::string::npos;
           });
  }

  /// One real tensor that everything comes from: its mean's gradients are all there are to compare.
  bool is_plain_gradient() const {
    const auto is_complex = [](const ProgramInput &input) { return input.value.toTensor().is_complex(); };
    return !form_.general && program_.graph->outputs().size() == 1 && !has_attributes(program_) &&
           program_.graph->outputs()[0]->type()->kind() == c10::TypeKind::TensorType &&
           std::none_of(program_.inputs.begin(), program_.inputs.end(), is_complex);
  }

  Mode mode() const {
    const bool state = asks_for_state(), grad = facts_.check.grad && facts_.signature.where != "output" && !state;
    if (text_.draws || facts_.check.autocast || facts_.reduced.stateful)
      return Mode::Run;
    if (text_.is_module && (state || text_.writes))
      return Mode::Run;
    if (form_.general && (state || grad || text_.writes))
      return Mode::Run;
    if (state)
      return are_entwined() ? Mode::Run : Mode::State;
    if (grad)
      return is_plain_gradient() && !text_.writes && !text_.reads_files ? Mode::Gradient : Mode::Run;
    if (!text_.writes)
      return Mode::Plain;
    return are_entwined() || joined(expressions()).size() > most_inline ? Mode::Run : Mode::Inline;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> words;
    for (const auto &[name, tensor] : text_.inputs)
      words.push_back(name.ends_with(',') ? name.substr(0, name.size() - 1) : name);
    return words;
  }

  std::string tuple_of_inputs() const {
    const std::string words = joined(names());
    return "(" + words + (words.empty() || words.find(',') != std::string::npos ? ")" : ",)");
  }

  std::vector<std::string> expressions() const {
    std::vector<std::string> words;
    for (const auto &[name, tensor] : text_.inputs)
      words.push_back(moved(tensor));
    return words;
  }

  std::vector<std::string> names_with_gradients() const {
    std::vector<std::string> words;
    for (const auto &[name, tensor] : text_.inputs)
      if (tensor.find("requires_grad") != std::string::npos)
        words.push_back(name);
    return words;
  }

  json run() const {
    json inputs = json::array();
    for (const auto &[name, tensor] : text_.inputs)
      inputs.push_back({{"name", name}, {"tensor", moved(tensor)}});
    const bool repeats = repeats_inside();
    json values = {{"run", mode_ == Mode::Run},
                   {"inputs", inputs},
                   {"arguments", joined(names())},
                   {"repeated", repeats ? json{{"value", std::to_string(number_of_calls())}} : json(nullptr)},
                   {"indent", repeats ? "    " : ""}};
    if (mode_ != Mode::Run)
      return values;
    if (text_.draws)
      values["seed"] = std::to_string(facts_.check.seed);
    values["autocast"] = facts_.check.autocast ? "torch." + dtype_name(facts_.check.autocast_dtype) : "";
    values["device"] = c10::DeviceTypeName(facts_.check.device.type(), /*lower_case=*/true);
    const bool state = asks_for_state(), grad = facts_.check.grad && !state;
    values["forward_too"] = facts_.signature.where != "gradient";
    values["mean"] = grad && is_plain_gradient();
    values["loss"] = grad && !is_plain_gradient();
    values["state"] = state;
    values["plain"] = !grad && !state;
    std::vector<std::string> gradients, leaves = names();
    for (const auto &name : names_with_gradients())
      gradients.push_back(name + ".grad");
    if (text_.is_module && facts_.backend->traits().gradients == Gradients::All)
      leaves.insert(leaves.begin(), "*model.parameters()");
    values["gradients"] = joined(gradients);
    values["leaves"] = joined(leaves);
    return values;
  }

  bool rewrites_graph() const { return form_.constants || !call_.passes.empty(); }
  /// The statements of the call stand where they are read. Where they may raise they are a function, whose call is then
  /// the last statement.
  bool calls_in_line() const {
    return !call_.statements.empty() && mode_ == Mode::Plain && is_comparison(facts_.signature.kind) &&
           number_of_calls() == 1;
  }
  bool returns_tensor() const {
    const auto results = program_.graph->outputs();
    return results.size() == 1 && results[0]->type()->kind() == c10::TypeKind::TensorType;
  }
  /// A runtime returns a list of tensors, whatever they are parts of.
  bool has_flat_results() const {
    return !call_.statements.empty() &&
           std::any_of(program_.graph->outputs().begin(), program_.graph->outputs().end(),
                       [](const auto *result) { return result->type()->kind() != c10::TypeKind::TensorType; });
  }
  std::string name_of_rewriting() const { return form_.constants ? "with_constants" : "with_passes"; }
  std::string model() const { return text_.is_module ? "model" : "f"; }

  /// The optimised program: an expression of `model`.
  std::string optimised_of(const std::string &model) const {
    std::string words = rewrites_graph()            ? name_of_rewriting() + "(model)"
                        : !call_.statements.empty() ? "compiled(model)"
                                                    : call_.optimised;
    if (const size_t at = words.find("model"); at != std::string::npos)
      words.replace(at, 5, model);
    return words;
  }

  int number_of_calls() const {
    if (call_.plain_interpreter)
      return 1;
    const bool any_call = !is_comparison(facts_.signature.kind) && // which one raises is not known
                          facts_.backend->traits().needs_several_calls;
    return std::max({1, facts_.reduced.failing_call, any_call ? facts_.check.calls : 1});
  }

  /// In the function that makes the model: it keeps its state from call to call.
  bool repeats_inside() const { return mode_ == Mode::Run && text_.is_module && number_of_calls() > 1; }

  /// `callable` called as this mode calls.
  std::string called(const std::string &callable) const {
    const std::string arguments = joined(names());
    switch (mode_) {
    case Mode::Run:
      return "run(" + callable + ")";
    case Mode::Inline:
      return callable + "(" + joined(expressions()) + ")";
    case Mode::Gradient: {
      const std::vector<std::string> wanted = names_with_gradients();
      const std::string of = wanted.size() == 1 ? wanted.front() : "[" + joined(wanted) + "]";
      return "torch.autograd.grad(" + callable + "(" + arguments + ").mean(), " + of + ")" +
             (wanted.size() == 1 ? "[0]" : "");
    }
    case Mode::Plain:
    case Mode::State:
      return callable + "(" + arguments + ")";
    }
    return "";
  }

  std::string eager() const {
    std::string words;
    if (mode_ == Mode::Run && text_.is_module)
      words = called(form_.interpreted ? "eager" : "lambda model: model");
    else if (calls_in_line())
      words = "model(*inputs)";
    else
      words = called(form_.interpreted ? "eager(" + model() + ")" : model());
    return has_flat_results() && compares() ? "torch.utils._pytree.tree_leaves(" + words + ")" : words;
  }

  /// Returns what the optimised side is called by: a text of few words, or a name that `lines` give it first.
  std::string optimised(std::vector<std::string> &lines) const {
    if (mode_ == Mode::Run && text_.is_module) {
      const std::string words = optimised_of("model");
      const bool is_call = words.ends_with("(model)") && std::count(words.begin(), words.end(), '(') == 1;
      return is_call ? words.substr(0, words.size() - 7) : "lambda model: " + words;
    }
    const std::string words = optimised_of(model());
    if (!words.starts_with("lambda") && number_of_calls() == 1 && words.size() < 60)
      return words;
    lines.push_back("optimised = " + words);
    return "optimised";
  }

  /// Several inputs stand in lists: both sides leave something in theirs.
  void call_for_state(std::vector<std::string> &lines) const {
    const bool single = text_.inputs.size() == 1;
    const std::string expressions = joined(this->expressions());
    lines.push_back("expected = " + (single ? expressions : "[" + expressions + "]"));
    lines.emplace_back(single ? "found = expected.clone()" : "found = [x.clone() for x in expected]");
    const std::string star = single ? "" : "*";
    lines.push_back(model() + "(" + star + "expected)");
    const std::string callable = optimised(lines);
    lines.push_back(repeated(callable + "(" + star + "found)"));
  }

  /// Eager's run of a program that raises or dies when it is compiled. A death leaves no traceback: what is printed
  /// says that eager came to its end.
  std::string shown_eager() const {
    if (!ends_the_process() && program_.graph->outputs().empty())
      return eager() + "  # eager runs it";
    return "print(\"eager:\", " + eager() + (ends_the_process() ? ", flush=True)" : ")");
  }

  /// Returns the statement that fails. On a device what is printed is waited for: its errors show no sooner.
  std::string last_call(const std::string &call) const {
    if (on_cpu())
      return call;
    std::vector<std::string> printed = {call};
    if (program_.graph->outputs().empty() && (mode_ == Mode::Plain || mode_ == Mode::Gradient))
      printed.push_back(joined(names()));
    return "print(" + joined(printed) + ")";
  }

  /// Returns the statement that prints the two results. A tensor does not show each dtype.
  std::string printing() const {
    const bool of_dtype =
        facts_.signature.kind == FailureKind::Dtype && returns_tensor() && mode_ != Mode::State && !facts_.check.grad;
    const std::string attribute = of_dtype ? ".dtype" : "";
    return "print(f\"expected: {expected" + attribute + "}\\nfound:    {found" + attribute + "}\")";
  }

  std::string repeated(const std::string &statement) const {
    return number_of_calls() > 1 && !repeats_inside()
               ? "for _ in range(" + std::to_string(number_of_calls()) + "):\n    " + statement
               : statement;
  }

  std::vector<std::string> calls() const {
    std::vector<std::string> lines;
    if (mode_ == Mode::Plain || mode_ == Mode::Gradient)
      for (const auto &[name, tensor] : text_.inputs)
        lines.push_back(name + " = " + moved(tensor));
    if (calls_in_line())
      lines.push_back("model, inputs = " + moved(text_.callable) + ", " + tuple_of_inputs());
    else if (text_.is_module && mode_ != Mode::Run)
      lines.push_back("model = " + moved(text_.callable));
    if (mode_ == Mode::State && compares()) {
      call_for_state(lines);
    } else if (calls_in_line()) {
      lines.push_back("expected = " + eager());
      lines.insert(lines.end(), call_.statements.begin(), call_.statements.end());
      if (returns_tensor())
        lines.emplace_back("found = found[0]");
    } else {
      lines.push_back(compares() ? "expected = " + eager() : shown_eager());
      const std::string callable = optimised(lines);
      if (call_.plain_interpreter && (form_.interpreted || !call_.passes.empty()))
        lines.emplace_back("torch._C._set_graph_executor_optimize(False)  # the plain interpreter runs the result");
      lines.push_back(repeated(compares() ? "found = " + called(callable) : last_call(called(callable))));
    }
    if (compares() && !is_test_)
      lines.push_back(printing());
    return lines;
  }

  json comparison() const {
    if (!compares())
      return json::object();
    const bool several = program_.graph->outputs().size() > 1 || has_flat_results() ||
                         (mode_ == Mode::Run && (facts_.check.grad || asks_for_state())) ||
                         (mode_ == Mode::Gradient && names_with_gradients().size() > 1) ||
                         (mode_ == Mode::State && text_.inputs.size() > 1);
    return script_assertion(facts_, several);
  }

  const Program &program_;
  const PythonProgram &text_;
  const ReproFacts &facts_;
  const PythonCall &call_;
  const ScriptParts::Form &form_;
  const bool is_test_;
  const Mode mode_;
};

} // namespace

std::string script_body(const ScriptParts &parts, bool is_test) {
  return ScriptBody(parts, is_test).text();
}

} // namespace repro_minify
