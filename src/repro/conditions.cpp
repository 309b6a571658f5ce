#include "core/escape.h"
#include "core/text.h"
#include "repro/triage.h"

namespace repro_minify {
namespace {

using Case = Conditions::Case;

std::vector<std::string> names_of(const Conditions &conditions, const std::string &kind, bool fail) {
  std::vector<std::string> names;
  for (const Case &each : conditions.cases)
    if (each.kind == kind && each.fails == fail)
      names.push_back(kind == "dtype" ? markdown_code(each.what) : each.what);
  return names;
}

/// True if cases of this kind were asked, so many at least, and all are right.
bool all_right(const Conditions &conditions, const std::string &kind, size_t least) {
  return names_of(conditions, kind, true).empty() && names_of(conditions, kind, false).size() >= least;
}

constexpr size_t least_dtypes = 2; // that are right, before one is named as the only one that is not

} // namespace

std::string enumerated(std::vector<std::string> words) {
  if (words.size() < 2)
    return joined(words);
  const std::string last = words.back();
  words.pop_back();
  return joined(words) + " and " + last;
}

std::string conditions_sentence(const Conditions &conditions) {
  const std::string fail = enumerated(names_of(conditions, "dtype", true));
  std::vector<std::string> right;
  if (const std::string dtypes = enumerated(names_of(conditions, "dtype", false)); !dtypes.empty())
    right.push_back("for " + dtypes);
  if (const std::string ranks = enumerated(names_of(conditions, "rank", false)); !ranks.empty())
    right.push_back("for " + ranks + " inputs");
  if (const std::string longer = enumerated(names_of(conditions, "size", false)); !longer.empty())
    right.push_back("where " + longer + " is three times as long");
  const std::string same = "With the same values ";
  if (fail.empty())
    return right.empty() ? "" : same + "it is right " + enumerated(right) + ".";
  if (right.empty())
    return same + "it fails for " + fail + " too.";
  return same + "it fails for " + fail + " too; it is right " + enumerated(right) + ".";
}

std::string condition_in_title(const Conditions &conditions) {
  const bool of_dtype = all_right(conditions, "dtype", least_dtypes), of_rank = all_right(conditions, "rank", 1);
  const bool of_sizes = conditions.sizes && all_right(conditions, "size", 1);
  const std::string dtype = of_dtype ? conditions.dtype : "";
  if (of_sizes)
    return (of_dtype ? dtype : "shape ") + "[" + joined_numbers(*conditions.sizes) + "]";
  if (of_rank)
    return "a 0-d " + (of_dtype ? dtype + " " : std::string()) + "tensor";
  return dtype;
}

} // namespace repro_minify
