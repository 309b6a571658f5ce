// repro.cpp and its CMakeLists.txt: one file that needs LibTorch alone, written as an engineer would write it for a bug
// report.
#include "check/run_program.h"
#include "check/verdict_text.h"
#include "core/text.h"
#include "program/cpu_arguments.h"
#include "program/operator_libraries.h"
#include "program/surgery.h"
#include "program/values.h"
#include "repro/render.h"
#include "repro/reported.h"
#include "repro/repro_parts.h"
#include "repro/repro_py.h"
#include "repro/results_folder.h"
#include "repro/script_run.h"
#include "repro/triage.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/record.h"
#include "repro_minify/repro.h"

#include <algorithm>
#include <functional>
#include <set>

namespace repro_minify {
namespace {

/// No operator hands as few elements to a second thread.
constexpr std::int64_t few_elements = 1000;

bool ends_the_process(const Signature &failure) {
  const FailureKind kind = failure.kind;
  return (kind == FailureKind::Crash && !is_told_by_message(failure)) || kind == FailureKind::Hang ||
         kind == FailureKind::Memory;
}

/// `share`: they are made first, by name.
json listed(const std::vector<std::pair<std::string, std::string>> &tensors, const Program &program,
            bool share = false) {
  json list = json::array();
  for (const auto &[name, expression] : tensors) {
    const auto is_it = [&, wanted = name](const ProgramInput &input) { return input.name == wanted; };
    const auto input = std::find_if(program.inputs.begin(), program.inputs.end(), is_it);
    list.push_back({{"name", name},
                    {"tensor", expression},
                    {"held", share ? name : expression},
                    {"is_parameter", input != program.inputs.end() && input->role == Role::Parameter}});
  }
  return list;
}

std::string braced(const std::vector<std::string> &words) {
  return "{" + joined(words) + "}";
}

/// The values that either template of repro.cpp is filled with.
class Values {
public:
  Values(const Program &program, const ReproFacts &facts, const ReproParts &parts, const BackendSource &source)
      : program_(program), facts_(facts), parts_(parts), source_(source) {}

  std::string template_name() const { return has_plain_form() ? "repro_plain.cpp.tpl" : "repro.cpp.tpl"; }

  json all() const {
    json values = {{"differs", differs_function(facts_, mentions_complex(), returns_plain_values())}};
    for (const json &part :
         {introduction(), environment(), module(), inputs(), run(), calls_and_kind(), settings(), plain_form()})
      values.update(part);
    return values;
  }

private:
  json introduction() const {
    json values = {{"headline", headline(program_, facts_)},
                   {"found", "Found:    " + facts_.reduced.message},
                   {"torch_version", facts_.torch_version},
                   {"version", facts_.version},
                   {"operators", facts_.libraries},
                   {"how_made", facts_.not_reduced ? "handed back"
                                                   : "minimised from " + counted(facts_.before.operators, "operator") +
                                                         " to " + std::to_string(facts_.after.operators)}};
    if (facts_.not_reduced)
      values["not_reduced"] = "NOT REDUCED: this is the model as it was given. " + *facts_.not_reduced + ".";
    if (facts_.bisection && facts_.bisection->guilty)
      values["guilty_step"] = bisection_sentence(facts_);
    if (facts_.reduced.failing_call > 1)
      values["failing_call"] = facts_.reduced.failing_call;
    if (facts_.original_failed < facts_.original_runs)
      values["rate"] = {{"failed", facts_.original_failed}, {"runs", facts_.original_runs}};
    return values;
  }

  json environment() const {
    std::set<std::string> torch(source_.includes.begin(), source_.includes.end());
    torch.insert({"torch/csrc/jit/runtime/graph_executor.h", "ATen/Parallel.h"});
    if (facts_.check.grad)
      torch.insert("torch/csrc/autograd/autograd.h");
    if (facts_.check.autocast)
      torch.insert("ATen/autocast_mode.h");
    if (on_cuda() && !is_comparison(facts_.signature.kind))
      torch.insert("torch/cuda.h");
    if (sets_determinism() || on_cuda())
      torch.insert("ATen/Context.h");
    if (parts_.files.inputs_from_file)
      torch.insert("torch/csrc/jit/serialization/pickle.h");
    return {
        {"torch_includes", torch},
        {"reads_files", parts_.files.inputs_from_file || parts_.files.module_from_file || !facts_.libraries.empty()},
        {"has_operators", !facts_.libraries.empty()},
        {"cublas_workspace", on_cuda() && sets_determinism()},
        {"uses_environment", !facts_.libraries.empty() || (on_cuda() && sets_determinism())},
        {"cuda", on_cuda()},
        {"device", facts_.check.device.str()}};
  }

  bool on_cuda() const { return facts_.check.device.is_cuda(); }
  bool sets_determinism() const { return facts_.needs_determinism && facts_.check.determinism != Determinism::Off; }

  /// One that is handed back is as the check has it: in eval mode, asking for gradients only where they are compared.
  json module() const {
    std::vector<std::string> constants;
    for (const auto &input : program_.inputs)
      if (input.role == Role::Constant)
        constants.push_back('"' + input.name + '"');
    const bool from_file = parts_.files.module_from_file, as_given = facts_.not_reduced.has_value();
    json values = {{"as_given", as_given},
                   {"train", facts_.train},
                   {"module_from_file", from_file && !as_given},
                   {"module_from_source", !from_file && !as_given},
                   {"attributes_share", parts_.attributes_share},
                   {"attributes", listed(parts_.attributes, program_, parts_.attributes_share)}};
    if (!as_given && from_file)
      values["program_in_file"] = parts_.script.empty() ? program_.graph->toString(false) : parts_.script;
    if (!as_given && !from_file)
      values["program"] = "\n" + parts_.script;
    if (parts_.has_constants)
      values["constant_list"] = braced(constants);
    return values;
  }

  json inputs() const {
    std::vector<std::string> names;
    for (const auto &[name, expression] : parts_.inputs)
      names.push_back(name);
    json values = {{"inputs_from_file", parts_.files.inputs_from_file},
                   {"inputs", listed(parts_.inputs, program_)},
                   {"input_list", braced(names)}};
    if (const auto stay = places_on_cpu(); !stay.empty())
      values["stay_on_cpu"] = braced(stay);
    return values;
  }

  /// Returns the places, among the inputs that are no attributes, of those that an operator wants on the CPU.
  std::vector<std::string> places_on_cpu() const {
    std::vector<std::string> places;
    const auto stays = inputs_on_cpu(*program_.graph);
    size_t place = 0;
    for (size_t i = 0; i < program_.inputs.size(); ++i)
      if (program_.inputs[i].role == Role::Input) {
        if (on_cuda() && stays[i])
          places.push_back(std::to_string(place));
        ++place;
      }
    return places;
  }

  /// True for a program that takes a statement for each side: it raises, or returns one tensor, which is another.
  bool has_plain_form() const {
    const bool is_usual = !facts_.not_reduced && facts_.libraries.empty() && !on_cuda() && !facts_.check.grad &&
                          !facts_.check.autocast && !sets_determinism() && !facts_.reads_unwritten.value_or(false) &&
                          !facts_.train && !per_call() && facts_.original_runs <= 1 && !views_as_dtype();
    const bool is_in_one_file = !parts_.files.inputs_from_file && !parts_.files.module_from_file &&
                                !parts_.has_constants && source_.file_scope.empty() && source_.files.empty();
    return is_usual && is_in_one_file && (facts_.signature.kind == FailureKind::Exception || returns_wrong_tensor()) &&
           !draws_random_numbers(*program_.graph);
  }

  json plain_form() const {
    constexpr size_t most = 70; // characters, with which the line has 120
    std::vector<std::string> expressions;
    for (const auto &[name, expression] : parts_.inputs)
      expressions.push_back(expression);
    const std::string list = braced(expressions);
    const bool may_use_threads =
        facts_.check.threads != 1 || std::any_of(program_.inputs.begin(), program_.inputs.end(), [](const auto &input) {
          return input.value.toTensor().numel() > few_elements;
        });
    std::vector<std::string> includes = source_.includes;
    if (may_use_threads)
      includes.emplace_back("ATen/Parallel.h");
    const bool is_exception = facts_.signature.kind == FailureKind::Exception;
    return {{"same", same_condition(facts_)},
            {"why_same", facts_.signature.kind == FailureKind::Accuracy ? predicate_of(facts_).why : ""},
            {"own_includes", includes},
            {"may_use_threads", may_use_threads},
            {"few_inputs", parts_.inputs_share || list.size() > most ? "" : list},
            {"found_in_words", is_exception ? "Found:    " + facts_.reduced.message : ""}};
  }

  bool returns_wrong_tensor() const {
    const auto outputs = program_.graph->outputs();
    return facts_.signature.where == "output" && !same_condition(facts_).empty() && outputs.size() == 1 &&
           outputs[0]->type()->kind() == c10::TypeKind::TensorType && !mentions_complex();
  }

  bool returns_dict() const {
    const auto outputs = program_.graph->outputs();
    return std::any_of(outputs.begin(), outputs.end(),
                       [](const Value *output) { return output->type()->kind() == c10::TypeKind::DictType; });
  }

  bool returns_plain_values() const {
    const std::function<bool(const c10::TypePtr &)> is_plain = [&](const c10::TypePtr &type) {
      if (type->kind() == c10::TypeKind::TensorType || type->kind() == c10::TypeKind::NoneType)
        return false;
      const auto parts = type->containedTypes();
      return parts.empty() ||
             (type->kind() == c10::TypeKind::DictType ? is_plain(parts.back())
                                                      : std::any_of(parts.begin(), parts.end(), is_plain));
    };
    const auto outputs = program_.graph->outputs();
    return facts_.not_reduced || // who knows
           std::any_of(outputs.begin(), outputs.end(), [&](const Value *output) { return is_plain(output->type()); });
  }

  bool views_as_dtype() const {
    return any_node(program_.graph->block(),
                    [](const Node *node) { return node->kind() == c10::Symbol::fromQualString(dtype_view_name); });
  }

  bool mentions_complex() const {
    const auto is_complex = [](const ProgramInput &input) { return input.value.toTensor().is_complex(); };
    const auto has_complex = [](const LeafReport &leaf) {
      return (leaf.ref_form && at::isComplexType(leaf.ref_form->dtype)) ||
             (leaf.res_form && at::isComplexType(leaf.res_form->dtype));
    };
    return facts_.not_reduced || // who knows
           std::any_of(program_.inputs.begin(), program_.inputs.end(), is_complex) ||
           first_leaf(facts_.reduced, has_complex).second;
  }

  json run() const {
    const bool state = facts_.signature.where == "state";
    return {{"returns_dict", returns_dict()},
            {"grad", facts_.check.grad},
            {"state", state},
            {"dtype_view", views_as_dtype()},
            {"run_needs_module", facts_.check.grad || state},
            {"seed", facts_.check.seed},
            {"autocast", facts_.check.autocast},
            {"device_type", on_cuda() ? "at::kCUDA" : "at::kCPU"},
            {"autocast_dtype", facts_.check.autocast_dtype == at::kHalf ? "at::kHalf" : "at::kBFloat16"},
            {"parameter_gradients", facts_.backend->traits().gradients == Gradients::All}};
  }

  json settings() const {
    json values = {{"threads", facts_.check.threads},
                   {"deterministic", sets_determinism()},
                   {"warn_only", facts_.check.determinism == Determinism::On ? "false" : "true"},
                   {"tf32", facts_.check.tf32},
                   {"marker", reproduction_marker(program_, facts_.signature)},
                   {"hang_seconds", facts_.hang_seconds}};
    if (facts_.reads_unwritten.value_or(false)) // what is allocated then holds the complement
      values["perturb"] = usual_perturbation;
    if (facts_.signature.kind == FailureKind::Memory && facts_.memory_bytes > 0)
      values["memory_limit"] = facts_.memory_bytes;
    return values;
  }

  /// A program that keeps state answers each call differently, eager too.
  bool per_call() const { return facts_.reduced.stateful && is_comparison(facts_.signature.kind); }

  int calls() const {
    const FailureKind kind = facts_.signature.kind;
    if (!facts_.backend->traits().needs_several_calls)
      return 1;
    // Which call raises is not known.
    const bool any_call = !is_comparison(kind);
    return std::max(facts_.reduced.failing_call, any_call ? facts_.check.calls : 1);
  }

  json calls_and_kind() const {
    const FailureKind kind = facts_.signature.kind;
    json values = {{"backend_title", facts_.backend->title()},
                   {"prepare", source_.prepare},
                   {"file_scope", source_.file_scope},
                   {"expected_type", per_call() ? "std::vector<c10::IValue>" : "c10::IValue"},
                   {"expected_name", per_call()            ? "expected_of_call"
                                     : is_comparison(kind) ? "expected"
                                                           : ""},
                   {"per_call", per_call()},
                   {"loops", calls() > 1 || per_call()},
                   {"calls", calls()},
                   {"kind", to_string(kind)},
                   {"compares", is_comparison(kind)},
                   {"ends_the_process", ends_the_process(facts_.signature)}};
    for (const auto one : {FailureKind::Structure, FailureKind::Exception, FailureKind::Hang, FailureKind::Memory})
      values[to_string(one)] = kind == one;
    values["exception"] = is_told_by_message(facts_.signature);
    return values;
  }

  const Program &program_;
  const ReproFacts &facts_;
  const ReproParts &parts_;
  const BackendSource &source_;
};

} // namespace

ReproFiles write_repro(const Program &program, const ReproFacts &facts, const std::string &folder) {
  write_repro_py(program, facts, folder);
  if (!has_cpp(facts))
    return {};
  if (!facts.no_package_because.empty()) {
    write_runner(program, facts, folder);
    return {};
  }
  // A model that is handed back as it was given is in the files, all of it.
  const ReproParts parts = facts.not_reduced ? ReproParts{.files = {.inputs_from_file = true, .module_from_file = true}}
                                             : repro_parts(program, facts.check.grad);
  const GeneratedSource *generated = facts.backend->parts().generated;
  const BackendSource source = generated ? generated->source_for(program, facts.check) : facts.backend->source();
  const Values values(program, facts, parts, source);
  write_atomically(folder + "/repro.cpp", render(values.template_name(), values.all()));
  write_atomically(folder + "/CMakeLists.txt", repro_cmake_lists(source.libraries, !facts.libraries.empty()));
  for (const auto &[name, text] : source.files)
    write_atomically(folder + "/" + name, text);
  return parts.files;
}

} // namespace repro_minify
