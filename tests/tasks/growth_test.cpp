// Tests of what a stranger's program may have at a time: processes, files, and bytes in them.
#include "tasks/limits.h"

#include "core/files.h"
#include "jobs.h"

#include <fstream>
#include <string>
#include <thread>

namespace repro_minify::sandbox_test {
namespace {

constexpr std::uint64_t megabyte = 1 << 20;

/// The next look is as far away as it may be.
bool is_too_much_soon(Growth &growth) {
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  return growth.is_too_much();
}

void write_file(const std::filesystem::path &path, std::uint64_t bytes) {
  std::ofstream(path) << std::string(bytes, 'x');
}

TEST(Growth, ItsBytesAreThoseOfAllFolders) {
  const TemporaryFolder one, other;
  Growth growth(500, {one.path(), other.path()}, 4 * megabyte);
  std::filesystem::create_directories(one / "a" / "b");
  write_file(one / "a" / "b" / "c", 3 * megabyte);
  EXPECT_FALSE(is_too_much_soon(growth));
  write_file(other / "d", 3 * megabyte);
  EXPECT_TRUE(is_too_much_soon(growth));
  EXPECT_EQ(growth.what(), "writes more than 4 MiB (--memory-limit gives it more)");
}

TEST(Growth, AHoleTakesNoRoomAndALinkLeadsNowhere) {
  const TemporaryFolder folder, elsewhere;
  write_file(elsewhere / "large", 3 * megabyte);
  std::filesystem::create_directory_symlink(elsewhere.path(), folder / "link");
  write_file(folder / "hole", 1);
  std::filesystem::resize_file(folder / "hole", 1000 * megabyte);
  Growth growth(500, {folder.path()}, megabyte);
  EXPECT_FALSE(is_too_much_soon(growth)) << growth.what();
}

TEST(Growth, ProcessesCountWhereverTheyWent) {
  const TemporaryFolder folder;
  Growth few(5, {folder.path()}, megabyte), many(20, {folder.path()}, megabyte);
  bool was_few = true, was_many = true;
  Limits limits;
  limits.interrupted = [&] {
    was_few = !few.is_too_much();
    was_many = many.is_too_much();
    return !was_few;
  };
  const JobEnd job_end = run_in_sandbox(
      [](Child &) {
        for (int i = 0; i < 10; ++i)
          if (fork() == 0) {
            setsid();
            pause();
          }
        sleep(20);
      },
      limits);
  EXPECT_EQ(job_end.ending, Ending::Cancelled);
  EXPECT_FALSE(was_few);
  EXPECT_FALSE(was_many);
  EXPECT_EQ(few.what(), "has more than 5 processes at a time");
  expect_no_children();
}

} // namespace
} // namespace repro_minify::sandbox_test
