// A test that sees every candidate as its file has it.
#pragma once
#include "repro_minify/reducer.h"

namespace repro_minify {

/// interestingness_test() of candidates that were saved and loaded again, in the child that checks them. Slower; for
/// failures of which saving changes something.
InterestingnessTest reloading_test(std::shared_ptr<const Backend> backend, const CheckOptions &options);

} // namespace repro_minify
