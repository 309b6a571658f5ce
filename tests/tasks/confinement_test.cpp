// Tests of what a confined child may reach. The kernel of the machine decides what can be asked.
#include "core/files.h"
#include "tasks/kernel_rules.h"

#include "jobs.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>

namespace repro_minify::sandbox_test {
namespace {

namespace fs = std::filesystem;

std::string opened(const std::string &path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC, 0600);
  const int problem = errno;
  if (file >= 0)
    close(file);
  return file >= 0 ? "yes" : problem == EACCES ? "refused" : "errno " + std::to_string(problem);
}

/// Returns the reply of a confined child that tries something.
std::string confined(const std::function<std::string()> &tries, const Confinement &confinement = {}) {
  const JobEnd job_end = run([&](Child &child) {
    child.confine(confinement);
    child.reply(tries());
  });
  EXPECT_EQ(job_end.ending, Ending::Replied) << job_end.message << job_end.output_tail;
  return job_end.reply;
}

class ConfinedFiles : public testing::Test {
protected:
  void SetUp() override {
    if (landlock_version() == 0)
      GTEST_SKIP() << "this kernel has no Landlock";
    std::ofstream(secret) << "secret";
  }
  const TemporaryFolder folder;
  const std::string secret = folder / "secret";
};

TEST_F(ConfinedFiles, ThatAreNotNeededAreNeitherReadNorWritten) {
  EXPECT_EQ(confined([&] { return opened(secret, O_RDONLY); }), "refused");
  EXPECT_EQ(confined([&] { return opened(secret, O_WRONLY); }), "refused");
  EXPECT_EQ(confined([&] { return opened(folder / "new", O_WRONLY | O_CREAT); }), "refused");
  EXPECT_EQ(confined([&] { return std::string(unlink(secret.c_str()) == 0 ? "yes" : "refused"); }), "refused");
  EXPECT_TRUE(fs::exists(secret));
}

TEST_F(ConfinedFiles, AreNotTruncated) {
  if (landlock_version() < 3)
    GTEST_SKIP() << "this kernel's Landlock does not know truncation";
  EXPECT_EQ(confined([&] { return std::string(truncate(secret.c_str(), 0) == 0 ? "yes" : "refused"); }), "refused");
}

TEST_F(ConfinedFiles, OfTheSystemAreRead) {
  EXPECT_EQ(confined([] { return opened("/proc/self/maps", O_RDONLY); }), "yes");
  EXPECT_EQ(confined([] { return opened("/usr/bin/env", O_RDONLY); }), "yes");
  EXPECT_EQ(confined([] { return opened("/usr/bin/new", O_WRONLY | O_CREAT); }), "refused");
}

TEST_F(ConfinedFiles, OfOtherProcessesAreNotRead) {
  const std::string parent = "/proc/" + std::to_string(getpid()) + "/environ";
  EXPECT_EQ(confined([&] { return opened(parent, O_RDONLY); }), "refused");
}

TEST_F(ConfinedFiles, OfThePrivateFolderAreItsOwn) {
  EXPECT_EQ(confined([] {
              std::ofstream(fs::temp_directory_path() / "mine") << "text";
              return opened(fs::temp_directory_path() / "mine", O_RDWR);
            }),
            "yes");
  EXPECT_TRUE(fs::exists(private_folder_of_children() / "mine"));
}

TEST_F(ConfinedFiles, ThatTheUserNamedAreReadAndNotWritten) {
  const std::string named = folder / "named";
  std::ofstream(named) << "model";
  let_children_read(named);
  EXPECT_EQ(confined([&] { return opened(named, O_RDONLY); }), "yes");
  EXPECT_EQ(confined([&] { return opened(named, O_RDWR); }), "refused");
}

TEST_F(ConfinedFiles, ThatABackendNeedsAreWritten) {
  EXPECT_EQ(confined([&] { return opened(folder / "new", O_WRONLY | O_CREAT); }, {.writable = {folder.path()}}), "yes");
}

TEST_F(ConfinedFiles, AreOpenToAProgramOfTheUsersOwn) {
  EXPECT_EQ(confined([&] { return opened(secret, O_RDWR); }, {.none = true}), "yes");
}

TEST_F(ConfinedFiles, StayClosedToProgramsThatAreStarted) {
  const std::string command = "/usr/bin/env cat " + secret + " 2>/dev/null";
  EXPECT_EQ(confined([&] { return std::string(std::system(command.c_str()) == 0 ? "yes" : "refused"); }), "refused");
}

/// Landlock does not keep a file's owner from changing what is said of it; the system call filter does.
TEST(Confined, FilesKeepWhatIsSaidOfThem) {
  if (!has_system_call_filters())
    GTEST_SKIP() << "this kernel takes no filters";
  const TemporaryFolder folder;
  const std::string file = folder / "private";
  std::ofstream(file) << "secret";
  fs::permissions(file, fs::perms::owner_read);
  const auto before = fs::last_write_time(file);
  const timespec long_ago[2] = {};
  const auto answer = [](const std::function<long()> &way) {
    return confined([&] { return std::string(way() == 0 ? "done" : std::strerror(errno)); });
  };
  const std::function<long()> refused[] = {
      [&] { return chown(file.c_str(), getuid(), getgid()); },
      [&] { return lchown(file.c_str(), getuid(), getgid()); },
      [&] { return setxattr(file.c_str(), "user.mark", "x", 1, 0); },
  };
  for (const auto &way : refused)
    EXPECT_EQ(answer(way), std::strerror(EPERM));
  const std::function<long()> left_undone[] = {
      [&] { return chmod(file.c_str(), 0777); },
      [&] { return fchmod(open(file.c_str(), O_RDONLY | O_CLOEXEC), 0777); },
      [&] { return fchmodat(AT_FDCWD, file.c_str(), 0777, 0); },
      [&] { return syscall(452, AT_FDCWD, file.c_str(), 0777, 0); }, // fchmodat2
      [&] { return utimensat(AT_FDCWD, file.c_str(), long_ago, 0); },
  };
  for (const auto &way : left_undone)
    EXPECT_EQ(answer(way), "done");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read);
  EXPECT_EQ(fs::last_write_time(file), before);
}

TEST(Confined, OtherProcessesKeepTheirLimitsAndTurns) {
  if (!has_system_call_filters())
    GTEST_SKIP() << "this kernel takes no filters";
  const pid_t parent = getpid();
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  cpu_set_t all;
  memset(&all, 0xff, sizeof all);
  const std::function<long()> ways[] = {
      [&] { return prlimit(parent, RLIMIT_CORE, &limit, nullptr); },
      [&] { return setpriority(PRIO_PROCESS, static_cast<id_t>(parent), 19); },
      [&] { return setpriority(PRIO_USER, 0, 19); }, // 0: the caller's user, and all that it runs
      [&] { return setpriority(PRIO_PGRP, 0, 19); },
      [&] { return syscall(SYS_ioprio_set, /*IOPRIO_WHO_USER=*/3, 0, 0); },
      // The kernel reads 32 bits of the resource; this is the one that marks what a check has started.
      [&] { return syscall(SYS_prlimit64, 0, RLIMIT_RTTIME | 1L << 32, &limit, nullptr); },
      [&] { return sched_setaffinity(parent, sizeof all, &all); },
      [&] { return shmget(IPC_PRIVATE, 4096, 0600) >= 0 ? 0 : -1; },
  };
  for (const auto &way : ways)
    EXPECT_EQ(confined([&] { return std::string(way() == 0 ? "yes" : std::strerror(errno)); }), std::strerror(EPERM));
}

TEST(Confined, ThereIsNoNetwork) {
  if (!has_system_call_filters())
    GTEST_SKIP() << "this kernel takes no filters";
  // A kernel without such a network gives another error: this one is the filter's.
  const std::string refused = std::strerror(EACCES);
  const auto makes_socket = [](int family) {
    const int type = family == AF_NETLINK ? SOCK_RAW : SOCK_STREAM;
    return [family, type] { return std::string(socket(family, type, 0) >= 0 ? "yes" : std::strerror(errno)); };
  };
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK})
    EXPECT_EQ(confined(makes_socket(family), {.cuda = false}), refused) << family;
  EXPECT_EQ(confined(makes_socket(AF_UNIX), {.unix_sockets = true}), "yes");
  EXPECT_EQ(confined(makes_socket(AF_INET), {.unix_sockets = true}), refused);
  EXPECT_EQ(confined(makes_socket(AF_UNIX), {.none = true}), "yes");
}

/// The steps that NVIDIA's driver 580 takes in cuInit(), and gives up after if one is refused.
TEST(Confined, CudasDriverCanStart) {
  const auto names_a_thread = [] {
    std::ofstream comm("/proc/self/task/" + std::to_string(gettid()) + "/comm");
    return std::string(comm << "named" && comm.flush() ? "yes" : "refused");
  };
  const auto binds_a_socket = [] {
    const int made = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{AF_UNIX, {}};
    const std::string name = "confinement test " + std::to_string(getpid());
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    return std::string(bind(made, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0 ? "yes" : "refused");
  };
  EXPECT_EQ(confined(names_a_thread, {.cuda = true}), "yes");
  EXPECT_EQ(confined(binds_a_socket, {.cuda = true}), "yes");
  if (landlock_version() > 0) {
    EXPECT_EQ(confined(names_a_thread, {.cuda = false}), "refused");
  }
}

/// The socket of CUDA's driver reaches no other program.
TEST(Confined, CudasDriverHasNoPeers) {
  if (!has_system_call_filters())
    GTEST_SKIP() << "this kernel takes no filters";
  const TemporaryFolder folder;
  const std::string path = folder.path() / "listens";
  sockaddr_un address{AF_UNIX, {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto *where = reinterpret_cast<const sockaddr *>(&address);
  const int stream = socket(AF_UNIX, SOCK_STREAM, 0), datagrams = socket(AF_UNIX, SOCK_DGRAM, 0);
  ASSERT_EQ(bind(stream, where, sizeof address), 0);
  ASSERT_EQ(listen(stream, 1), 0);
  const auto connects = [&] {
    const int made = socket(AF_UNIX, SOCK_STREAM, 0);
    return std::string(connect(made, where, sizeof address) == 0 ? "yes" : std::strerror(errno));
  };
  EXPECT_EQ(confined(connects, {.unix_sockets = true, .cuda = true}), "yes");
  EXPECT_EQ(confined(connects, {.cuda = true}), std::strerror(ENOENT));
  const auto sends = [&] {
    const int made = socket(AF_UNIX, SOCK_DGRAM, 0);
    return std::string(sendto(made, "x", 1, 0, where, sizeof address) >= 0 ? "yes" : std::strerror(errno));
  };
  EXPECT_EQ(confined(sends, {.cuda = true}), std::strerror(EACCES));
  close(stream);
  close(datagrams);
}

TEST(Confined, TheParentIsNotSignalled) {
  if (landlock_version() < 6)
    GTEST_SKIP() << "this kernel's Landlock does not know signals";
  const pid_t parent = getpid();
  EXPECT_EQ(confined([parent] { return std::string(kill(parent, 0) == 0 ? "yes" : "refused"); }), "refused");
}

TEST(Confined, ThereAreNoNewPrivileges) {
  EXPECT_EQ(confined([] { return std::to_string(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)); }), "1");
}

/// torch up to 2.12 ends where Python's getpass.getuser() finds no name.
TEST(Confined, TheUserHasANameWithoutTheListOfUsers) {
  const auto name_where_it_is = [](const char *given) {
    return run([given](Child &child) {
             for (const char *variable : {"USER", "LNAME", "USERNAME"})
               unsetenv(variable);
             setenv("LOGNAME", given, 1);
             child.confine({});
             child.reply(std::getenv("LOGNAME"));
           })
        .reply;
  };
  EXPECT_EQ(name_where_it_is(""), "uid_" + std::to_string(getuid()));
  EXPECT_EQ(name_where_it_is("ada"), "ada");
}

/// PyTorch writes where these say, and what it may not write it raises as an error of its own.
TEST(Confined, CachesThatItMayNotWriteAreNotNamed) {
  const auto named_where = [](const std::string &writable) {
    return run([&](Child &child) {
             setenv("TORCHINDUCTOR_CACHE_DIR", "/tmp/of_the_user", 1);
             child.confine({.writable = writable.empty() ? std::vector<std::string>{} : std::vector{writable}});
             const char *named = std::getenv("TORCHINDUCTOR_CACHE_DIR");
             child.reply(named ? named : "nowhere");
           })
        .reply;
  };
  EXPECT_EQ(named_where(""), "nowhere");
  EXPECT_EQ(named_where("/tmp/of_the_user"), "/tmp/of_the_user");
}

/// Triton keeps files in ~/.triton, which is the user's.
TEST(Confined, TritonHasAHomeThatItMayWrite) {
  const auto home_is_temporary = [] {
    const std::string home = std::getenv("TRITON_HOME");
    return std::string(home == std::getenv("TMPDIR") && std::ofstream(home + "/kernel") ? "yes" : "no: " + home);
  };
  EXPECT_EQ(confined(home_is_temporary), "yes");
}

TEST(Confined, OneChildSaysNothingOfTheNext) {
  confined([] { return std::string(); });
  EXPECT_EQ(run([](Child &child) { child.reply(std::to_string(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))); }).reply, "0");
}

/// Not even by root: the tests often run as root.
TEST(Confined, MayNotLiftItsLimitOfMemory) {
  Limits limits = within(30s);
  limits.memory_bytes = 256 << 20;
  const JobEnd job_end = run_in_sandbox(
      [](Child &child) {
        child.confine({});
        rlimit limit{};
        getrlimit(RLIMIT_DATA, &limit);
        const rlimit more{limit.rlim_cur, RLIM_INFINITY}, all{RLIM_INFINITY, RLIM_INFINITY};
        child.reply(limit.rlim_cur < RLIM_INFINITY && limit.rlim_cur == limit.rlim_max ? "limited" : "free");
        child.reply(setrlimit(RLIMIT_DATA, &more) == 0 || setrlimit(RLIMIT_DATA, &all) == 0 ? ", lifted" : ", kept");
        // A process that it starts is no better off.
        child.reply(std::system("ulimit -d unlimited 2>/dev/null") == 0 ? ", lifted" : ", kept");
      },
      limits);
  EXPECT_EQ(job_end.reply, "limited, kept, kept");
}

} // namespace
} // namespace repro_minify::sandbox_test
