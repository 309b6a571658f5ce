// Tests of what becomes of precompiled headers that were not used for long.
#include "toolchain/header_cache.h"

#include "header_folder.h"

namespace repro_minify {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class HeaderCache : public WithHeaderFolder {
protected:
  static std::string hash(char digit) { return std::string(32, digit); }
  /// One of 1000 bytes that was used so long ago.
  static void keep(const std::string &name, std::chrono::minutes ago) {
    const fs::path folder = header_cache_folder() / name;
    fs::create_directories(folder / "torch");
    std::ofstream(folder / "torch" / "script.h.gch") << std::string(900, 'x');
    std::ofstream(folder / "kept") << std::string(100, 'x');
    fs::last_write_time(folder / "kept", fs::file_time_type::clock::now() - ago);
  }
  static void tidy(std::uintmax_t most_bytes) {
    const auto lock = HeaderCacheLock::take(header_cache_folder());
    ASSERT_TRUE(lock);
    tidy_header_cache(*lock, most_bytes);
  }
};

TEST_F(HeaderCache, LosesWhatWasUsedLeastRecently) {
  keep(hash('1'), 24h);
  keep(hash('2'), 72h);
  keep(hash('3'), 48h);
  tidy(3000);
  EXPECT_EQ(names().size(), 3u);
  tidy(2999);
  EXPECT_EQ(names(), (std::set<std::string>{hash('1'), hash('3')}));
}

TEST_F(HeaderCache, LosesWhatIsHalfMadeUnlessItIsBeingMade) {
  keep(hash('1') + ".ABC123", 1min);
  keep(hash('2'), 1min);
  {
    const auto lock = HeaderCacheLock::take(header_cache_folder());
    ASSERT_TRUE(lock);
    EXPECT_FALSE(HeaderCacheLock::take(header_cache_folder()));
    remove_half_made_headers();
    EXPECT_EQ(names().size(), 2u);
  }
  remove_half_made_headers();
  EXPECT_EQ(names(), std::set<std::string>{hash('2')});
}

TEST_F(HeaderCache, DoesNotTidyWhatIsNotItsOwn) {
  keep("precious", 1000h);
  const fs::path elsewhere = temporary_ / "elsewhere";
  fs::create_directory(elsewhere);
  std::ofstream(elsewhere / "file") << "x";
  fs::create_directory_symlink(elsewhere, header_cache_folder() / hash('1'));
  tidy(0);
  EXPECT_TRUE(names().contains("precious"));
  EXPECT_TRUE(fs::exists(elsewhere / "file"));
}

TEST_F(HeaderCache, IsApartFromTheKernels) {
  EXPECT_EQ(header_cache_folder(), temporary_ / "cache" / "repro-minify" / "headers");
  EXPECT_EQ(fs::status(header_cache_folder()).permissions(), fs::perms::owner_all);
}

} // namespace
} // namespace repro_minify
