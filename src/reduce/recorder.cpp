#include "reduce/recorder.h"

#include <algorithm>
#include <utility>

namespace repro_minify {

LastRecording::LastRecording(const Program &program, std::shared_ptr<const Recording> first)
    : last_(std::move(first)), of_(program) {}

bool LastRecording::is_of(const Program &program) const {
  return last_ && of_.graph == program.graph &&
         std::equal(of_.inputs.begin(), of_.inputs.end(), program.inputs.begin(), program.inputs.end(),
                    [](const ProgramInput &a, const ProgramInput &b) { return a.value.is(b.value); });
}

std::shared_ptr<const Recording> LastRecording::recording_of(const Program &program, const RunSettings &settings,
                                                             const Limits &limits) {
  if (!is_of(program)) {
    last_ = std::make_shared<const Recording>(record(program, settings, limits));
    of_ = program;
  }
  return last_;
}

} // namespace repro_minify
