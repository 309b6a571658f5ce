// Tells whether CUDA can be tested here.
#pragma once
#include "program/compute.h"
#include "program/fixture.h"
#include "repro_minify/check.h"
#include "repro_minify/run_settings.h"

#include <string>

namespace repro_minify::testing_support {

/// Why it cannot, asked in a child as the program itself does.
inline std::string no_cuda() {
  const JobEnd job_end =
      run_in_sandbox([](Child &child) { child.reply(why_unusable(c10::Device(c10::kCUDA)) + " "); }, test_limits());
  return job_end.ending == Ending::Replied ? job_end.reply.substr(0, job_end.reply.size() - 1) : "the question crashed";
}

} // namespace repro_minify::testing_support
