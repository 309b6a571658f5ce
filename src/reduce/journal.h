// The journal: one JSON line for each verdict, appended and flushed as it comes, so that it survives whatever happens
// next. It is also the memory of an earlier run that was killed: resuming is replaying it.
#pragma once
#include "core/files.h"
#include "repro_minify/reducer.h"

#include <cstdint>
#include <map>
#include <string>

namespace repro_minify {

class Journal {
public:
  /// `identity`: what the answers depend on beside the candidate. Throws UserError when the file cannot be written, and
  /// with `resume` when it is the journal of something else, with what differs. A file that is absent or has no whole
  /// line is begun anew either way; without `resume` any is. A link is replaced, and with `resume` refused.
  Journal(const std::string &path, const Identity &identity, bool resume);

  /// `key` names the question: a candidate's canonical_hash. Gives the Verdict that is kept, as find() does.
  const Verdict &append(const std::string &key, Verdict verdict, const std::string &pass, const ProgramSize &size,
                        bool same_failure);
  /// The answer that stands under this key, of this run or an earlier one; null where there is none.
  const Verdict *find(const std::string &key) const;
  /// How many answers an earlier run left.
  size_t earlier() const { return earlier_; }

private:
  void read_earlier(const std::string &path, const Identity &identity);
  bool remember(const std::string &text);
  bool write(const std::string &text);

  PlainFile file_;
  std::uint64_t whole_ = 0; ///< how long the file is up to the end of its last whole line
  std::map<std::string, Verdict> answers_;
  size_t earlier_ = 0;
};

} // namespace repro_minify
