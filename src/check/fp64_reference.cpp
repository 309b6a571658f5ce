#include "check/fp64_reference.h"

#include "check/kept_runs.h"
#include "program/compute.h"

#include <c10/util/Exception.h>

#include <chrono>
#include <exception>

namespace repro_minify {

void Fp64Reference::make(Child &child, Verdict &verdict) {
  made_ = true;
  child.stage("fp64 reference");
  allow_eager(child, context_.options.patience);
  run(verdict);
  verdict.has_fp64_reference = !calls_.empty();
  if (&eager_.observed() != &eager_.calls)
    for (Observed &call : calls_)
      call = narrowed(std::move(call), context_.run_options());
}

void Fp64Reference::run(Verdict &verdict) {
  const std::string kept = eager_.kept().empty() ? "" : eager_.kept() + ".fp64";
  if (auto runs = kept.empty() ? std::nullopt : load_runs(kept)) {
    calls_ = std::move(runs->calls);
    verdict.no_fp64_because = runs->problem;
    return;
  }
  try {
    calls_ = eager_.observer().run_eager(static_cast<int>(eager_.observed().size()), &eager_.observed());
  } catch (const std::exception &) { // std::bad_alloc too: float64 takes twice the memory, and can be done without
    verdict.no_fp64_because = first_sentence(current_message());
  }
  if (!kept.empty())
    keep_runs(kept, {calls_, 0, verdict.no_fp64_because});
}

void allow_eager(Child &child, const Patience &patience) {
  if (patience.least_seconds > 0)
    child.allow(std::chrono::minutes(10));
}

std::string current_message() {
  try {
    throw;
  } catch (const c10::Error &error) {
    return error.what_without_backtrace();
  } catch (const std::exception &error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

} // namespace repro_minify
