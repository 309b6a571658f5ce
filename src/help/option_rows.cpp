#include "help/option_rows.h"

#include "backends/backend_registry.h"
#include "repro_minify/reducer.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace repro_minify {
namespace {

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Returns "cpu,cuda" of "TEXT:{cpu,cuda}", which is CLI11's text for a value: its type, and what validators say.
std::string between_braces(const std::string &type) {
  const size_t open = type.find('{'), close = type.rfind('}');
  return open == std::string::npos || close == std::string::npos ? "" : type.substr(open + 1, close - open - 1);
}

std::vector<std::string> split_at_commas(const std::string &text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    parts.push_back(part);
  return parts;
}

std::vector<std::string> names_of_backends() {
  std::vector<std::string> names;
  for (const auto &listed : list_backends())
    names.push_back(listed.name);
  return names;
}

std::vector<std::string> names_of_passes() {
  std::vector<std::string> names;
  for (const auto &pass : list_reduction_passes())
    names.emplace_back(pass.name);
  return names;
}

std::vector<std::string> values_of(const CLI::Option &option, const std::string &name) {
  if (name == "--backend")
    return names_of_backends();
  if (name == "--passes" || name == "--skip-pass")
    return names_of_passes();
  if (name == "--deterministic") // the one flag that takes a value
    return {"off", "warn", "on"};
  return split_at_commas(between_braces(option.get_type_name()));
}

bool names_file(const std::string &name) {
  static const std::set<std::string> names = {"--model", "--inputs", "--config", "--output", "--oracle", "--python"};
  return names.count(name) > 0;
}

OptionRow row_of(const CLI::Option &option) {
  OptionRow row;
  const auto &off = option.get_fnames();
  for (const auto &name : option.get_lnames())
    (std::count(off.begin(), off.end(), name) && name.rfind("no-", 0) == 0 ? row.off = "--" + name
                                                                           : row.names.emplace_back("--" + name));
  for (const auto &name : option.get_snames())
    row.names.push_back("-" + name);
  row.values = values_of(option, row.names.front());
  row.names_file = names_file(row.names.front());
  const bool is_flag = option.get_expected_max() == 0;
  row.value_may_be_left_out = is_flag && !row.values.empty();
  const std::string type = option.get_type_name();
  if (row.value_may_be_left_out)
    row.value = "TEXT";
  else if (!is_flag)
    row.value = row.names_file ? "PATH" : type.substr(0, type.find_first_of(":( "));
  row.repeated =
      !is_flag && option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll && option.get_expected_max() > 1;
  row.preset = option.get_default_str();
  row.help = on_one_line(option.get_description());
  row.group = option.get_group();
  return row;
}

CommandRow row_of(const CLI::App &app, const std::string &name) {
  CommandRow row{name, on_one_line(app.get_description()), app.get_footer(), {}};
  for (const CLI::Option *option : app.get_options())
    if (!option->get_lnames().empty())
      row.options.push_back(row_of(*option));
  return row;
}

} // namespace

std::vector<CommandRow> command_rows(const CLI::App &app) {
  std::vector<CommandRow> rows = {row_of(app, "")};
  for (const CLI::App *command : app.get_subcommands({}))
    rows.push_back(row_of(*command, command->get_name()));
  return rows;
}

std::string with_escapes(const std::string &text, const std::string &special, const std::string &escape) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string::npos)
      escaped += escape;
    escaped += c;
  }
  return escaped;
}

} // namespace repro_minify
