#include "reduce/selected_passes.h"

#include "core/closest.h"

#include <algorithm>
#include <string>

namespace repro_minify {

std::vector<PassRow> list_reduction_passes() {
  std::vector<PassRow> rows;
  for (const auto &pass : reduction_passes())
    rows.push_back({pass.name, pass.summary});
  return rows;
}

namespace {

bool has(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_known(const std::vector<std::string> &names, const std::string &option) {
  std::vector<std::string> known;
  for (const ReductionPass &pass : reduction_passes())
    known.emplace_back(pass.name);
  for (const auto &name : names)
    if (!has(known, name))
      throw UserError(option + " " + name + ": no such pass; --list-passes lists them" + did_you_mean(name, known));
}

} // namespace

std::vector<const ReductionPass *> selected_passes(const PassSelection &selection) {
  require_known(selection.only, "--passes");
  require_known(selection.skip, "--skip-pass");
  std::vector<const ReductionPass *> selected;
  for (const auto &pass : reduction_passes())
    if ((selection.only.empty() || has(selection.only, pass.name)) && !has(selection.skip, pass.name))
      selected.push_back(&pass);
  if (selected.empty())
    throw UserError("--passes, --skip-pass: no pass is left");
  return selected;
}

} // namespace repro_minify
