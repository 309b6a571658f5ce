#include "repro_minify/analysis.h"

#include "check/compare_runs.h"
#include "core/json.h"
#include "program/compute.h"
#include "program/values.h"
#include "repro/shown_value.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>

namespace repro_minify {
namespace {

using Leaves = std::vector<c10::IValue>;

json list_of(const Leaves &expected, const Leaves *found, const ShowOptions &show) {
  Leaves left, right;
  for (const auto &value : expected)
    flatten_value(value, left);
  if (found)
    for (const auto &value : *found)
      flatten_value(value, right);
  json list = json::array();
  for (size_t i = 0; i < left.size(); ++i)
    list.push_back(to_json(shown_value(left[i], right.size() == left.size() ? &right[i] : nullptr, show)));
  return list;
}

std::vector<ShownValue> values_from(const json &list) {
  std::vector<ShownValue> values;
  for (const auto &value : list)
    values.push_back(shown_value_from(value));
  return values;
}

} // namespace

std::string show_here(const ModuleFactory &factory, const Backend &backend, const CheckOptions &options,
                      const ShowOptions &show) {
  CheckOptions how = options;
  how.only_forward = true; // what it leaves behind is in no picture
  const CheckContext context{factory, backend, how};
  const Observed eager = context.run_eager(show.call).back();
  std::optional<Observed> optimised;
  try {
    fill_unwritten_memory(Fill::Usual);
    optimised = context.run_optimised(show.call);
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const std::exception &) { // the verdict says what
  }
  const Leaves found = optimised ? Leaves{optimised->output} : Leaves{};
  return json{{"outputs", list_of({eager.output}, optimised ? &found : nullptr, show)},
              {"gradients", list_of(eager.gradients, optimised ? &optimised->gradients : nullptr, show)}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

BothSides both_sides_from(const std::string &text) {
  const json reply = json::parse(text);
  return {values_from(reply.at("outputs")), values_from(reply.at("gradients"))};
}

BothSides both_sides(const ModuleFactory &factory, const std::shared_ptr<const Backend> &backend,
                     const CheckOptions &options, const ShowOptions &show, const Limits &limits) {
  const JobEnd job_end = run_in_sandbox(
      [&](Child &child) {
        child.confine(confinement_of(*backend));
        child.reply(show_here(factory, *backend, options, show));
      },
      limits);
  return job_end.ending == Ending::Replied ? both_sides_from(job_end.reply) : BothSides();
}

} // namespace repro_minify
