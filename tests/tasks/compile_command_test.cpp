// Tests of reading from CMake's compile_commands.json how it compiles.
#include "tasks/compiler.h"

#include "core/files.h"

#include <gtest/gtest.h>

#include <fstream>

namespace repro_minify {
namespace {

std::vector<std::string> command_of(const std::string &text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "compile_commands.json") << text;
  return compile_command_of(folder.path());
}

TEST(CompileCommand, HasNeitherTheSourceNorTheObject) {
  const std::string entry = R"({"directory": "/b", "file": "/s/repro.cpp",
    "command": "/usr/bin/c++ -DX=\\\"a\\\" -isystem /t/include -std=gnu++20 -o x.o -c /s/repro.cpp"})";
  EXPECT_EQ(command_of("[" + entry + "]"),
            (std::vector<std::string>{"/usr/bin/c++", "-DX=\"a\"", "-isystem", "/t/include", "-std=gnu++20"}));
  EXPECT_TRUE(command_of("[" + entry + "," + entry + "]").empty());
}

TEST(CompileCommand, IsEmptyWhereItIsNotKnown) {
  for (const char *text : {"", "{", "[]", "[1]", "[{}]", R"([{"file": "x", "command": "c++ 'x"}])"})
    EXPECT_TRUE(command_of(text).empty()) << text;
}

} // namespace
} // namespace repro_minify
