// The report on an exception that ends the program.
#pragma once
#include <exception>
#include <string>

namespace repro_minify {

struct ErrorReport {
  bool is_users = false; ///< something that was given is wrong; otherwise it is our fault, or the machine's
  std::string sentence;  ///< what was wrong, and what to do
};

ErrorReport report_of(const std::exception_ptr &error);

} // namespace repro_minify
