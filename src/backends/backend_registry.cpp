#include "backends/backend_registry.h"

#include "core/programs.h"
#include "core/text.h"
#include "repro_minify/program.h"

#include <algorithm>
#include <sstream>

namespace repro_minify {
namespace {

using Maker = std::unique_ptr<Backend> (*)(const BackendOptions &);
constexpr Maker makers[] = {make_eager_backend,
                            make_jit_backend,
                            make_nnc_backend,
                            make_freeze_backend,
                            make_optimize_for_inference_backend,
                            make_static_runtime_backend,
                            make_autocast_backend,
                            make_inductor_like_backend,
                            make_inductor_backend};

std::string known_names() {
  return joined(makers, ", ", [](Maker maker) { return maker({})->name(); }) +
         ", pass:NAME[,NAME...], torch-compile:NAME, export:NAME|FILE.py, plugin:PATH.so, command:CMD";
}

std::vector<std::string> names_of(const std::vector<NamedRow> &rows) {
  std::vector<std::string> names;
  for (const auto &row : rows)
    names.push_back(row.name);
  return names;
}

std::unique_ptr<Backend> make_passes(const std::string &list) {
  std::vector<std::string> names;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');)
    names.push_back(name);
  const auto known = list_passes();
  for (const auto &name : names)
    if (std::none_of(known.begin(), known.end(), [&](const auto &row) { return row.name == name; }))
      throw UserError("--backend pass:" + list + ": unknown pass '" + name + "'; `repro-minify backends` lists them" +
                      did_you_mean(name, names_of(known)));
  if (names.empty())
    throw UserError("--backend pass: names no pass; `repro-minify backends` lists them");
  return make_pass_backend(names);
}

bool takes_the_rest(const std::string &text) {
  return text.starts_with("plugin:") || text.starts_with("command:");
}

/// True for a backend that compiles in the Python worker.
bool compiles_in_python(const std::string &given) {
  return with_hyphens(given) == "inductor" || given.starts_with("torch-compile:") || given.starts_with("export:");
}

bool is_backend(const std::string &given) {
  const std::string name = with_hyphens(given);
  const auto rows = list_backends();
  return name.starts_with("pass:") || compiles_in_python(given) ||
         std::any_of(rows.begin(), rows.end(), [&](const NamedRow &row) { return row.name == name; });
}

} // namespace

std::string with_hyphens(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::unique_ptr<Backend> make_backend(const std::string &given, const BackendOptions &options) {
  const std::string name = with_hyphens(given);
  const std::string rest = given.substr(given.find(':') + 1); // all of it where there is no colon
  if (given.starts_with("plugin:"))
    return make_plugin_backend(rest);
  if (given.starts_with("command:"))
    return make_command_backend(rest, options);
  if (given.starts_with("torch-compile:"))
    return make_torch_compile_backend(rest, options);
  if (given.starts_with("export:"))
    return make_export_backend(rest, options);
  if (name.starts_with("pass:"))
    return make_passes(with_hyphens(rest));
  for (Maker maker : makers)
    if (auto backend = maker(options); backend->name() == name)
      return backend;
  throw UserError("--backend " + given + ": unknown backend; known are " + known_names() +
                  did_you_mean(name, names_of(list_backends())));
}

Identity identity_of(const BackendOptions &options) {
  Identity identity;
  const auto add_list = [&](const std::string &name, const std::vector<std::string> &values) {
    for (size_t i = 0; i < values.size(); ++i)
      identity.add(name + (values.size() > 1 ? " " + std::to_string(i + 1) : ""), values[i]);
  };
  identity.add("--python", options.python);
  add_list("--python-of", options.pythons);
  add_list("--backend-option", options.backend_options);
  add_list("--inductor-config", options.inductor_config);
  for (const auto &library : options.libraries)
    identity.add_file("--load-library " + library, library);
  for (const auto &module : options.imports)
    if (is_python_file(module))
      identity.add_file("--import " + module, module);
    else
      identity.add("--import " + module, module);
  add_list("--skip-stage", options.skipped_stages);
  identity.add("--emulate-precision-casts", options.emulate_precision_casts);
  identity.add("--inject", options.inject);
  return identity;
}

std::vector<NamedRow> list_backends() {
  std::vector<NamedRow> rows;
  for (Maker maker : makers) {
    const auto backend = maker({});
    rows.push_back({backend->name(), backend->summary()});
  }
  for (const auto &pass : list_passes())
    rows.push_back({"pass:" + pass.name, pass.summary});
  return rows;
}

std::vector<std::string> split_backend_names(const std::vector<std::string> &texts) {
  std::vector<std::string> names;
  for (std::string rest : texts) {
    const size_t first = names.size();
    for (bool more = true; more;) {
      const size_t comma = takes_the_rest(rest) ? std::string::npos : rest.find(',');
      const std::string name = rest.substr(0, comma);
      more = comma != std::string::npos;
      rest.erase(0, more ? comma + 1 : rest.size());
      const bool after_pass = names.size() > first && names.back().starts_with("pass:");
      if (after_pass && !takes_the_rest(name) && !is_backend(name))
        names.back() += "," + name;
      else
        names.push_back(name);
    }
  }
  std::vector<std::string> once; // one that is named twice is asked once
  std::copy_if(names.begin(), names.end(), std::back_inserter(once),
               [&](const std::string &name) { return std::find(once.begin(), once.end(), name) == once.end(); });
  return once;
}

void require_known_backends(const std::vector<std::string> &names) {
  for (const auto &name : names)
    if (!takes_the_rest(name))
      make_backend(name, {});
}

bool run_calls_of_python(const std::vector<std::string> &names) {
  return !names.empty() && std::all_of(names.begin(), names.end(), compiles_in_python);
}

bool take_weights_inside(const std::vector<std::string> &names) {
  return !names.empty() && names.front().starts_with("export:");
}

} // namespace repro_minify
