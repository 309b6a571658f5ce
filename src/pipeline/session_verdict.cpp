// The words and refusals that the commands share for the verdict on the model itself: see session.h.
#include "repro_minify/session.h"

#include "repro_minify/backend_parts.h"

#include <stdexcept>
#include <system_error>

namespace repro_minify {

std::string eager_problem(const Session &session, const Verdict &verdict) {
  std::string text = session.shown_path() + ": eager itself failed: " + verdict.message;
  if (const auto named = session.unsteady_operators_in_words(); !named.empty())
    text += "; operators that need not give the same twice: " + named;
  return text;
}

UserError cannot_flatten(const Session &session, const CannotFlatten &error) {
  std::string text = session.shown_path() + ": cannot be flattened: " + error.what() + "; " + advice_on_flattening;
  if (!session.backend->traits().needs_flat_graph)
    text += " (`repro-minify run` takes the model as it is)";
  return UserError(text);
}

void require_one_backend(const Session &session) {
  if (!session.others.empty())
    throw UserError("--backend: names " + session.backend->name() + " and " + session.others.front()->name() +
                    ", but only a reduction takes several");
}

void require_checkable(const Session &session, const Verdict &verdict) {
  if (verdict.trouble == Verdict::Trouble::Bug)
    throw std::runtime_error(session.shown_path() + ": " + verdict.message);
  if (verdict.trouble == Verdict::Trouble::Memory)
    throw std::system_error(std::make_error_code(std::errc::not_enough_memory),
                            session.shown_path() + ": " + verdict.message);
  if (verdict.outcome == Verdict::Outcome::Unresolved && !verdict.eager_failed)
    throw UserError(session.shown_path() + ": cannot be checked: " + verdict.message);
  if (verdict.no_gradient_left)
    throw UserError(session.shown_path() + ": --grad has nothing to compare: it leaves out " + verdict.left_out +
                    (session.backend->traits().gradients == Gradients::IfItHasAny
                         ? "; leave out --grad"
                         : ", and no input requires a gradient; give inputs that do, or leave out --grad"));
}

void warn_of_missing_reference(const Session &session, const Verdict &verdict) {
  if (session.check.mode == CheckMode::Accuracy && has_arbiter(session.check.compare.rule) &&
      !verdict.no_fp64_because.empty())
    session.options.listener.say(Severity::Warning,
                                 "no fp64 reference (" + verdict.no_fp64_because + "): compared with eager alone");
}

} // namespace repro_minify
