#include "tasks/kernel_rules.h"

#include "core/text.h"

#include <cctype>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace repro_minify {
namespace {

using Rights = unsigned long long;

// These constants come from newer headers than those of Debian 12.
constexpr Rights truncate_files = 1ULL << 14;        // LANDLOCK_ACCESS_FS_TRUNCATE, version 3
constexpr Rights bind_and_connect = 3;               // LANDLOCK_ACCESS_NET_*_TCP, version 4
constexpr Rights abstract_sockets_and_signals = 0x3; // LANDLOCK_SCOPE_*, version 6

/// struct landlock_ruleset_attr as version 6 has it; an older kernel is given its beginning.
struct Handled {
  Rights files = 0, network = 0, scopes = 0;
};

constexpr Rights reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr Rights reading_and_starting = reading | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr Rights all_of_version_1 = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
constexpr Rights of_a_file =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_EXECUTE | truncate_files;

Rights known_rights() {
  const int version = landlock_version();
  return all_of_version_1 | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) | (version >= 3 ? truncate_files : 0);
}

[[noreturn]] void fail(const char *what) {
  throw std::system_error(errno, std::generic_category(), what);
}

using Program = std::vector<sock_filter>;

/// Refused with EPERM, as if the user might not: what asks for it goes on without. io_uring makes sockets that no
/// filter sees; the others reach into other processes or into the kernel.
constexpr const char *refused =
    "io_uring_setup io_uring_enter io_uring_register ptrace bpf userfaultfd process_vm_readv keyctl add_key "
    "process_vm_writev request_key perf_event_open mount umount2 unshare setns kexec_load init_module "
    "finit_module delete_module kexec_file_load chroot pivot_root open_by_handle_at reboot swapon swapoff acct "
    "quotactl settimeofday clock_settime clock_adjtime sethostname setdomainname";

/// The system calls that change a file's owner or attributes. Landlock does not refuse them, so that a model could hand
/// any file of its user to other users. The calls setxattrat, removexattrat and file_setattr are given by number, since
/// libseccomp of Debian 12 does not know their names.
constexpr const char *about_files =
    "chown fchown lchown fchownat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr 463 466 "
    "469";

/// Calls of the same kind, but these are said to have been done: what copies a file copies its mode and its times, and
/// gives up where it may not (Python's shutil.copy(), and with it TorchInductor ahead of time). 452 is fchmodat2.
constexpr const char *left_undone = "chmod fchmod fchmodat 452 utime utimes futimesat utimensat";

/// The system calls that reach what has neither a path nor an owner that starts it: memory, semaphores and messages
/// that the user's other programs have made.
constexpr const char *between_programs =
    "shmget shmat shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink";

/// A system call that may change another process than the caller, and which of its arguments names it; 0 is the caller.
struct AboutProcess {
  int call;
  unsigned argument;
};
constexpr AboutProcess about_processes[] = {{SCMP_SYS(setpriority), 1},       {SCMP_SYS(ioprio_set), 1},
                                            {SCMP_SYS(sched_setaffinity), 0}, {SCMP_SYS(sched_setscheduler), 0},
                                            {SCMP_SYS(sched_setparam), 0},    {SCMP_SYS(sched_setattr), 0}};

/// Words typed for the user, and attributes of files.
constexpr unsigned long refused_ioctls[] = {TIOCSTI, TIOCLINUX, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR};

void require(int code) {
  if (code != 0)
    throw std::system_error(-code, std::generic_category(), "no filter for system calls can be made");
}

/// Has each of the calls, given by name or number, end with this error instead; 0: as if it were done.
void end_with(int error, const char *calls, scmp_filter_ctx filter) {
  for (const std::string &word : split_words(calls)) {
    const int call = std::isdigit(word[0]) ? std::stoi(word) : seccomp_syscall_resolve_name(word.c_str());
    require(call == __NR_SCMP_ERROR ? -ENOSYS : 0);
    require(seccomp_rule_add(filter, SCMP_ACT_ERRNO(error), call, 0));
  }
}

void refuse_what_concerns_others(scmp_filter_ctx filter) {
  constexpr auto no = SCMP_ACT_ERRNO(EPERM);
  for (const auto &[call, argument] : about_processes)
    require(seccomp_rule_add(filter, no, call, 1, SCMP_CMP(argument, SCMP_CMP_NE, 0)));
  require(seccomp_rule_add(filter, no, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_NE, 0), SCMP_A2(SCMP_CMP_NE, 0)));
  // 0 is the caller, but of these it is all that the caller's user or group runs.
  constexpr scmp_datum_t ioprio_group = 2, ioprio_user = 3;
  for (const scmp_datum_t whose : {scmp_datum_t(PRIO_PGRP), scmp_datum_t(PRIO_USER)})
    require(seccomp_rule_add(filter, no, SCMP_SYS(setpriority), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, whose)));
  for (const scmp_datum_t whose : {ioprio_group, ioprio_user})
    require(seccomp_rule_add(filter, no, SCMP_SYS(ioprio_set), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, whose)));
  for (const unsigned long request : refused_ioctls) // the kernel looks at these bits alone
    require(seccomp_rule_add(filter, no, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, request)));
}

/// Refuses the calls that bring a Unix socket together with another program. connect() is told that there is no such
/// program: then CUDA's driver, which asks for one that shares the device (MPS), goes on without.
void refuse_peers(scmp_filter_ctx filter) {
  end_with(ENOENT, "connect", filter);
  end_with(EACCES, "sendmsg sendmmsg", filter);
  constexpr unsigned destination = 4;
  require(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(sendto), 1, SCMP_CMP(destination, SCMP_CMP_NE, 0)));
}

/// libseccomp writes it; the kernel is given it later, in each child, without libseccomp.
Program compiled(UnixSockets unix_sockets) {
  const std::unique_ptr<void, void (*)(void *)> filter(seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (!filter)
    require(-ENOMEM);
  for (const char *calls : {refused, about_files, between_programs})
    end_with(EPERM, calls, filter.get());
  end_with(0, left_undone, filter.get());
  refuse_what_concerns_others(filter.get());
  const auto refuse_socket = [&](auto... which) {
    require(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), sizeof...(which), which...));
  };
  unix_sockets == UnixSockets::None ? refuse_socket() : refuse_socket(SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0));
  if (unix_sockets == UnixSockets::WithoutPeers)
    refuse_peers(filter.get());
  // No child may take off the mark of mark_as_check().
  require(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 2,
                           SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, RLIMIT_RTTIME), SCMP_A2(SCMP_CMP_NE, 0, 0)));
  require(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setrlimit), 1,
                           SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, RLIMIT_RTTIME)));
  const int file = memfd_create("filter", MFD_CLOEXEC);
  require(file < 0 ? -errno : 0);
  require(seccomp_export_bpf(filter.get(), file));
  Program program(static_cast<size_t>(lseek(file, 0, SEEK_END)) / sizeof(sock_filter));
  const ssize_t size = pread(file, program.data(), program.size() * sizeof(sock_filter), 0);
  close(file);
  require(size == static_cast<ssize_t>(program.size() * sizeof(sock_filter)) ? 0 : -EIO);
  return program;
}

const Program &program_for(UnixSockets unix_sockets) {
  static const Program none = compiled(UnixSockets::None), without_peers = compiled(UnixSockets::WithoutPeers),
                       all = compiled(UnixSockets::All);
  return unix_sockets == UnixSockets::All ? all : unix_sockets == UnixSockets::None ? none : without_peers;
}

} // namespace

int landlock_version() {
  static const int version = [] {
    const long answer = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return answer > 0 ? static_cast<int>(answer) : 0;
  }();
  return version;
}

LandlockRules::LandlockRules() {
  const int version = landlock_version();
  const Handled handled{known_rights(), bind_and_connect, abstract_sockets_and_signals};
  const size_t size = version >= 6 ? sizeof handled : version >= 4 ? 2 * sizeof(Rights) : sizeof(Rights);
  rules_ = static_cast<int>(syscall(SYS_landlock_create_ruleset, &handled, size, 0));
  if (rules_ < 0)
    fail("no Landlock rules can be made");
}

LandlockRules::~LandlockRules() {
  if (rules_ >= 0)
    close(rules_);
}

void LandlockRules::allow_reading(const std::string &path) {
  allow(path, reading_and_starting);
}

void LandlockRules::allow_writing(const std::string &path) {
  allow(path, known_rights() & ~Rights{LANDLOCK_ACCESS_FS_EXECUTE});
}

void LandlockRules::allow(const std::string &path, Rights rights) {
  const int file = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0)
    return;
  struct stat status {};
  if (fstat(file, &status) == 0 && !S_ISDIR(status.st_mode))
    rights &= of_a_file & known_rights();
  const landlock_path_beneath_attr rule{rights, file};
  const long result = syscall(SYS_landlock_add_rule, rules_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  const int problem = errno;
  close(file);
  if (result != 0 && problem != EBADFD) { // a socket, or a file of no file system, takes no rule
    errno = problem;
    fail("a Landlock rule is refused");
  }
}

void LandlockRules::enforce() const {
  if (syscall(SYS_landlock_restrict_self, rules_, 0) != 0)
    fail("Landlock cannot be enforced");
}

bool has_system_call_filters() {
  static const bool has = [] {
    const unsigned action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  }();
  return has;
}

void prepare_system_call_filters() {
  if (has_system_call_filters())
    program_for(UnixSockets::None);
}

void filter_system_calls(UnixSockets unix_sockets) {
  const Program &filter = program_for(unix_sockets);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter *>(filter.data())};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    throw std::system_error(errno, std::generic_category(), "system calls cannot be filtered");
}

} // namespace repro_minify
