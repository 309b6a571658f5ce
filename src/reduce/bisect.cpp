#include "repro_minify/bisect.h"

#include "check/device_service.h"
#include "core/json.h"
#include "reduce/search.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace repro_minify {
namespace {

class Bisector {
public:
  Bisector(const ModuleFactory &factory, const std::shared_ptr<const Backend> &backend, const BisectOptions &options)
      : factory_(factory), backend_(backend), options_(options),
        check_with_(
            factory,
            [backend](const std::string &names) {
              return backend->parts().steps->with(json::parse(names).get<std::vector<std::string>>());
            },
            options.check, options.limits) {
    found_.steps = own() ? own()->what_can_go() : steps_of(*backend);
  }

  Bisection run() {
    const auto begin = std::chrono::steady_clock::now();
    if (own())
      ask_own(*own());
    else
      search_steps();
    found_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return found_;
  }

private:
  const OwnBisector *own() const { return backend_->parts().bisector; }

  void ask_own(const OwnBisector &own) {
    const auto finding = own.bisect([&](const std::shared_ptr<const Backend> &variant, const std::string &what) {
      return fails([&] { return checked(variant); }, what, std::nullopt);
    });
    if (!finding) {
      found_.message = "the failure does not show under the bisector of " + backend_->name();
      return;
    }
    found_.guilty = finding->guilty;
    found_.pass = finding->pass;
    found_.kind = finding->kind;
    found_.name = finding->name;
    found_.setting = finding->setting;
    found_.confirmed = finding->confirmed;
    found_.message = "wrong after " + finding->guilty;
    found_.note = finding->note;
  }

  void search_steps() {
    const int count = static_cast<int>(found_.steps.size());
    const auto search =
        find_guilty_step(count, [&](const std::vector<int> &steps) { return fails(steps, what(steps)); });
    if (search.step) {
      found_.guilty = name(*search.step);
      found_.pass = backend_->parts().steps->pass_of(*found_.guilty);
      found_.confirmed = search.passes_without;
      for (int step : search.needs)
        if (!goes_without_saying(step, search))
          found_.needs.push_back(name(step));
      if (!found_.confirmed)
        ask_without_pass();
      ask_switch();
    }
    found_.message = message(search);
    found_.note = note();
  }

  const std::string &name(int step) const { return found_.steps[static_cast<size_t>(step)]; }

  /// "Peephole/Lists" is a part of "Peephole", and cannot run without it.
  bool goes_without_saying(int step, const GuiltySearch &search) const {
    const auto is_part = [&](int other) { return name(other).rfind(name(step) + "/", 0) == 0; };
    return is_part(*search.step) || std::any_of(search.needs.begin(), search.needs.end(), is_part);
  }

  Verdict checked(const std::shared_ptr<const Backend> &variant) const {
    return check(factory_, variant, options_.check, options_.limits);
  }

  /// `what`: in words.
  bool fails(const std::vector<int> &steps, const std::string &what) {
    const auto known = answers_.find(steps);
    return known != answers_.end() ? known->second : answers_[steps] = asked(steps, what);
  }

  bool asked(const std::vector<int> &steps, const std::string &what) {
    json names = json::array();
    for (int step : steps)
      names.push_back(name(step));
    return fails([&] { return check_with_(names.dump()); }, what, static_cast<int>(steps.size()));
  }

  bool is_another_exception(const Verdict &verdict) const {
    return options_.wanted.kind == FailureKind::Exception &&
           std::any_of(verdict.signatures.begin(), verdict.signatures.end(),
                       [](const Signature &signature) { return signature.kind == FailureKind::Exception; });
  }

  bool fails(const std::function<Verdict()> &checked, const std::string &what, std::optional<int> steps) {
    if (options_.interrupted && options_.interrupted())
      throw Interrupted();
    const auto is_wanted = [&](const Verdict &verdict) {
      return shows(verdict, options_.wanted, options_.same_failure) ||
             (own() && own()->is_chain() && is_another_exception(verdict));
    };
    const Verdict verdict = check_repeatedly(checked, is_wanted, options_.repetition);
    if (options_.interrupted && options_.interrupted())
      throw Interrupted(); // the check may have been cut short
    if (verdict.no_answer) // neither guilty nor innocent
      throw UserError("bisect: a check had no answer (" + what + "): " + verdict.message);
    found_.checks.push_back(
        {what, steps, is_wanted(verdict), verdict.outcome == Verdict::Outcome::Unresolved, verdict.message});
    if (options_.progress)
      options_.progress(static_cast<int>(found_.checks.size()));
    return found_.checks.back().fails;
  }

  std::string what(const std::vector<int> &steps) const {
    const size_t all = found_.steps.size();
    if (steps.empty())
      return "no step";
    if (steps.size() == all)
      return "all steps";
    if (steps.size() + 1 == all)
      for (size_t i = 0; i < all; ++i)
        if (i == steps.size() || static_cast<size_t>(steps[i]) != i)
          return "all but " + found_.steps[i];
    if (static_cast<size_t>(steps.back()) + 1 == steps.size())
      return "up to " + name(steps.back());
    if (steps.size() == 1)
      return name(steps[0]) + " alone";
    return joined(steps);
  }

  /// Rows of steps as "first to last".
  std::string joined(const std::vector<int> &steps) const {
    std::string text;
    for (size_t i = 0; i < steps.size();) {
      size_t last = i;
      while (last + 1 < steps.size() && steps[last + 1] == steps[last] + 1)
        ++last;
      text += (text.empty() ? "" : ", ") + name(steps[i]) + (last > i ? " to " + name(steps[last]) : "");
      i = last + 1;
    }
    return text;
  }

  void ask_switch() {
    if (const std::shared_ptr<const Backend> backend = backend_->parts().steps->switched_off(*found_.guilty))
      found_.confirmed_by_switch =
          !fails([&] { return checked(backend); }, *found_.guilty + " off by PyTorch's own switch",
                 static_cast<int>(found_.steps.size()) - 1);
  }

  /// The pass is guilty wherever it runs, and does the same again later.
  void ask_without_pass() {
    std::vector<int> others;
    for (int step = 0; step < static_cast<int>(found_.steps.size()); ++step)
      if (backend_->parts().steps->pass_of(name(step)) != found_.pass)
        others.push_back(step);
    if (others.size() + 1 < found_.steps.size())
      found_.confirmed_each_time = !fails(others, "all but " + found_.pass + " each time");
  }

  std::string message(const GuiltySearch &search) const {
    if (!search.fails_with_all)
      return "the failure does not show when the steps of " + backend_->name() + " are counted";
    if (search.fails_with_none)
      return "wrong without any of the steps of " + backend_->name() + " that can be left out";
    return "wrong after " + *found_.guilty;
  }

  std::string note() const {
    if (!found_.guilty)
      return "";
    std::string text;
    for (const auto &step : found_.needs)
      text += (&step == found_.needs.data() ? "It takes " : &step == &found_.needs.back() ? " and " : ", ") + step;
    text += found_.needs.empty() ? "" : " before it. ";
    text += found_.confirmed ? "All the other steps together do no harm."
            : found_.confirmed_each_time.value_or(false)
                ? "Without it the same pass does it again later; without that pass altogether the result is right."
                : "Also wrong without it: a later step does the same.";
    if (found_.confirmed_by_switch)
      text += *found_.confirmed_by_switch ? " Switched off by PyTorch's own switch the result is right."
                                          : " Switched off by PyTorch's own switch it is still wrong.";
    return text;
  }

  const ModuleFactory &factory_;
  const std::shared_ptr<const Backend> &backend_;
  const BisectOptions &options_;
  VariantChecks check_with_; ///< of names of steps, as JSON
  std::map<std::vector<int>, bool> answers_;
  Bisection found_;
};

} // namespace

bool has_steps(const Backend &backend) {
  return backend.parts().bisector || !steps_of(backend).empty();
}

Bisection bisect(const ModuleFactory &factory, const std::shared_ptr<const Backend> &backend,
                 const BisectOptions &options) {
  return Bisector(factory, backend, options).run();
}

std::string to_json(const Bisection &bisection) {
  json checks = json::array();
  for (const auto &check : bisection.checks)
    checks.push_back({{"what", check.what},
                      {"steps", check.steps ? json(*check.steps) : json(nullptr)},
                      {"fails", check.fails},
                      {"unresolved", check.unresolved},
                      {"message", check.message}});
  const json result = {
      {"guilty", bisection.guilty ? json(*bisection.guilty) : json(nullptr)},
      {"pass", bisection.pass},
      {"needs", bisection.needs},
      {"confirmed", bisection.confirmed},
      {"confirmed_each_time", bisection.confirmed_each_time ? json(*bisection.confirmed_each_time) : json(nullptr)},
      {"confirmed_by_switch", bisection.confirmed_by_switch ? json(*bisection.confirmed_by_switch) : json(nullptr)},
      {"message", bisection.message},
      {"name", bisection.name},
      {"note", bisection.note},
      {"steps", bisection.steps},
      {"checks", checks},
      {"seconds", bisection.seconds}};
  return result.dump(2, ' ', true, json::error_handler_t::replace);
}

} // namespace repro_minify
