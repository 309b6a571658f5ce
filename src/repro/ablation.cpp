// The ablation of issue.md: what the reduced program does under everything else.
#include "program/compute.h"
#include "repro/triage.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/repro.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace repro_minify {
namespace {

std::string in_words(const Verdict &verdict, const Signature &wanted) {
  switch (verdict.outcome) {
  case Verdict::Outcome::Pass:
    return "passes";
  case Verdict::Outcome::Unresolved:
    return "not known: " + verdict.message;
  case Verdict::Outcome::Fail:
    break;
  }
  if (shows(verdict, wanted))
    return "fails in the same way";
  const Signature &another = verdict.signatures.front(); // whose text has no numbers
  const bool has_message = another.kind == FailureKind::Exception && !verdict.message.empty();
  return "fails otherwise: " + (has_message ? "exception: " + first_sentence(verdict.message) : to_string(another));
}

/// `same_backend`: the messages of exceptions can be compared, so that another exception is another failure.
AblationRow row_of(const std::string &what, const Verdict &verdict, const Signature &wanted, bool same_backend) {
  const bool by_message = same_backend && wanted.kind == FailureKind::Exception;
  std::optional<bool> fails;
  if (verdict.outcome == Verdict::Outcome::Pass)
    fails = false;
  else if (shows(verdict, wanted, by_message ? SameFailure::Strict : SameFailure::Kind))
    fails = true;
  AblationRow row{what, in_words(verdict, wanted), fails};
  row.has_answer = verdict.outcome != Verdict::Outcome::Unresolved;
  return row;
}

std::string with_grad(bool grad) {
  return grad ? ", with gradients" : ", without gradients";
}

/// One way to set TorchInductor up.
struct Variant {
  std::string what;
  std::vector<std::string> config = {};
  std::string setting = {}; ///< AblationRow::setting
};

Variant with_setting(const std::string &setting, const std::vector<std::string> &config) {
  return {std::string(ablation_names::inductor) + ", " + setting, config, setting};
}

/// The front ends of TorchInductor without the code that it generates: each runs what the one before it runs, and more.
std::vector<Variant> ladder() {
  return {{ablation_names::dynamo, {"backend=eager"}},
          {ablation_names::aot_eager, {"backend=aot_eager"}},
          {ablation_names::partitioned, {"backend=aot_eager_decomp_partition"}}};
}

/// The parts of AOTAutograd, one by one (rungs.py).
std::vector<Variant> parts_of_aot_eager() {
  return {{ablation_names::functionalized, {"backend=functionalize"}},
          {ablation_names::decomposed, {"backend=decompositions"}}};
}

/// Settings of its code generation.
std::vector<Variant> settings_of_inductor() {
  return {with_setting(ablation_names::emulated, {"emulate_precision_casts=true"}),
          // Its header would be precompiled for this one kernel.
          with_setting(ablation_names::scalar, {"cpp.simdlen=1", "cpp_cache_precompile_headers=false"}),
          with_setting(ablation_names::dynamic, {"dynamic=true"})};
}

/// The modes of PyTorch 2.15 in which it promises eager's numbers, the quickest first; an older one has no answer.
std::vector<Variant> modes_of_numerics() {
  std::vector<Variant> modes;
  for (const char *mode : {"numerics=strict_pointwise", "numerics=strict_reduction", ablation_names::strict})
    modes.push_back(with_setting(mode, {mode}));
  return modes;
}

/// Asks one after the other, and ends early once `limits` say so.
class Ablation {
public:
  Ablation(const ModuleFactory &factory, const ReproFacts &facts, const Limits &limits, BackendOptions options = {})
      : factory_(factory), facts_(facts), limits_(limits), options_(std::move(options)) {}

  std::vector<AblationRow> of_backends() && {
    const std::string name = facts_.backend->name();
    rows_.push_back(
        row_of(name + with_grad(facts_.check.grad), facts_.reduced, facts_.signature, false)); // seen before
    if (facts_.signature.where != "gradient" && facts_.signature.kind != FailureKind::Gradient) {
      CheckOptions other = facts_.check;
      other.grad = !other.grad;
      ask(name + with_grad(other.grad), facts_.backend, other);
    }
    if (is_inductor(facts_)) // TorchScript is another tracker's concern
      return std::move(rows_);
    for (const char *other : {"freeze", "jit", "nnc", "optimize-for-inference", "static-runtime"})
      if (name != other && !facts_.not_reduced)
        ask_named(other);
    return std::move(rows_);
  }

  /// Asks inductor itself in the Python that is there, else in one of its own.
  std::vector<AblationRow> of_inductor() && {
    if (is_inductor(facts_)) {
      ask_ladder();
      ask(settings_of_inductor());
      if (facts_.signature.kind == FailureKind::Accuracy || facts_.signature.kind == FailureKind::Gradient)
        ask_modes_of_numerics();
    } else {
      ask({{ablation_names::inductor}});
      if (!rows_.empty() && rows_.back().fails.value_or(false))
        ask_ladder(); // which part of torch.compile it is
    }
    return std::move(rows_);
  }

private:
  bool stops() const { return limits_.interrupted && limits_.interrupted(); }

  void add(const std::function<AblationRow()> &make_row) {
    if (stops())
      return;
    const AblationRow row = make_row();
    if (!stops())
      rows_.push_back(row);
  }

  void ask(const std::string &what, const std::shared_ptr<const Backend> &backend, const CheckOptions &options) {
    add([&] { return row_of(what, check(factory_, backend, options, limits_), facts_.signature, false); });
  }

  /// One that cannot be used here has no row.
  void ask_named(const std::string &name) {
    try {
      const std::shared_ptr<const Backend> backend = make_backend(name, {});
      if (unusable_because(*backend).empty())
        ask(name, backend, facts_.check);
    } catch (const std::exception &) {
    }
  }

  void ask(const std::vector<Variant> &variants) {
    for (const Variant &variant : variants)
      add([&] {
        AblationRow row = row_under(variant);
        row.setting = variant.setting;
        return row;
      });
  }

  void ask_ladder() {
    ask(ladder());
    const auto at_fault = [](const AblationRow &row) {
      return row.what == ablation_names::aot_eager && row.fails.value_or(false);
    };
    if (std::any_of(rows_.begin(), rows_.end(), at_fault))
      ask(parts_of_aot_eager());
  }

  /// Until one of them makes it right: the others are slower.
  void ask_modes_of_numerics() {
    for (const Variant &mode : modes_of_numerics()) {
      ask({mode});
      if (rows_.empty() || rows_.back().what != mode.what || !rows_.back().fails.value_or(false))
        return;
    }
  }

  AblationRow row_under(const Variant &variant) const {
    try {
      const auto *settings = facts_.backend->parts().library_settings;
      const auto backend = settings ? settings->under(variant.config) : inductor(variant.config);
      return row_of(variant.what, check(factory_, backend, facts_.check, limits_), facts_.signature,
                    is_inductor(facts_));
    } catch (const CannotBeAsked &error) {
      return {variant.what, std::string("not asked: ") + error.what(), std::nullopt};
    } catch (const std::exception &error) {
      return {variant.what, "not known: " + first_sentence(error.what()), std::nullopt, "", false};
    } catch (const Interrupted &) {
      return {variant.what, "not asked", std::nullopt}; // add() drops this row
    }
  }

  struct CannotBeAsked : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  /// Returns TorchInductor with `config` added. The user's options for TorchInductor itself are kept; the others belong
  /// to another backend. Throws CannotBeAsked if it cannot be used.
  std::shared_ptr<const Backend> inductor(const std::vector<std::string> &config) const {
    BackendOptions options;
    options.interrupted = limits_.interrupted;
    options.python = options_.python;
    options.libraries = options_.libraries;
    options.imports = options_.imports;
    options.inductor_config = options_.inductor_config;
    options.inductor_config.insert(options.inductor_config.end(), config.begin(), config.end());
    std::shared_ptr<const Backend> backend = make_backend("inductor", options);
    if (const std::string problem = unusable_because(*backend); !problem.empty())
      throw CannotBeAsked(problem);
    start_backend(*backend);
    await_backend(*backend);
    return backend;
  }

  const ModuleFactory &factory_;
  const ReproFacts &facts_;
  const Limits &limits_;
  const BackendOptions options_;
  std::vector<AblationRow> rows_;
};

} // namespace

std::optional<bool> fails_under(const ReproFacts &facts, const std::string &what) {
  for (const auto &row : facts.ablation)
    if (row.what == what || row.setting == what)
      return row.fails;
  return std::nullopt;
}

bool has_row(const ReproFacts &facts, const std::string &what) {
  return std::any_of(facts.ablation.begin(), facts.ablation.end(), [&](const auto &row) { return row.what == what; });
}

std::vector<AblationRow> ablate(const ModuleFactory &factory, const ReproFacts &facts, const Limits &limits) {
  if (facts.backend->parts().tracker) // its steps say more: torch.export alone, and what the runtime can switch off
    return {};
  return Ablation(factory, facts, limits).of_backends();
}

std::vector<AblationRow> ablate_inductor(const ModuleFactory &factory, const ReproFacts &facts, const Limits &limits,
                                         const BackendOptions &options) {
  if (facts.not_reduced && !is_inductor(facts))
    return {{ablation_names::inductor, "not asked: it is given flat programs only", std::nullopt}};
  return Ablation(factory, facts, limits, options).of_inductor();
}

} // namespace repro_minify
