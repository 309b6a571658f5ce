#include "repro/workaround.h"

#include "core/escape.h"
#include "core/number_text.h"
#include "core/text.h"
#include "repro/script_run.h"
#include "repro/triage.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <memory>
#include <utility>

namespace repro_minify {
namespace {

using Kind = Workaround::Kind;

/// A setting: what the worker is told, what a user writes, and the row of the ablation that has asked the same.
struct Setting {
  const char *entry, *code;
  Kind kind = Kind::Setting;
  const char *row = nullptr;
};

/// The cheapest first: each switches off something that code is generated for, the later ones what makes it quick.
constexpr Setting settings[] = {
    {"emulate_precision_casts=true", "torch._inductor.config.emulate_precision_casts = True", Kind::Setting,
     ablation_names::emulated},
    {"joint_graph_constant_folding=false", "torch._inductor.config.joint_graph_constant_folding = False"},
    {"pattern_matcher=false", "torch._inductor.config.pattern_matcher = False"},
    {"split_cat_fx_passes=false", "torch._inductor.config.split_cat_fx_passes = False"},
    {"cpp.enable_unsafe_math_opt_flag=false", "torch._inductor.config.cpp.enable_unsafe_math_opt_flag = False"},
    {"cpp.enable_floating_point_contract_flag=off",
     "torch._inductor.config.cpp.enable_floating_point_contract_flag = \"off\""},
    {"inplace_buffers=false", "torch._inductor.config.inplace_buffers = False"},
    {"allow_buffer_reuse=false", "torch._inductor.config.allow_buffer_reuse = False"},
    {"split_reductions=false", "torch._inductor.config.split_reductions = False"},
    {"layout_optimization=false", "torch._inductor.config.layout_optimization = False"},
    {"comprehensive_padding=false", "torch._inductor.config.comprehensive_padding = False"},
    {"dynamic=true", "torch.compile(model, dynamic=True)", Kind::Argument, ablation_names::dynamic},
    {"cpp.enable_loop_tail_vec=false", "torch._inductor.config.cpp.enable_loop_tail_vec = False"},
    {"epilogue_fusion=false", "torch._inductor.config.epilogue_fusion = False"},
    {"max_fusion_size=1", "torch._inductor.config.max_fusion_size = 1"},
    {"numerics=strict", "torch._inductor.config.numerics = \"strict\"", Kind::Setting, ablation_names::strict},
    {"cpp.simdlen=1", "torch._inductor.config.cpp.simdlen = 1", Kind::Setting, ablation_names::scalar}};

/// Another processor has headers of its own: to compile them in advance takes longer than to read them once.
bool has_other_headers(const Setting &setting) {
  return setting.row == ablation_names::scalar;
}

std::vector<std::string> entries_of(const Setting &setting) {
  if (has_other_headers(setting))
    return {setting.entry, "cpp_cache_precompile_headers=false"};
  return {setting.entry};
}

/// The lines with which repro.py runs.
std::string lines_of(const Setting &setting) {
  const char *quick = "\ntorch._inductor.config.cpp_cache_precompile_headers = False";
  return setting.code + std::string(has_other_headers(setting) ? quick : "");
}

/// The cache of compiled graphs, which knows nothing of lowerings, would answer from an earlier run.
constexpr const char *no_cache = "torch._inductor.config.fx_graph_cache = False";

constexpr int timed_calls = 20;
constexpr double least_cost = 1.1; // times as long; less is noise

/// Arithmetic that every model is made of: without its lowering nothing would be fused any more.
constexpr std::array arithmetic = {"aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor"};

constexpr size_t most_scripts = 2; ///< that run at a time

/// True for what can stand in a script as the name of an operator, with dots between its parts.
bool is_name(const std::string &text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
}

/// In which line a script has its first statement after what it defines: settings stand before it.
size_t first_call(const std::vector<std::string> &lines) {
  size_t after = 0;
  bool in_definition = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool is_statement = !lines[i].empty() && std::string(" \t)#").find(lines[i].front()) == std::string::npos;
    if (!is_statement)
      continue;
    const bool defines = lines[i].starts_with("def ") || lines[i].starts_with("class ") || lines[i].starts_with("@");
    if (in_definition && !defines)
      after = i;
    in_definition = defines;
  }
  return after;
}

class Search {
public:
  Search(const ReproFacts &facts, const WorkaroundQuestion &question)
      : facts_(facts), question_(question), script_(read_file(question.results + "/repro.py")) {}

  std::optional<Workaround> found() {
    if (std::optional<Workaround> setting = setting_found())
      return setting;
    for (const std::string &code : fallbacks())
      if (const Workaround tried{Kind::Fallback, code}; is_right(*started(tried)))
        return tried;
    if (of_reduced_alone_)
      return of_reduced_alone_;
    const Workaround eager{Kind::Eager, "torch.compiler.disable"};
    return is_right(*started(eager)) ? std::optional(eager) : std::nullopt;
  }

private:
  /// A failure from before TorchInductor generates code is not affected by its settings.
  bool is_of_code_generation() const { return !fails_under(facts_, ablation_names::aot_eager).value_or(false); }

  /// Operators that may be computed as eager computes them: those of the call that explains the failure, then the one
  /// whose lowering is guilty, which may be what reads that. None where another part is guilty.
  std::vector<std::string> fallbacks() const {
    if (!facts_.bisection || !facts_.bisection->guilty || facts_.bisection->kind != StepKind::Lowering)
      return {};
    std::vector<std::string> names;
    for (const auto &origin : explained_origins(facts_))
      if (origin.kind != "decomposition")
        names.push_back(fallback_for(origin.operator_name));
    names.push_back(fallback_for(facts_.bisection->name));
    std::erase(names, "");
    return names;
  }

  void throw_if_interrupted() const {
    if (question_.limits.interrupted && question_.limits.interrupted())
      throw Interrupted{};
  }

  /// A setting whose check passes, while repro.py runs with it: that takes as long as ten checks, which go on beside
  /// it.
  struct Tried {
    Workaround workaround;
    std::shared_ptr<const Backend> backend;
    std::unique_ptr<Task<ReproRun>> script;
  };

  std::optional<Workaround> setting_found() {
    const auto *library = facts_.backend->parts().library_settings;
    if (!library || !is_of_code_generation())
      return std::nullopt;
    for (const Setting &setting : settings) {
      if (!tried_.empty() && tried_.front().script->has_ended())
        if (std::optional<Workaround> found = taken())
          return found;
      const std::optional<bool> fails = setting.row ? fails_under(facts_, setting.row) : std::nullopt;
      const auto backend = library->under(entries_of(setting));
      if (fails.value_or(false) || (!fails && !mends(backend)))
        continue;
      tried_.push_back({{setting.kind, setting.code}, backend, started({setting.kind, lines_of(setting)})});
      if (tried_.size() == most_scripts)
        if (std::optional<Workaround> found = taken())
          return found;
    }
    while (!tried_.empty())
      if (std::optional<Workaround> found = taken())
        return found;
    return std::nullopt;
  }

  /// Waits for the script that was started first, and returns its setting if that is one for the model too.
  std::optional<Workaround> taken() {
    const Tried tried = std::move(tried_.front());
    tried_.pop_front();
    if (!is_right(*tried.script))
      return std::nullopt;
    Workaround found = about_model(tried.workaround, tried.backend);
    if (found.mends_model.value_or(true))
      return found;
    if (!of_reduced_alone_) // as what the last elements of a loop need, of which the model has others
      of_reduced_alone_ = std::move(found);
    return std::nullopt;
  }

  bool mends(const std::shared_ptr<const Backend> &backend) const {
    throw_if_interrupted();
    return check(question_.reduced, backend, facts_.check, question_.limits).outcome == Verdict::Outcome::Pass;
  }

  /// Starts repro.py with a workaround in it.
  std::unique_ptr<Task<ReproRun>> started(const Workaround &tried) const {
    throw_if_interrupted();
    const ScriptToRun script{
        .python = question_.python, .files = {{"repro.py", with_workaround(script_, tried)}}, .reads_files = true};
    return start_script(script, facts_, question_.results).first;
  }

  bool is_right(Task<ReproRun> &script) const {
    const JobEnd end = script.wait(question_.limits.interrupted).job_end;
    return end.ending == Ending::Exited && end.exit_code == 0;
  }

  Workaround about_model(Workaround workaround, const std::shared_ptr<const Backend> &backend) const {
    const Verdict verdict = check(question_.model, backend, facts_.check, question_.limits);
    if (verdict.outcome != Verdict::Outcome::Unresolved)
      workaround.mends_model = verdict.outcome == Verdict::Outcome::Pass;
    if (!workaround.mends_model.value_or(false) || !is_comparison(facts_.signature.kind))
      return workaround; // a model that raises has no time to compare with
    const auto time = [&](const std::shared_ptr<const Backend> &timed) {
      return measure_timing(question_.model, timed, facts_.check, timed_calls, question_.limits);
    };
    const std::optional<Timing> before = time(facts_.backend), after = time(backend);
    if (before && after && before->optimised_seconds > 0)
      workaround.times_as_long = after->optimised_seconds / before->optimised_seconds;
    return workaround;
  }

  const ReproFacts &facts_;
  const WorkaroundQuestion &question_;
  const std::string script_;
  std::deque<Tried> tried_;
  std::optional<Workaround> of_reduced_alone_; ///< a setting with which the model that it comes from fails still
};

/// "torch._inductor.config", which its code needs.
std::string module_of(const Workaround &workaround) {
  return workaround.code.substr(0, workaround.code.find('.', std::string("torch._inductor.").size()));
}

/// Returns the lines that a workaround adds before the first call of a script.
std::string added_lines(const std::string &script, const Workaround &workaround) {
  const std::string &code = workaround.code;
  const std::string module = module_of(workaround);
  const bool is_module = script.find("\nclass Repro") != std::string::npos;
  switch (workaround.kind) {
  case Kind::Setting:
    return "import " + module + "\n" + code + "\n";
  case Kind::Fallback:
    return "import " + module + "\n" + code + "\n" + no_cache + "\n";
  case Kind::Eager:
    return is_module ? "Repro.forward = torch.compiler.disable(Repro.forward)\n"
                     : "body = torch.compiler.disable(f)\n\n\ndef f(*inputs):\n    return body(*inputs)\n\n\n";
  case Kind::Argument:
    break;
  }
  return "";
}

} // namespace

std::string whole_operator_name(const std::string &name) {
  return name.find('.') == std::string::npos ? "aten." + name + ".default" : name;
}

std::string fallback_for(const std::string &name) {
  const std::string whole = whole_operator_name(name);
  if (!is_name(name) || std::find(arithmetic.begin(), arithmetic.end(), whole) != arithmetic.end())
    return "";
  return "torch._inductor.lowering.make_fallback(torch.ops." + whole + ", override_decomp=True)";
}

std::string with_workaround(const std::string &script, const Workaround &workaround) {
  const std::vector<std::string> lines = split_lines(script);
  std::string text;
  for (size_t i = 0, at = first_call(lines); i < lines.size(); ++i)
    text += (i == at ? added_lines(script, workaround) : "") + lines[i] + "\n";
  if (workaround.kind != Kind::Argument)
    return text;
  constexpr std::string_view call = "torch.compile(";
  if (const size_t found = text.rfind(call); found != std::string::npos) // the optimised side comes last
    text.replace(found, call.size(), "torch.compile(dynamic=True)(");
  return text;
}

std::optional<Workaround> find_workaround(const ReproFacts &facts, const WorkaroundQuestion &question) {
  if (!is_inductor(facts) || !facts.script.verified.value_or(false))
    return std::nullopt;
  return Search(facts, question).found();
}

std::string workaround_sentence(const ReproFacts &facts) {
  if (!facts.workaround)
    return "";
  const Workaround &workaround = *facts.workaround;
  if (workaround.kind == Kind::Eager)
    return std::string("`torch.compiler.disable` around these operators leaves them to eager, which breaks the graph "
                       "there; ") +
           (fails_under(facts, ablation_names::aot_eager).value_or(false)
                ? "it fails before TorchInductor, so that none of its settings helps."
                : "no setting of TorchInductor that was tried makes it right.");
  std::string text = markdown_code(workaround.code);
  if (workaround.kind == Kind::Fallback)
    text += " (after " + markdown_code("import " + module_of(workaround)) + ") with " + markdown_code(no_cache);
  text += " makes this program right";
  if (workaround.mends_model)
    text += *workaround.mends_model ? ", and the original model too" : "; the original model still fails";
  text += ".";
  if (workaround.times_as_long.value_or(0) >= least_cost)
    text += " A call of the model then takes " + rounded_text(*workaround.times_as_long) + " times as long.";
  return text;
}

} // namespace repro_minify
