// Tests of what becomes of compiled kernels that were not used for long.
#include "tasks/compiler.h"

#include "tasks/kernel_folder.h"

#include <chrono>
#include <fstream>
#include <set>

#include <sys/stat.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class KernelCache : public WithKernelFolder {
protected:
  /// A hash.
  static std::string hash(char digit) { return std::string(64, digit); }
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
  keep(hash('1') + ".so", 24h);
  keep(hash('2') + ".cubin", 48h);
  tidy_kernel_cache(2000);
  EXPECT_EQ(names(), (std::set<std::string>{hash('1') + ".so", hash('2') + ".cubin"}));
}

TEST_F(KernelCache, LosesWhatWasUsedLeastRecently) {
  keep(hash('1') + ".so", 24h);
  keep(hash('2') + ".so", 48h);
  keep(hash('3') + ".so", 72h);
  EXPECT_TRUE(is_kept(kernel_cache_folder() / (hash('3') + ".so"))); // which is a use
  tidy_kernel_cache(2999);
  EXPECT_EQ(names(), (std::set<std::string>{hash('1') + ".so", hash('3') + ".so"}));
}

TEST_F(KernelCache, LosesWhatKilledCompilationsHaveLeft) {
  keep(hash('a') + ".so.ABC123.cpp", 2h);
  keep(hash('a') + ".cubin.ABC123", 2h);
  keep(hash('b') + ".so.ABC124.cpp", 1min); // may still be at work
  keep(hash('b') + ".so", 2h);
  tidy_kernel_cache();
  EXPECT_EQ(names(), (std::set<std::string>{hash('b') + ".so", hash('b') + ".so.ABC124.cpp"}));
}

TEST_F(KernelCache, KnowsWhatIsNotThere) {
  EXPECT_FALSE(is_kept(kernel_cache_folder() / (hash('0') + ".so")));
  EXPECT_EQ(names(), std::set<std::string>{});
}

TEST_F(KernelCache, DoesNotTidyWhatIsNotItsOwn) {
  keep("libprecious.so.6", 100h);
  keep("notes.so", 100h);
  const fs::path elsewhere = fs::path(folder_) / "elsewhere";
  std::ofstream(elsewhere) << std::string(5000, 'x');
  fs::create_symlink(elsewhere, kernel_cache_folder() / (hash('c') + ".so"));
  tidy_kernel_cache(1);
  EXPECT_EQ(names(), (std::set<std::string>{"libprecious.so.6", "notes.so", hash('c') + ".so"}));
  EXPECT_TRUE(fs::exists(elsewhere));
}

TEST_F(KernelCache, DoesNotTakeALinkForAKernel) {
  const fs::path planted = fs::path(folder_) / "planted", link = kernel_cache_folder() / (hash('c') + ".so");
  std::ofstream(planted) << "x";
  fs::create_symlink(planted, link);
  EXPECT_FALSE(is_kept(link));
}

TEST_F(KernelCache, IsPrivateWhateverTheUmask) {
  const mode_t before = umask(0);
  const fs::path folder = kernel_cache_folder();
  umask(before);
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(folder.parent_path()).permissions(), fs::perms::owner_all);
}

/// Where others can rename folders on the way, or have made one of them, it lies elsewhere.
TEST_F(KernelCache, IsNotWhereOthersCanWrite) {
  fs::permissions(folder_, fs::perms::all);
  EXPECT_NE(kernel_cache_folder().string().rfind(folder_, 0), 0u);
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(kernel_cache_folder().string().rfind(folder_, 0), 0u);
}

TEST_F(KernelCache, IsNotWhereALinkLeads) {
  const fs::path elsewhere = fs::path(folder_) / "elsewhere";
  fs::create_directory(elsewhere);
  fs::create_directory_symlink(elsewhere, fs::path(folder_) / "repro-minify");
  EXPECT_NE(kernel_cache_folder().string().rfind(folder_, 0), 0u);
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

} // namespace
} // namespace repro_minify
