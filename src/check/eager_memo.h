// Where checks of one model under several backends find what eager did for the first of them. Eager is the same for all
// that run the same program under the same settings, and so is float64.
#pragma once
#include "repro_minify/check.h"

#include <filesystem>
#include <map>
#include <string>

namespace repro_minify {

/// A folder in the private folder of the children, which alone write and read its files: what the check of a model
/// leaves there is only read by other checks of the same model. Removed with this object by the process that made it.
class EagerMemo {
public:
  /// Throws std::filesystem::filesystem_error.
  EagerMemo();
  ~EagerMemo();
  EagerMemo(const EagerMemo &) = delete;
  EagerMemo &operator=(const EagerMemo &) = delete;

  /// For check_job(). `program` names what is run: the model as it is, or one of the forms it was brought into.
  std::string file_for(const std::string &program, const Backend &backend, const CheckOptions &options);

private:
  std::filesystem::path folder_;
  int owner_;
  std::map<std::string, std::string> files_; ///< by what eager depends on
};

} // namespace repro_minify
