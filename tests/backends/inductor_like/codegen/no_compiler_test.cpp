// A compiler that cannot do its work says nothing of the source; one that finds fault with the source does.
#include "backends/inductor_like/kernel_library.h"
#include "core/no_answer.h"
#include "tasks/compiler.h"
#include "tasks/kernel_folder.h"

#include <fstream>
#include <thread>
#include <vector>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

constexpr const char *kernel = "extern \"C\" void kernel(void *const *, int) {}\n";

class Compiler : public WithKernelFolder {
protected:
  void TearDown() override {
    unsetenv("CXX");
    WithKernelFolder::TearDown();
  }
  /// A shell script in the place of the compiler.
  void stand_in(const std::string &script) {
    const fs::path path = fs::path(folder_) / "compiler.sh";
    std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(path, fs::perms::owner_all);
    setenv("CXX", path.c_str(), 1);
  }
  static void build(const std::string &source) { build_kernels(source, {"kernel"}, 0); }
};

TEST_F(Compiler, ThatCouldNotDoItsWorkHasNoAnswer) {
  for (const char *script : {
           "kill -9 $$",
           "echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1",
           "echo 'k.cpp:1:1: fatal error: error writing to /tmp/x.s: No space left on device' >&2; exit 1",
           "echo 'c++: internal compiler error: File size limit exceeded signal terminated program cc1plus' >&2; exit "
           "4",
           "echo 'g++: fatal error: cannot execute cc1plus: vfork: Resource temporarily unavailable' >&2; exit 1",
           // The message before this line had no room in the file that it was to be kept in.
           "echo 'collect2: error: ld returned 1 exit status' >&2; exit 1",
           "exit 1",
           "exit 127",
       }) {
    stand_in(script);
    EXPECT_THROW(build(kernel), NoAnswer) << script;
  }
}

TEST_F(Compiler, ThatFindsFaultWithTheSourceHasAnswered) {
  try {
    build("no C++");
    FAIL() << "it compiled";
  } catch (const NoAnswer &none) {
    FAIL() << none.what();
  } catch (const std::runtime_error &error) {
    EXPECT_EQ(std::string(error.what()).rfind("C++ compile error: ", 0), 0u) << error.what();
  }
}

TEST_F(Compiler, ThatIsNotThereHasNoAnswer) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  EXPECT_THROW(build(kernel), NoAnswer);
  setenv("PATH", path.c_str(), 1);
}

TEST_F(Compiler, ThatLeavesNothingBehindWhateverBecomesOfIt) {
  stand_in("exit 1");
  EXPECT_THROW(build(kernel), NoAnswer);
  EXPECT_TRUE(fs::is_empty(kernel_cache_folder()));
}

/// Two threads have one process number: each has files of its own all the same.
TEST_F(Compiler, IsAskedByManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] { EXPECT_NO_THROW(build(kernel)); });
  for (auto &thread : threads)
    thread.join();
  for (const auto &entry : fs::directory_iterator(kernel_cache_folder()))
    EXPECT_FALSE(entry.path().stem().has_extension()) << entry.path();
}

} // namespace
} // namespace repro_minify
