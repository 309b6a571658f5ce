// A journal that a full disk has cut short for a moment is one that can be resumed from.
#include "reduce/journal.h"

#include "core/files.h"
#include "reduce/structural_oracle.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <signal.h>
#include <sys/resource.h>

namespace repro_minify {
namespace {

/// While it lives, no file may get longer, as on a full disk: what is written is cut short.
class LongestFile {
public:
  explicit LongestFile(std::uintmax_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
    handler_ = signal(SIGXFSZ, SIG_IGN);
  }
  ~LongestFile() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  LongestFile(const LongestFile &) = delete;
  LongestFile &operator=(const LongestFile &) = delete;

private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

TEST(JournalOnAFullDisk, HasWholeLines) {
  const TemporaryFolder folder;
  const std::string path = folder / "journal";
  const Verdict verdict = testing_support::interesting_verdict(true);
  {
    Journal journal(path, Identity(), /*resume=*/false);
    journal.append("before", verdict, "cut", {}, true);
    {
      const LongestFile full(std::filesystem::file_size(path) + 20);
      journal.append("while it is full", verdict, "cut", {}, true);
    }
    EXPECT_NE(journal.find("while it is full"), nullptr);
    journal.append("after", verdict, "cut", {}, true);
  }
  const Journal again(path, Identity(), /*resume=*/true);
  EXPECT_EQ(again.earlier(), 2u);
  EXPECT_NE(again.find("before"), nullptr);
  EXPECT_NE(again.find("after"), nullptr);
}

} // namespace
} // namespace repro_minify
