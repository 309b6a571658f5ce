// Recordings cost a child each, and several passes in a row want the one of the same Program.
#pragma once
#include "repro_minify/record.h"

#include <memory>

namespace repro_minify {

class LastRecording {
public:
  LastRecording() = default;
  /// Begins with one of `program` that was made already, under the settings that will be asked for; null for none.
  LastRecording(const Program &program, std::shared_ptr<const Recording> first);
  /// The Program's Recording: the last one made if it is of this very graph and these very values. Throws
  /// std::runtime_error for a Program that eager cannot run.
  std::shared_ptr<const Recording> recording_of(const Program &program, const RunSettings &settings,
                                                const Limits &limits);

private:
  bool is_of(const Program &program) const;

  std::shared_ptr<const Recording> last_;
  Program of_; ///< kept alive, so that no other Program can have its addresses
};

} // namespace repro_minify
