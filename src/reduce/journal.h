// The journal: one JSON line for each verdict, appended and flushed as it comes, so that it survives whatever happens
// next. It is also the memory of an earlier run that was killed: resuming is replaying it.
#pragma once
#include "repro_minify/reducer.h"

#include <fstream>
#include <map>
#include <string>

namespace repro_minify {

/// What the answers in a journal are answers to. Two reductions with the same subject ask the same questions.
struct JournalSubject {
  std::string test;        ///< InterestingnessTest::name
  std::string fingerprint; ///< InterestingnessTest::fingerprint
  std::string signature;
  std::string start; ///< canonical_hash of the program that is reduced
};

class Journal {
public:
  /// An empty path keeps no journal. Throws UserError when the file cannot be written, and with `resume` when it is a
  /// journal of another reduction. A file that is absent or has no whole line is a new journal either way.
  Journal(const std::string &path, const JournalSubject &subject, bool resume);
  void verdict(const std::string &pass, const std::string &hash, const ProgramSize &size, const Verdict &verdict,
               bool same_failure);
  /// What an earlier run wrote, by hash.
  const std::map<std::string, Verdict> &earlier() const { return earlier_; }

private:
  void read_earlier(const std::string &path, const JournalSubject &subject);

  std::ofstream file_;
  std::map<std::string, Verdict> earlier_;
};

} // namespace repro_minify
