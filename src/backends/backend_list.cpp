#include "backends/backend_list.h"

#include "backends/backend_registry.h"

#include <algorithm>

namespace repro_minify {
namespace {

bool begins_with(const std::string &text, const std::string &prefix) {
  return text.rfind(prefix, 0) == 0;
}

bool takes_the_rest(const std::string &text) {
  return begins_with(text, "plugin:") || begins_with(text, "command:");
}

bool is_backend(const std::string &given) {
  const std::string name = with_hyphens(given);
  const auto rows = list_backends();
  return begins_with(name, "pass:") ||
         std::any_of(rows.begin(), rows.end(), [&](const BackendRow &row) { return row.name == name; });
}

} // namespace

std::vector<std::string> split_backend_names(const std::vector<std::string> &texts) {
  std::vector<std::string> names;
  for (std::string rest : texts) {
    const size_t first = names.size();
    for (bool more = true; more;) {
      const size_t comma = takes_the_rest(rest) ? std::string::npos : rest.find(',');
      const std::string name = rest.substr(0, comma);
      more = comma != std::string::npos;
      rest.erase(0, more ? comma + 1 : rest.size());
      const bool after_pass = names.size() > first && begins_with(names.back(), "pass:");
      if (after_pass && !takes_the_rest(name) && !is_backend(name))
        names.back() += "," + name;
      else
        names.push_back(name);
    }
  }
  return names;
}

void require_known_backends(const std::vector<std::string> &names) {
  for (const auto &name : names)
    if (!takes_the_rest(name))
      make_backend(name, {});
}

bool run_calls_of_python(const std::vector<std::string> &names) {
  return !names.empty() && std::all_of(names.begin(), names.end(),
                                       [](const std::string &name) { return with_hyphens(name) == "inductor"; });
}

} // namespace repro_minify
