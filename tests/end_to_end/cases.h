// The tables of failing models in fixtures/: `cases`, one failure each, `two_failures`, and `crashes`.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace repro_minify::end_to_end {

struct Case {
  std::string table; ///< the folder under fixtures/
  std::string name;
  std::string backend; ///< as the command line names it
  bool grad = false;
  std::string kind;          ///< of the failure
  std::string reduced_kind;  ///< of the reduced program's failure: `kind`, unless that one came of another
  int operators_at_most = 0; ///< of the table `cases`
  /// The optimised result is uninitialised memory: now and then it is NaN, and the failure another one.
  bool reads_unwritten_memory = false;
  std::string wrong_since;                ///< the first version of torch that is wrong, where one is known
  std::string fixed_in;                   ///< the first that is right again, where one is known
  std::string guilty;                     ///< of the table `cases`: the step that makes it wrong; empty: has none
  std::vector<std::string> must_have;     ///< of the others: operators without which it is another failure
  std::vector<std::string> must_not_have; ///< of `two_failures`: operators that only the other failure needs

  bool is_big() const { return name.rfind("big_", 0) == 0; }
  /// Only --all reduces it: TorchInductor compiles for each check, which takes a minute of a processor or more, and a
  /// big model takes the reports a quarter of one. One of each kind is reduced always.
  bool takes_long() const {
    const bool is_always_reduced = name == "big_autocast_lerp" || name == "inductor_183763_sinh_overflow";
    return !is_always_reduced && (backend == "inductor" || is_big());
  }
  /// Its backend needs a Python with torch, and there is none here.
  bool lacks_python() const;
  /// The torch that is tested here is right: it is too new, or too old, to fail.
  bool is_right() const;
  std::filesystem::path model() const;
  std::filesystem::path inputs() const;
  /// Where the test that reduces it leaves what comes out.
  std::filesystem::path repro() const;
  /// The arguments, and --backend and, where it applies, --grad.
  std::vector<std::string> with_backend(std::vector<std::string> arguments) const;
  /// The backend's name in fixtures/cases/_lib/check.py.
  std::string checker_backend() const;
};

/// While it lives, such memory holds the same in every program that is started (MALLOC_PERTURB_ of the C library).
class SteadyMemory {
public:
  explicit SteadyMemory(const Case &one);
  ~SteadyMemory();
  SteadyMemory(const SteadyMemory &) = delete;
  SteadyMemory &operator=(const SteadyMemory &) = delete;
};

/// For GoogleTest.
void PrintTo(const Case &one, std::ostream *stream);
std::string name_of(const testing::TestParamInfo<Case> &info);

/// The table's expected.json, row by row. Throws when it cannot be read.
std::vector<Case> all_cases(const std::string &table = "cases");
/// Returns the case of this name from the table `cases`. Throws std::out_of_range if there is none.
Case case_named(const std::string &name);

std::filesystem::path fixtures();

/// The pass of a step as a bisection names it: of "PeepholeOptimize#2/AliasSensitive", the second time that this pass
/// runs, it is "PeepholeOptimize/AliasSensitive". "none" of null.
std::string pass_of(const nlohmann::json &step);

/// The operators ("aten::add") of the reduced program, by the report.json in this folder.
std::set<std::string> operators_of(const std::filesystem::path &repro);

} // namespace repro_minify::end_to_end
