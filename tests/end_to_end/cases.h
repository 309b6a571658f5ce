// The table of real failures in fixtures/cases.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify::end_to_end {

struct Case {
  std::string name;
  std::string backend; ///< as the command line names it
  bool grad = false;
  std::string kind; ///< of the failure
  int operators_at_most = 0;

  bool is_big() const { return name.rfind("big_", 0) == 0; }
  /// The tool does not have this backend yet.
  bool is_for_later() const { return backend == "inductor"; }
  std::filesystem::path model() const;
  std::filesystem::path inputs() const;
  /// --backend and, where it applies, --grad.
  std::vector<std::string> backend_options() const;
  /// The backend's name in fixtures/cases/_lib/check.py.
  std::string checker_backend() const;
};

/// expected.json, row by row. Throws when it cannot be read.
std::vector<Case> all_cases();
Case case_named(const std::string &name);

std::filesystem::path fixtures();

} // namespace repro_minify::end_to_end
