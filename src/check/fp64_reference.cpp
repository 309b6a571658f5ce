#include "check/fp64_reference.h"

#include "program/compute.h"

#include <c10/util/Exception.h>

#include <chrono>
#include <exception>

namespace repro_minify {

void Fp64Reference::make(Child &child, Verdict &verdict) {
  made_ = true;
  child.stage("fp64 reference");
  allow_eager(child, sides_.options.patience);
  try {
    calls_ = sides_.run_eager(static_cast<int>(eager_.size()), &eager_);
  } catch (const std::exception &) {
    verdict.no_fp64_because = first_sentence(current_message());
  }
  verdict.has_fp64_reference = !calls_.empty();
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
