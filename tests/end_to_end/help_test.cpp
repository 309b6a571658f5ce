// docs/reference.md says what the program says of itself: options under the same headings in the same order, backends.
#include "all_tests.h"
#include "cases.h"
#include "program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

namespace repro_minify::end_to_end {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>; ///< heading and name, in order

/// Every match of the first group.
std::vector<std::string> all_of(const std::string &text, const std::string &pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

std::vector<std::string> reference() {
  return lines_of(read_text(fixtures().parent_path() / "docs" / "reference.md"));
}

/// Returns the options in the reference's tables whose heading has an empty second cell.
Rows options_of_reference() {
  Rows rows;
  std::string heading;
  for (const std::string &line : reference()) {
    if (line.empty())
      heading.clear();
    if (line.size() > 4 && line.rfind("| ", 0) == 0 && line.ends_with(" | |") && line.find("--") == std::string::npos)
      heading = std::regex_replace(line.substr(2, line.size() - 6), std::regex(" \\(\\[.*|`"), "");
    const std::string cell = line.substr(0, line.find(" | ")); // a bar within it has a backslash before it
    if (!heading.empty() && line.rfind("| `", 0) == 0)
      for (const auto &name : all_of(cell, "(--[a-z0-9-]+)"))
        rows.emplace_back(heading, name);
  }
  return rows;
}

Rows options_of_help(const std::vector<std::string> &command) {
  std::vector<std::string> arguments = command;
  arguments.push_back("-h");
  Rows rows;
  std::string heading;
  for (const std::string &line : lines_of(run_tool(arguments).out)) {
    if (!line.empty() && line[0] != ' ' && line.ends_with(":"))
      heading = line.substr(0, line.size() - 1);
    const bool has_names = line.rfind("  -", 0) == 0;
    for (const auto &name :
         has_names ? all_of(line.substr(0, line.find(' ', 2)), "(--[a-z0-9-]+)") : std::vector<std::string>{})
      rows.emplace_back(heading, name);
  }
  return rows;
}

TEST(Help, HasTheHeadingsAndTheOrderOfTheReference) {
  const Rows expected = options_of_reference();
  EXPECT_GT(expected.size(), 60u);
  std::set<std::pair<std::string, std::string>> seen;
  for (const std::vector<std::string> &command :
       {std::vector<std::string>{}, {"run"}, {"analyze"}, {"bisect"}, {"backends"}}) {
    const Rows rows = options_of_help(command);
    EXPECT_FALSE(rows.empty());
    auto at = expected.begin();
    for (const auto &row : rows) {
      const auto found = std::find(at, expected.end(), row);
      EXPECT_NE(found, expected.end()) << row.second << " under \"" << row.first << "\" of "
                                       << (command.empty() ? "the program" : command[0])
                                       << " is not in docs/reference.md, or not in that place";
      if (found != expected.end())
        at = found + 1;
      seen.insert(row);
    }
  }
  for (const auto &row : expected)
    EXPECT_TRUE(seen.count(row)) << row.second << " under \"" << row.first << "\" is in docs/reference.md alone";
}

TEST(Backends, AreThoseOfTheReferenceInItsOrder) {
  std::vector<std::string> expected;
  for (const std::string &line : reference()) {
    const auto names = all_of(line, "^\\| `((?:[a-z][a-z-]*|pass:NAME.*|plugin:PATH.so|command:CMD))` \\| ");
    if (names.empty())
      continue;
    if (names[0].rfind("pass:", 0) != 0)
      expected.push_back(names[0]);
    else
      for (const auto &pass : all_of(line.substr(line.find(" | ")), "`([a-z-]+)`"))
        expected.push_back("pass:" + pass);
  }
  std::vector<std::string> listed;
  // No Python is asked: that takes seconds, and what it has is left out below.
  for (const auto &row : nlohmann::json::parse(run_tool({"backends", "--json", "--python", "/bin/false"}).out))
    if (const std::string name = row.at("name"); name.rfind("torch-compile:", 0) != 0 && name.rfind("export:", 0) != 0)
      listed.push_back(name); // the others are what the Python here has
  EXPECT_EQ(listed, expected);
}

TEST(Version, SaysWhatItWasBuiltFromAndWith) {
  const Finished finished = run_tool({"--version"});
  EXPECT_EQ(finished.exit_code, 0) << describe(finished);
  EXPECT_TRUE(std::regex_match(finished.out, std::regex("repro-minify [0-9.]+\ntorch 2\\.[0-9.]+\\S*\n"
                                                        "commit ([0-9a-f]{12}(-changed)?|unknown)\n"
                                                        "compiler [^\n]*[0-9.]+[^\n]*\n")))
      << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
