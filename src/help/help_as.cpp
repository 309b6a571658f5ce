#include "help/help_as.h"

#include <nlohmann/json.hpp>

#include <map>

namespace repro_minify {

std::string help_as_json(const std::vector<CommandRow> &commands) {
  auto list = nlohmann::json::array();
  for (const auto &command : commands) {
    auto options = nlohmann::json::array();
    for (const auto &option : command.options)
      options.push_back({{"names", option.names},
                         {"off", option.off},
                         {"value", option.value},
                         {"value_may_be_left_out", option.value_may_be_left_out},
                         {"repeated", option.repeated},
                         {"values", option.values},
                         {"default", option.preset},
                         {"help", option.help},
                         {"group", option.group}});
    list.push_back({{"command", command.name}, {"help", command.help}, {"options", options}});
  }
  return list.dump(2) + "\n";
}

std::string help_as(const std::string &format, const CLI::App &app) {
  static const std::map<std::string, std::string (*)(const std::vector<CommandRow> &)> writers = {
      {"man", help_as_man},
      {"bash", help_as_bash},
      {"zsh", help_as_zsh},
      {"fish", help_as_fish},
      {"json", help_as_json}};
  return writers.at(format)(command_rows(app));
}

} // namespace repro_minify
