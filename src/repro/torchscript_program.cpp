#include "repro/script_text.h"

#include "core/text.h"
#include "program/cpu_arguments.h"
#include "program/surgery.h"
#include "program/values.h"
#include "repro/repro_parts.h"
#include "repro/torchscript_source.h"

#include <sstream>

namespace repro_minify {
namespace {

/// A variable of the program may not have a name that the script itself uses.
std::string variable(const std::string &name) {
  static const auto taken = set_of_words("torch Repro f model graph node run call result results parts leaves leaf "
                                         "loss eager inputs found expected part optimised prepare e r error bound "
                                         "same p g print super gradients with_passes with_constants scripted map sum "
                                         "float any all max str range list isinstance getattr");
  return taken.contains(name) ? name + "_0" : name;
}

class Writer {
public:
  Writer(const Program &program, const ReproFacts &facts, PythonCalls calls, bool needs_module)
      : program_(program), facts_(facts), source_(python_source(torchscript_source(program), calls)),
        is_function_(source_.one_function && !needs_module && !has_attributes(program_)) {}

  PythonProgram written() const {
    PythonProgram result;
    if (!source_.types.empty())
      result.imports.push_back("from typing import " + joined(source_.types));
    result.imports.emplace_back("import torch");
    result.definition = is_function_ ? as_function(source_, "f") : as_class();
    result.callable = is_function_ ? "f" : "Repro().eval()";
    result.inputs = inputs();
    result.writes = writes_to_something(*program_.graph);
    result.draws = draws_random_numbers(*program_.graph);
    result.is_module = !is_function_;
    return result;
  }

private:
  /// The text of a tensor, which makes it on the CPU, with its way to the device of the failure. It is a leaf after it.
  std::string moved(std::string tensor) const {
    const std::string wish = ".requires_grad_()";
    const bool wants_gradient = tensor.ends_with(wish);
    if (facts_.check.device.is_cpu())
      return tensor;
    tensor.resize(tensor.size() - (wants_gradient ? wish.size() : 0));
    return tensor + ".to(\"" + facts_.check.device.str() + "\")" + (wants_gradient ? wish : "");
  }

  std::vector<std::pair<std::string, std::string>> inputs() const {
    TensorLiterals literals(facts_.check.grad, Language::Python);
    std::vector<std::pair<std::string, std::string>> list;
    const auto stays = inputs_on_cpu(*program_.graph); // an operator wants them there
    for (size_t i = 0; i < program_.inputs.size(); ++i)
      if (const ProgramInput &input = program_.inputs[i]; input.role == Role::Input) {
        const std::string text = literals.expression(input, variable(input.name));
        list.emplace_back(variable(input.name), stays[i] ? text : moved(text));
      }
    return list;
  }

  /// A statement that makes one attribute.
  std::string attribute(const ProgramInput &input, TensorLiterals &literals) const {
    std::string tensor = literals.expression(input, "self." + input.name);
    if (input.role != Role::Parameter)
      return "self.register_buffer(\"" + input.name + "\", " + moved(tensor) + ")";
    if (tensor.ends_with(".requires_grad_()"))
      tensor.resize(tensor.size() - 17);
    const bool grad = facts_.check.grad && input.value.toTensor().requires_grad();
    return "self." + input.name + " = torch.nn.Parameter(" + moved(tensor) +
           ", requires_grad=" + (grad ? "True" : "False") + ")";
  }

  std::string as_class() const {
    std::string text = "class Repro(torch.nn.Module):\n";
    if (has_attributes(program_)) {
      TensorLiterals literals(facts_.check.grad, Language::Python);
      text += "    def __init__(self):\n        super().__init__()\n";
      for (const auto &input : program_.inputs)
        if (input.role != Role::Input)
          text += "        " + attribute(input, literals) + "\n";
      text += "\n";
    }
    std::istringstream lines(source_.text);
    bool is_first = true;
    for (std::string line; std::getline(lines, line); is_first = false) {
      text += line.starts_with("def ") && !is_first ? "\n" : "";
      if (line.starts_with("def call_")) // outline_hidden_aliases()
        text += "    # apart from forward, where TorchScript would drop what is written to the result\n";
      text += (line.empty() ? "" : "    " + line) + "\n";
    }
    return text;
  }

  const Program &program_;
  const ReproFacts &facts_;
  const PythonSource source_;
  const bool is_function_;
};

} // namespace

PythonProgram torchscript_program(const Program &program, const ReproFacts &facts, PythonCalls calls,
                                  bool needs_module) {
  return Writer(program, facts, calls, needs_module).written();
}

} // namespace repro_minify
