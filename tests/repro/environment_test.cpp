// Tests that a Python is asked about itself once a day, and again where something was installed.
#include "core/files.h"
#include "core/programs.h"
#include "repro_minify/repro.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

class Environments : public testing::Test {
protected:
  void SetUp() override {
    if (const char *cache = std::getenv("XDG_CACHE_HOME"))
      before_ = cache;
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    fs::create_directories(folder_ / "site" / "torch");
    std::ofstream(folder_ / "site" / "torch" / "version.py") << "__version__ = '1'\n";
    // The answer is how often it was asked.
    std::ofstream(python()) << "#!/bin/sh\ncd " << folder_.path().string() << "\ncase \"$2\" in\n"
                            << "*find_spec*) echo 3.11 Linux; echo $PWD/site/torch/__init__.py ;;\n"
                            << "*) echo x >>calls; echo PyTorch version: $(wc -l <calls); echo /somewhere ;;\nesac\n";
    fs::permissions(python(), fs::perms::owner_all);
  }
  void TearDown() override {
    before_.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }

  std::string python() const { return folder_ / "python"; }
  fs::path kept() const { return folder_ / "cache" / "repro-minify" / "environments"; }

  const TemporaryFolder folder_;
  std::string before_;
};

TEST_F(Environments, AreAskedOnce) {
  EXPECT_EQ(collect_environment(python()), "PyTorch version: 1\n"); // paths are left out
  EXPECT_EQ(collect_environment(python()), "PyTorch version: 1\n");
}

TEST_F(Environments, AreAskedAgainOfAnotherTorch) {
  collect_environment(python());
  std::ofstream(folder_ / "site" / "torch" / "version.py") << "__version__ = '2.0'\n";
  EXPECT_EQ(collect_environment(python()), "PyTorch version: 2\n");
}

TEST_F(Environments, AreAskedAgainWhereAPackageWasInstalled) {
  collect_environment(python());
  fs::create_directories(folder_ / "site" / "numpy");
  EXPECT_EQ(collect_environment(python()), "PyTorch version: 2\n");
}

TEST_F(Environments, AreAskedAgainTheNextDayAndTheOldAnswerGoes) {
  const auto a_day_goes_by = [&] {
    for (const auto &file : fs::directory_iterator(kept()))
      fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(25));
  };
  collect_environment(python());
  std::ofstream(kept() / "foreign") << "not ours to remove";
  a_day_goes_by();
  EXPECT_EQ(collect_environment(python()), "PyTorch version: 2\n");
  a_day_goes_by();
  std::ofstream(folder_ / "site" / "torch" / "version.py") << "__version__ = '2.0'\n";
  EXPECT_EQ(collect_environment(python()), "PyTorch version: 3\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(kept()), {}), 2);
}

TEST_F(Environments, NeedNoCache) {
  std::ofstream(folder_ / "cache") << "a file";
  EXPECT_EQ(collect_environment(python()), "PyTorch version: 1\n");
  EXPECT_EQ(collect_environment(python()), "PyTorch version: 2\n");
}

/// The interpreter's own packages, as far as collect_env looks for them; pip and conda are not asked.
TEST_F(Environments, NameThePackagesOfTheInterpreter) {
  if (find_program("python3").empty())
    GTEST_SKIP() << "needs python3";
  const fs::path site = folder_ / "packages";
  fs::create_directories(site / "torch" / "utils");
  std::ofstream(site / "torch" / "__init__.py") << "";
  std::ofstream(site / "torch" / "utils" / "__init__.py") << "";
  std::ofstream(site / "torch" / "utils" / "collect_env.py")
      << "PIP_PATTERNS = ['torch']\nCOMMON_PATTERNS = ['numpy']\ndef get_pip_packages(run, patterns=None): return 1 / "
         "0\n"
         "def get_pretty_env_info():\n    pip, rows = get_pip_packages(None)\n    return f'{pip}: {rows}'\n";
  for (const char *name : {"torch", "numpy", "unrelated"}) {
    fs::create_directories(site / (std::string(name) + "-9.8.dist-info"));
    std::ofstream(site / (std::string(name) + "-9.8.dist-info") / "METADATA")
        << "Metadata-Version: 2.1\nName: " << name << "\nVersion: 9.8\n";
  }
  std::ofstream(python()) << "#!/bin/sh\nPYTHONPATH=" << site.string() << " exec python3 -S \"$@\"\n";
  EXPECT_EQ(collect_environment(python()), "pip3: numpy==9.8\ntorch==9.8\n");
}

TEST_F(Environments, AreEmptyWhereTheyAreNotKnown) {
  EXPECT_EQ(collect_environment(""), "");
  EXPECT_EQ(collect_environment("/nowhere/python"), "");
}

} // namespace
} // namespace repro_minify
