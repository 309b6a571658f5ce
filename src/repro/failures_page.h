// index.html and failures.json: all failures of one model.
#pragma once
#include "repro_minify/repro.h"

#include <string>
#include <vector>

namespace repro_minify {

struct FailuresPage {
  /// One failure, reduced, or handed back as it was.
  struct Failure {
    const ReproFacts &facts;
    const Program &program;
    std::string folder; ///< a folder of that which the page lies in
    int places = 1;     ///< where the model shows it
  };
  std::string model;   ///< its path
  bool passes = false; ///< whether the model passes without all of them
  std::string why;     ///< why that is not known
  std::vector<Failure> failures;
};

/// Writes both files into the folder. Throws UserError where they cannot be written.
void write_failures(const FailuresPage &page, const std::string &folder);

} // namespace repro_minify
