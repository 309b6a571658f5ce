#include "core/text.h"
#include "program/surgery.h"
#include "repro/repro_py.h"
#include "repro/script_text.h"
#include "repro/torchscript_source.h"
#include "repro/triage.h"

#include <algorithm>

namespace repro_minify {
namespace {

constexpr size_t most_script_bytes = size_t{32} * 1024; // it is pasted into an issue, with everything else

// A constant that a search has left matters: where it did not it would be an argument (reduce/passes/inputs.cpp).
constexpr ScriptParts::Form forms[] = {{PythonCalls::AsUsual, false, false, true}, {PythonCalls::AsUsual, false, false},
                                       {PythonCalls::AsUsual, false, true},        {PythonCalls::AsUsual, true, true},
                                       {PythonCalls::AsAten, false, true},         {PythonCalls::AsAten, true, true}};

/// True if the program can be written with the constants that it has: no pass that Python names takes part, as its
/// script has them in any case, and nothing else is an attribute.
bool can_have_constants(const Program &program, const PythonCall &call) {
  return call.optimised == scripted_call().optimised && call.passes.empty() && has_role(program, Role::Constant) &&
         !has_role(program, Role::Parameter) && !has_role(program, Role::Buffer);
}

std::string why_none(const ReproFacts &facts) {
  if (!facts.backend->parts().python_call)
    return "Python does not reach " + facts.backend->title();
  if (facts.not_reduced)
    return "the model could not be reduced";
  return "";
}

/// Returns how the backend is called. A fault of torch.export is shown without the runtime behind it.
PythonCall call_of(const ReproFacts &facts) {
  PythonCall call = *facts.backend->parts().python_call;
  if (is_fault_of_export(facts)) {
    call.settings.clear();
    call.statements.clear();
    call.optimised = "lambda *inputs: torch.export.export(model, inputs).module()(*inputs)";
  }
  return call;
}

/// Collects the ways to write a program, each once.
class Scripts {
public:
  Scripts(const Program &given, const ReproFacts &facts)
      : given_(given), program_(constants_as_buffers(given)), facts_(facts), call_(call_of(facts)) {}

  ReproScripts collected() && {
    if (const ReproInPython *own = facts_.backend->parts().repro_in_python)
      add_those_of(*own);
    else
      add_from_torchscript();
    return std::move(scripts_);
  }

private:
  void add(PythonProgram text, const PythonCall &call, const ScriptParts::Form &form) {
    const FailureKind kind = facts_.signature.kind;
    text.draws = text.draws && kind != FailureKind::Dtype && kind != FailureKind::Shape; // whatever is drawn
    const ScriptParts parts{program_, text, facts_, call, form};
    ReproScripts::Script script{script_text(parts), text.statement, text.reads_files};
    if (facts_.backend->parts().repro_in_python && can_be_tested())
      script.test = test_text(parts);
    if (script.text.size() > most_script_bytes && !text.reads_files) {
      scripts_.none_because = "its inputs are too large to be written down";
      return;
    }
    const auto is_it = [&](const ReproScripts::Script &other) { return other.text == script.text; };
    if (std::none_of(scripts_.scripts.begin(), scripts_.scripts.end(), is_it))
      scripts_.scripts.push_back(std::move(script));
  }

  /// A crash would take the other tests with it, and PyTorch's have no other runtime.
  bool can_be_tested() const {
    if (!is_part_of_pytorch(*facts_.backend) && !is_fault_of_export(facts_))
      return false;
    return is_comparison(facts_.signature.kind) || facts_.signature.kind == FailureKind::Exception;
  }

  void add_those_of(const ReproInPython &own) {
    const auto programs = own.python_programs(program_, facts_for_python(facts_));
    for (const PythonProgram &text : programs)
      for (const ScriptParts::Form &form : {forms[1], forms[2]})
        add(text, call_, form);
    if (facts_.check.threads == 1) { // kernels for more may fail in another way
      PythonCall single = call_;
      single.settings.push_back("torch.set_num_threads(1)  # it does not show with more");
      for (const PythonProgram &text : programs)
        add(text, single, forms[1]);
    }
    if (call_.without_front_end.empty())
      return;
    PythonCall straight = call_;
    straight.optimised = call_.without_front_end;
    straight.settings.push_back(call_.import_without_front_end);
    for (const PythonProgram &text : programs)
      add(text, straight, forms[2]);
  }

  void add_from_torchscript() {
    if (facts_.reduced.stateful) {
      scripts_.none_because = "the program keeps state from call to call";
      return;
    }
    for (const ScriptParts::Form &form : forms) {
      if ((form.interpreted && call_.eager_is_python) || (form.constants && !can_have_constants(given_, call_)))
        continue;
      add(torchscript_program(program_, facts_, form.calls, call_.needs_module), call_, form);
    }
  }

  const Program &given_;
  const Program program_;
  const ReproFacts &facts_;
  const PythonCall call_;
  ReproScripts scripts_;
};

} // namespace

ReproScripts repro_scripts(const Program &given, const ReproFacts &facts) {
  if (const std::string none = why_none(facts); !none.empty())
    return {{}, none};
  try {
    ReproScripts scripts = Scripts(given, facts).collected();
    if (!scripts.scripts.empty())
      scripts.none_because.clear();
    return scripts;
  } catch (const std::exception &error) {
    return {{}, std::string("the program has no Python: ") + error.what()};
  }
}

int lines_of_code(const std::string &script) {
  int count = 0;
  for (const std::string &line : split_lines(script)) {
    const size_t begin = line.find_first_not_of(' ');
    count += begin != std::string::npos && line[begin] != '#';
  }
  return count;
}

} // namespace repro_minify
