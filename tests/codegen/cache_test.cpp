// What becomes of compiled kernels that nobody has used for long.
#include "codegen/cache.h"

#include "kernel_folder.h"

#include <chrono>
#include <fstream>
#include <set>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class KernelCache : public WithKernelFolder {
protected:
  /// A file of 1000 bytes that was used so long ago.
  static void keep(const std::string &name, std::chrono::minutes ago) {
    const fs::path path = kernel_cache_folder() / name;
    std::ofstream(path) << std::string(1000, 'x');
    fs::last_write_time(path, fs::file_time_type::clock::now() - ago);
  }
  static std::set<std::string> names() {
    std::set<std::string> names;
    for (const auto &entry : fs::directory_iterator(kernel_cache_folder()))
      names.insert(entry.path().filename());
    return names;
  }
};

TEST_F(KernelCache, KeepsWhatItHasRoomFor) {
  keep("old.so", 24h);
  keep("older.cubin", 48h);
  tidy_kernel_cache(2000);
  EXPECT_EQ(names(), (std::set<std::string>{"old.so", "older.cubin"}));
}

TEST_F(KernelCache, LosesWhatWasUsedLeastRecently) {
  keep("old.so", 24h);
  keep("older.so", 48h);
  keep("oldest.so", 72h);
  EXPECT_TRUE(is_kept(kernel_cache_folder() / "oldest.so")); // which is a use
  tidy_kernel_cache(2999);
  EXPECT_EQ(names(), (std::set<std::string>{"old.so", "oldest.so"}));
}

TEST_F(KernelCache, LosesWhatKilledCompilationsHaveLeft) {
  keep("a.so.123.cpp", 2h);
  keep("a.cubin.123", 2h);
  keep("b.so.124.cpp", 1min); // may still be at work
  keep("b.so", 2h);
  tidy_kernel_cache();
  EXPECT_EQ(names(), (std::set<std::string>{"b.so", "b.so.124.cpp"}));
}

TEST_F(KernelCache, KnowsWhatIsNotThere) {
  EXPECT_FALSE(is_kept(kernel_cache_folder() / "none.so"));
  EXPECT_EQ(names(), std::set<std::string>{});
}

} // namespace
} // namespace repro_minify
