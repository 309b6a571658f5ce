// Whose the files in the folder of results are.
#include "repro/results_folder.h"

#include "core/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path &path, const std::string &text) {
  std::ofstream(path, std::ios::trunc) << text;
}

TEST(ResultsFolder, TellsWhatLayThereFromWhatIsWritten) {
  const TemporaryFolder temporary; // which is locked itself
  const fs::path folder = temporary / "results";
  fs::create_directory(folder);
  write_file(folder / "repro.py", "somebody's");
  write_file(folder / "report.md", "somebody's");
  begin_results(folder.string());
  fs::remove(folder / "report.md");
  write_file(folder / "report.md", "ours");
  write_file(folder / "issue.md", "ours");
  fs::create_symlink(folder / "issue.md", folder / "report.json");
  EXPECT_FALSE(is_of_this_run(folder / "repro.py"));
  EXPECT_TRUE(is_of_this_run(folder / "report.md"));
  EXPECT_TRUE(is_of_this_run(folder / "issue.md"));
  EXPECT_FALSE(is_of_this_run(folder / "report.json")) << "a link";
  EXPECT_FALSE(is_of_this_run(folder / "nothing"));
}

TEST(ResultsFolder, RemovesWhatAnEarlierRunLeftAndNothingElse) {
  const TemporaryFolder temporary; // which is locked itself
  const fs::path folder = temporary / "results";
  fs::create_directory(folder);
  for (const char *name : {"repro.py", "report.md", "reduced.pt.17.partial", "notes.txt", "x.17.partial"})
    write_file(folder / name, "there");
  fs::create_directory(folder / "candidates");
  begin_results(folder.string());
  remove_earlier_results(folder.string());
  EXPECT_TRUE(fs::exists(folder / "repro.py")) << "nothing says that it is a run's";
  write_file(folder / "journal.jsonl", "{\"entries\":[]}\n");
  remove_earlier_results(folder.string());
  EXPECT_TRUE(fs::exists(folder / "repro.py")) << "another program's journal";
  write_file(folder / "journal.jsonl", "{\"identity\":{}}\n");
  write_file(folder / "issue.md", "written now");
  remove_earlier_results(folder.string());
  for (const char *name : {"repro.py", "report.md", "reduced.pt.17.partial"})
    EXPECT_FALSE(fs::exists(folder / name)) << name;
  for (const char *name : {"notes.txt", "x.17.partial", "candidates", "issue.md"})
    EXPECT_TRUE(fs::exists(folder / name)) << name;
}

} // namespace
} // namespace repro_minify
