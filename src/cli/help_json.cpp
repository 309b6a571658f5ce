#include "cli/help_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <vector>

namespace repro_minify {
namespace {

using nlohmann::json;

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

std::string help_json(const CLI::App &app) {
  json commands = json::array();
  commands.push_back(json_of(app, ""));
  for (const CLI::App *command : app.get_subcommands({}))
    commands.push_back(json_of(*command, command->get_name()));
  return commands.dump(2) + "\n";
}

} // namespace repro_minify
