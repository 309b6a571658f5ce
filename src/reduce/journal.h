// The journal: one JSON line for each verdict, appended and flushed as it comes, so that it survives whatever happens
// next.
#pragma once
#include "repro_minify/check.h"

#include <fstream>
#include <string>

namespace repro_minify {

class Journal {
public:
  /// An empty path keeps no journal. Throws UserError when the file cannot be written.
  explicit Journal(const std::string &path);
  void header(const std::string &backend, const Signature &wanted, const CheckOptions &options);
  void verdict(const std::string &pass, const std::string &hash, const ProgramSize &size, const Verdict &verdict,
               bool fails);

private:
  std::ofstream file_;
};

} // namespace repro_minify
