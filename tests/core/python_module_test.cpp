#include "core/files.h"
#include "core/programs.h"

#include <gtest/gtest.h>

#include <fstream>

namespace repro_minify {
namespace {

TEST(PythonModule, IsANameOrAFile) {
  EXPECT_EQ(no_module_because("package.module_2"), "");
  EXPECT_EQ(importable("package.module"), "package.module");
  for (const char *none : {"", ".", "a..b", "a.", "2a", "a b", "a;b", "os=1"})
    EXPECT_NE(no_module_because(none).find("neither the name of a module"), std::string::npos) << none;
}

TEST(PythonModule, OfAFileHasTheNameOfTheFile) {
  const TemporaryFolder folder;
  std::ofstream(folder / "users_ops.py") << "import torch\n";
  const std::string file = folder / "users_ops.py";
  EXPECT_TRUE(is_python_file(file));
  EXPECT_EQ(no_module_because(file), "");
  EXPECT_EQ(importable(file), file);
  EXPECT_NE(no_module_because(folder / "none.py").find("no such file"), std::string::npos);
  EXPECT_NE(no_module_because("repro.py"), "");
  EXPECT_NE(no_module_because("two words.py"), "");
}

} // namespace
} // namespace repro_minify
