#include "cli/config_text.h"

#include <toml++/toml.h>

#include <optional>
#include <sstream>
#include <stdexcept>

namespace repro_minify {
namespace {

/// CLI11 takes text, and turns it into what the option wants. Nothing for what no option takes.
std::optional<std::string> text_of(const toml::node &node) {
  if (const auto *text = node.as_string())
    return text->get();
  if (const auto *flag = node.as_boolean())
    return flag->get() ? "true" : "false";
  if (!node.is_integer() && !node.is_floating_point())
    return std::nullopt;
  std::ostringstream text;
  text << toml::node_view<const toml::node>(node);
  return text.str();
}

bool add_value(const toml::node &node, ConfigEntry &entry) {
  const auto text = text_of(node);
  if (text)
    entry.values.push_back(*text);
  return text.has_value();
}

ConfigEntry entry_of(const std::string &name, const toml::node &node) {
  ConfigEntry entry{name, {}, ""};
  bool understood = true;
  if (const auto *list = node.as_array())
    for (const auto &element : *list)
      understood = add_value(element, entry) && understood;
  else
    understood = add_value(node, entry);
  if (!understood)
    entry.problem = "wants a string, a number, true or false, or a list of them";
  return entry;
}

} // namespace

std::vector<ConfigEntry> read_config_text(const std::string &text) {
  try {
    const toml::table table = toml::parse(text);
    std::vector<ConfigEntry> entries;
    for (const auto &[key, node] : table)
      entries.push_back(entry_of(std::string(key.str()), node));
    return entries;
  } catch (const toml::parse_error &problem) {
    std::ostringstream words;
    words << "line " << problem.source().begin.line << ": " << problem.description();
    throw std::invalid_argument(words.str());
  }
}

} // namespace repro_minify
