// Candidates leave traces of all kinds in a process that holds a CUDA device, where there is none (on_cuda.h), and
// other processes use the device meanwhile: no answer is another because of it.
#include "all_tests.h"
#include "cases.h"
#include "on_cuda.h"

#include <gtest/gtest.h>

#include <cstdint>

#include <fcntl.h>
#include <unistd.h>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::string> &a_reduction() {
  static const std::vector<std::string> words = {case_named("freeze_linear_bn_3d").model(), "--backend", "freeze"};
  return words;
}

void expect_same(const ReducedOnCuda &one, const ReducedOnCuda &other) {
  ASSERT_TRUE(one.report.is_object() && other.report.is_object());
  EXPECT_EQ(one.answers, other.answers);
  EXPECT_EQ(one.report.at("program"), other.report.at("program"));
  EXPECT_EQ(one.report.at("checks"), other.report.at("checks"));
}

/// All that is asked of a device here is asked of one process, but for what is never asked of one that is kept.
TEST(SpoiltProcesses, AreNoneWhereNothingIsWrong) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const ReducedOnCuda kept = reduced_on_cuda(a_reduction()),
                      fresh = reduced_on_cuda(a_reduction(), "", {fresh_processes});
  expect_same(kept, fresh);
  const auto checks = kept.report.at("checks").get<unsigned>();
  // The original has a process of its own, and the search one for all of the others.
  EXPECT_GE(fresh.contexts - kept.contexts, checks - 2) << kept.contexts << " and " << fresh.contexts;
}

/// It is given up, and its last answer with it. Each is a word of plugins/pretended_cuda/device/faults.cpp.
TEST(SpoiltProcesses, ChangeNoAnswer) {
  const ReducedOnCuda undisturbed = reduced_on_cuda(a_reduction(), "", {fresh_processes});
  const std::uintmax_t contexts = reduced_on_cuda(a_reduction()).contexts;
  for (const char *word : {"leak", "overrun", "late-error", "denormals", "grad-mode", "default-dtype"}) {
    SCOPED_TRACE(word);
    const ReducedOnCuda spoilt = reduced_on_cuda(a_reduction(), word);
    expect_same(spoilt, undisturbed);
    EXPECT_GT(spoilt.contexts, contexts);
  }
}

// Freezing folds a batch norm, for which it takes the root of its variance; eager does not.

std::string kind_with(const std::string &asked) {
  const Finished finished =
      run_on_cuda({"run", case_named("freeze_linear_bn_3d").model(), "--backend", "freeze", "--json", "--no-timing"},
                  {"PRETENDED_CUDA=" + asked});
  EXPECT_EQ(finished.exit_code, 1) << describe(finished);
  return json::parse(finished.out).at("verdict").value("kind", "");
}

/// A kernel's error surfaces where the device is next waited for. Most stay, and then the process is as good as dead.
TEST(DeviceErrors, AreCrashesIfTheyStay) {
  EXPECT_EQ(kind_with("error-in:aten::rsqrt"), "crash");
  EXPECT_EQ(kind_with("error-in:aten::rsqrt once"), "exception");
}

/// Each candidate that fails loses its process, and no other. The repros wait for the device, and raise its error.
TEST(DeviceErrors, AreReduced) {
  const char *asked = "error-in:aten::rsqrt";
  std::vector<std::string> verified = a_reduction();
  verified.emplace_back(verify);
  const ReducedOnCuda kept = reduced_on_cuda(verified, asked),
                      fresh = reduced_on_cuda(a_reduction(), asked, {fresh_processes});
  expect_same(kept, fresh);
  EXPECT_EQ(kept.report.at("verdict").at("kind"), "crash");
  EXPECT_EQ(kept.report.at("verified"), true);
  EXPECT_EQ(kept.report.at("repro_py").at("verified"), true);
  EXPECT_LT(kept.contexts, fresh.contexts);
}

// The memory of the device, which all processes share.

/// Memory that others hold now and then says nothing of a candidate: it is asked again.
TEST(MemoryOfTheDevice, ThatOthersHoldChangesNoAnswer) {
  expect_same(reduced_on_cuda(a_reduction(), "crowded"), reduced_on_cuda(a_reduction()));
}

/// The file that the device's processes share (plugins/pretended_cuda/device/memory.cpp), with this process among them.
class SharedMemory {
public:
  SharedMemory(const fs::path &path, std::int64_t all, std::int64_t held)
      : file_(open(path.c_str(), O_RDWR | O_CREAT, 0600)) {
    constexpr int last_place = 510;
    std::int64_t content[2 + last_place] = {all};
    content[1 + last_place] = held;
    EXPECT_EQ(write(file_, content, sizeof content), static_cast<ssize_t>(sizeof content));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_start = last_place;
    lock.l_len = 1;
    EXPECT_EQ(fcntl(file_, F_SETLK, &lock), 0);
  }
  ~SharedMemory() { close(file_); }
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;

private:
  const int file_;
};

TEST(MemoryOfTheDevice, ThatAnotherProcessFillsIsNoFailure) {
  const TemporaryFolder folder;
  constexpr std::int64_t all = std::int64_t{1} << 30;
  const SharedMemory shared(folder / "memory", all, all);
  const Finished finished =
      run_on_cuda({"run", case_named("freeze_linear_bn_3d").model(), "--backend", "freeze", "--no-timing"},
                  {"PRETENDED_CUDA_MEMORY=" + std::string(folder / "memory")});
  EXPECT_GT(finished.exit_code, 1) << describe(finished);
  EXPECT_TRUE(contains(finished.out + finished.err, "other processes hold 1 GiB of its 1 GiB")) << describe(finished);
}

/// A candidate that takes it all by itself is short of memory, and no other process is to blame.
TEST(MemoryOfTheDevice, ThatTheModelTakesIsItsOwn) {
  const TemporaryFolder folder;
  const SharedMemory shared(folder / "memory", 2000, 0);
  const Finished finished =
      run_on_cuda({"run", case_named("freeze_linear_bn_3d").model(), "--backend", "freeze", "--no-timing"},
                  {"PRETENDED_CUDA_MEMORY=" + std::string(folder / "memory")});
  EXPECT_TRUE(contains(finished.out + finished.err, "CUDA out of memory")) << describe(finished);
  EXPECT_FALSE(contains(finished.out + finished.err, "other processes hold")) << describe(finished);
}

} // namespace
} // namespace repro_minify::end_to_end
