// The ablation of issue.md: what the reduced program does under everything else.
#include "emit/ablation_names.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/repro.h"

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
  return shows(verdict, wanted) ? "fails in the same way" : "fails otherwise: " + to_string(verdict.signatures.front());
}

class Ablation {
public:
  Ablation(const Subject &subject, const ReproFacts &facts, const Limits &limits,
           const std::function<bool()> &interrupted)
      : subject_(subject), facts_(facts), limits_(limits), interrupted_(interrupted) {}

  std::vector<AblationRow> rows(bool inductor) && {
    add(facts_.backend->name() + with_grad(facts_.check.grad), facts_.reduced); // that was seen, time and again
    if (facts_.signature.where != "gradient" && facts_.signature.kind != FailureKind::Gradient) {
      CheckOptions other = facts_.check;
      other.grad = !other.grad;
      add(facts_.backend->name() + with_grad(other.grad), facts_.backend, other);
    }
    if (is_inductor() && inductor)
      add_parts_of_inductor();
    add_torchscript();
    if (!is_inductor() && inductor)
      add_inductor(ablation_names::inductor, {});
    return std::move(rows_);
  }

private:
  static std::string with_grad(bool grad) { return grad ? ", with gradients" : ", without gradients"; }
  bool is_inductor() const { return facts_.backend->name() == "inductor"; }
  bool stops() const { return interrupted_ && interrupted_(); }

  void add(const std::string &what, const std::shared_ptr<const Backend> &backend, const CheckOptions &options) {
    if (stops())
      return;
    add(what, check(subject_, backend, options, limits_));
  }

  void add(const std::string &what, const Verdict &verdict) {
    rows_.push_back({what, in_words(verdict, facts_.signature), verdict.outcome == Verdict::Outcome::Fail});
  }

  /// One that cannot be used here has no row.
  void add_named(const std::string &what, const std::string &backend_name, const BackendOptions &options) {
    if (stops())
      return;
    try {
      const std::shared_ptr<const Backend> backend = make_backend(backend_name, options);
      if (!unusable_because(*backend).empty())
        return;
      start_backend(*backend);
      await_backend(*backend);
      add(what, backend, facts_.check);
    } catch (const std::exception &) {
    }
  }

  void add_torchscript() {
    for (const char *name : {"freeze", "jit", "nnc", "optimize-for-inference", "static-runtime"})
      if (facts_.backend->name() != name && !facts_.not_reduced)
        add_named(name, name, {});
  }

  void add_inductor(const std::string &what, const std::vector<std::string> &config, bool emulates = false) {
    BackendOptions options;
    options.inductor_config = config;
    options.emulate_precision_casts = emulates;
    add_named(what, "inductor", options);
  }

  void add_parts_of_inductor() {
    add_inductor("torch.compile, backend=eager", {"backend=eager"});
    add_inductor(ablation_names::aot_eager, {"backend=aot_eager"});
    add_inductor(ablation_names::emulated, {}, /*emulates=*/true);
    add_inductor("inductor, cpp.simdlen=1", {"cpp.simdlen=1"});
    add_inductor("inductor, dynamic=True", {"dynamic=true"});
  }

  const Subject &subject_;
  const ReproFacts &facts_;
  const Limits &limits_;
  const std::function<bool()> &interrupted_;
  std::vector<AblationRow> rows_;
};

} // namespace

std::optional<bool> fails_under(const ReproFacts &facts, const std::string &what) {
  for (const auto &row : facts.ablation)
    if (row.what == what)
      return row.fails;
  return std::nullopt;
}

std::vector<AblationRow> ablate(const Subject &subject, const ReproFacts &facts, const Limits &limits, bool inductor,
                                const std::function<bool()> &interrupted) {
  return Ablation(subject, facts, limits, interrupted).rows(inductor);
}

} // namespace repro_minify
