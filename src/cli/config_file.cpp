#include "cli/config_file.h"

#include "backends/backend_registry.h"
#include "cli/config_text.h"
#include "core/files.h"
#include "core/json.h"
#include "core/programs.h"
#include "core/text.h"
#include "repro_minify/program.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace repro_minify {
namespace {

bool is_flag(const CLI::Option &option) {
  return option.get_expected_max() == 0;
}

void give(CLI::Option &option, const std::vector<std::string> &values, const std::string &name,
          const std::string &path) {
  if (values.empty())
    return;
  try {
    for (const auto &value : values)
      option.add_result(is_flag(option) ? option.get_flag_value(name, value) : value);
    option.run_callback();
  } catch (const CLI::Error &error) {
    throw UserError(path + ": " + name + ": " + error.what());
  }
}

/// The long names of an App and its subcommands.
std::vector<std::string> names_of_all(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  for (const CLI::App *subcommand : app.get_subcommands({})) {
    const auto more = names_of_all(*subcommand);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

constexpr std::uintmax_t most_config_bytes = 1 << 20;
constexpr size_t most_shown = 60; // of a name that no option has

std::vector<ConfigEntry> read_config(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw UserError("--config " + path + ": no such file");
  if (!std::filesystem::is_regular_file(path, error))
    throw UserError("--config " + path + ": is no file, but something else of that name");
  if (std::filesystem::file_size(path, error) > most_config_bytes)
    throw UserError("--config " + path + ": is larger than 1 MiB, and no configuration");
  if (!std::ifstream(path))
    throw UserError("--config " + path + ": cannot be opened (may it be read?)");
  try {
    return read_config_text(read_file(path));
  } catch (const std::invalid_argument &problem) {
    throw UserError(path + ": " + problem.what());
  }
}

bool is_utf8(const std::string &text) {
  const auto dumped = [&](json::error_handler_t how) { return json(text).dump(-1, ' ', /*ensure_ascii=*/false, how); };
  return dumped(json::error_handler_t::ignore) == dumped(json::error_handler_t::replace);
}

/// A number where the whole text is one, so that the file reads as a person would write it; nothing for a path that is
/// no UTF-8, which TOML cannot hold: it would name another file.
void insert(toml::table &table, const std::string &name, const std::string &value) {
  if (!is_utf8(value))
    return;
  const char *end = value.data() + value.size();
  int64_t whole = 0;
  double real = 0;
  if (const auto read = std::from_chars(value.data(), end, whole); read.ec == std::errc() && read.ptr == end)
    table.insert(name, whole);
  else if (const auto read = std::from_chars(value.data(), end, real); read.ec == std::errc() && read.ptr == end)
    table.insert(name, real);
  else
    table.insert(name, value);
}

/// Nothing where there are no values, and a list where there are several.
void insert(toml::table &table, const std::string &name, const std::vector<std::string> &values) {
  if (values.size() == 1)
    return insert(table, name, values[0]);
  toml::array list;
  for (const auto &value : values)
    if (is_utf8(value))
      list.push_back(value);
  if (!list.empty())
    table.insert(name, list);
}

/// True if the option belongs in a configuration file: it describes a run, not what may be done to existing files.
bool is_written(const CLI::Option &option) {
  return option.get_configurable() && !option.get_lnames().empty() && option.get_lnames().front() != "force" &&
         option.get_lnames().front() != "resume";
}

bool is_path(const std::string &name) {
  return name == "model" || name == "inputs" || name == "load-library" || name == "output" || name == "oracle";
}

/// True if the value is the name of a program, which PATH has unless it is a path.
bool is_program(const std::string &name) {
  return name == "python" || name == "since";
}

/// Returns a value that holds a path, plugin:FILE, export:FILE.py, torch-compile:FILE.py:FUNCTION, with that path from
/// anywhere; any other value as it is.
std::string with_absolute_path(const std::string &value) {
  static const std::regex with_path("(plugin:|export:(?=[^,]*\\.py$)|torch-compile:(?=[^,]*\\.py:[^:,/]*$))([^,]+)");
  std::smatch parts;
  if (!std::regex_match(value, parts, with_path))
    return value;
  return parts[1].str() + std::filesystem::absolute(parts[2].str()).lexically_normal().string();
}

/// Returns BACKEND=PYTHON with the path of the interpreter from anywhere; as it is where PATH has it.
std::string with_absolute_python(const std::string &pair) {
  const size_t path = pair.find('=') + 1;
  return pair.find('/', path) == std::string::npos
             ? pair
             : pair.substr(0, path) + std::filesystem::absolute(pair.substr(path)).lexically_normal().string();
}

/// Returns the value of the option of that name, with the path that it is, or holds, from anywhere.
std::string from_anywhere(const std::string &name, const std::string &value) {
  if (is_path(name) || (is_program(name) && value.find('/') != std::string::npos))
    return std::filesystem::absolute(value).lexically_normal().string();
  return name == "backend"     ? with_absolute_path(value)
         : name == "python-of" ? with_absolute_python(value)
         : name == "import"    ? importable(value)
                               : value;
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Returns cpu and cuda of "TEXT:{cpu,cuda}", which is CLI11's text for a value: its type, and what validators say.
std::vector<std::string> between_braces(const std::string &type) {
  const size_t open = type.find('{'), close = type.rfind('}');
  std::vector<std::string> parts;
  if (open == std::string::npos || close == std::string::npos)
    return parts;
  std::istringstream in(type.substr(open + 1, close - open - 1));
  for (std::string part; std::getline(in, part, ',');)
    parts.push_back(part);
  return parts;
}

json json_of(const CLI::Option &option) {
  std::vector<std::string> names;
  std::string off;
  const auto &negative = option.get_fnames();
  for (const auto &name : option.get_lnames())
    (std::count(negative.begin(), negative.end(), name) && name.rfind("no-", 0) == 0 ? off = "--" + name
                                                                                     : names.emplace_back("--" + name));
  for (const auto &name : option.get_snames())
    names.push_back("-" + name);
  const bool is_flag = option.get_expected_max() == 0;
  const std::string type = option.get_type_name();
  const std::vector<std::string> values = between_braces(type);
  const std::string flag_value = values.empty() ? "" : "TEXT"; // it may be left out
  const bool repeated =
      !is_flag && option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll && option.get_expected_max() > 1;
  return {{"names", names},
          {"off", off}, // what says the opposite; mostly empty
          {"value", is_flag ? flag_value : type.substr(0, type.find_first_of(":( "))},
          {"repeated", repeated}, // may be given again
          {"values", values},
          {"default", option.get_default_str()},
          {"help", on_one_line(option.get_description())},
          {"group", option.get_group()}};
}

json json_of(const CLI::App &app, const std::string &name) {
  json options = json::array();
  for (const CLI::Option *option : app.get_options())
    if (!option->get_lnames().empty())
      options.push_back(json_of(*option));
  return {{"command", name}, {"help", on_one_line(app.get_description())}, {"options", options}};
}

} // namespace

void apply_config(CLI::App &app, const CLI::App &known, const std::string &path) {
  const auto names = names_of_all(known);
  for (const auto &[name, values, problem] : read_config(path)) {
    CLI::Option *option = app.get_option_no_throw("--" + name);
    if (!option && std::find(names.begin(), names.end(), name) != names.end())
      continue;
    if (option && !option->get_configurable())
      throw UserError(path + ": " + name + ": is for the command line alone");
    if (!option)
      throw UserError(path + ": " + name.substr(0, most_shown) + ": no such option" + did_you_mean(name, names));
    const CLI::App *outer = app.get_parent(); // what stands before the name of a subcommand is given as well
    const CLI::Option *before = outer ? outer->get_option_no_throw("--" + name) : nullptr;
    if (option->count() > 0 || (before && before->count() > 0))
      continue;
    if (!problem.empty())
      throw UserError(path + ": " + name + ": " + problem);
    give(*option, values, name, path);
  }
}

std::string effective_config(const CLI::App &app, const std::map<std::string, std::string> &defaults,
                             const SettingsChanges &changes) {
  toml::table table;
  for (const CLI::Option *option : app.get_options()) {
    if (!is_written(*option))
      continue;
    const std::string &name = option->get_lnames().front();
    if (const auto change = changes.find(name); change != changes.end()) {
      insert(table, name, change->second.value_or(std::vector<std::string>{}));
      continue;
    }
    auto values = option->count() ? option->reduced_results() : std::vector<std::string>{};
    if (values.empty() && defaults.count(name))
      values = {defaults.at(name)};
    else if (values.empty() && !option->get_default_str().empty())
      values = {option->get_default_str()};
    if (values.empty() && !option->get_fnames().empty())
      continue; // one that can be said either way, and was not: false would be an answer
    if (is_flag(*option) && (values.empty() || values[0] == "true" || values[0] == "false")) {
      table.insert(name, !values.empty() && values[0] == "true");
      continue;
    }
    if (name == "backend")
      values = split_backend_names(values);
    for (auto &value : values)
      value = from_anywhere(name, value);
    insert(table, name, values);
  }
  std::ostringstream text;
  text << table << '\n';
  return text.str();
}

std::string help_json(const CLI::App &app) {
  json commands = json::array();
  commands.push_back(json_of(app, ""));
  for (const CLI::App *command : app.get_subcommands({}))
    commands.push_back(json_of(*command, command->get_name()));
  return commands.dump(2) + "\n";
}

} // namespace repro_minify
