#include "sandbox/system_call_filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <vector>

namespace repro_minify {
namespace {

using Program = std::vector<sock_filter>;

/// Refused with EPERM, as if the user might not: what asks for it goes on without. io_uring makes sockets that no
/// filter sees; the others reach into other processes or into the kernel.
constexpr int refused[] = {SCMP_SYS(io_uring_setup),
                           SCMP_SYS(io_uring_enter),
                           SCMP_SYS(io_uring_register),
                           SCMP_SYS(ptrace),
                           SCMP_SYS(bpf),
                           SCMP_SYS(userfaultfd),
                           SCMP_SYS(process_vm_readv),
                           SCMP_SYS(keyctl),
                           SCMP_SYS(add_key),
                           SCMP_SYS(process_vm_writev),
                           SCMP_SYS(request_key),
                           SCMP_SYS(perf_event_open),
                           SCMP_SYS(mount),
                           SCMP_SYS(umount2),
                           SCMP_SYS(unshare),
                           SCMP_SYS(setns),
                           SCMP_SYS(kexec_load),
                           SCMP_SYS(init_module),
                           SCMP_SYS(finit_module),
                           SCMP_SYS(chroot),
                           SCMP_SYS(pivot_root),
                           SCMP_SYS(open_by_handle_at),
                           SCMP_SYS(reboot),
                           SCMP_SYS(swapon),
                           SCMP_SYS(settimeofday),
                           SCMP_SYS(clock_settime)};

void require(int code) {
  if (code != 0)
    throw std::system_error(-code, std::generic_category(), "no filter for system calls can be made");
}

/// libseccomp writes it; the kernel is given it later, in each child, without libseccomp.
Program compiled(bool unix_sockets) {
  const std::unique_ptr<void, void (*)(void *)> filter(seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (!filter)
    require(-ENOMEM);
  for (const int call : refused)
    require(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0));
  const auto refuse_socket = [&](auto... which) {
    require(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), sizeof...(which), which...));
  };
  unix_sockets ? refuse_socket(SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0)) : refuse_socket();
  // The mark of mark_as_check(): nobody takes it off.
  require(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 2,
                           SCMP_A1(SCMP_CMP_EQ, RLIMIT_RTTIME, 0), SCMP_A2(SCMP_CMP_NE, 0, 0)));
  require(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setrlimit), 1,
                           SCMP_A0(SCMP_CMP_EQ, RLIMIT_RTTIME, 0)));
  const int file = memfd_create("filter", MFD_CLOEXEC);
  require(file < 0 ? -errno : 0);
  require(seccomp_export_bpf(filter.get(), file));
  Program program(static_cast<size_t>(lseek(file, 0, SEEK_END)) / sizeof(sock_filter));
  const ssize_t size = pread(file, program.data(), program.size() * sizeof(sock_filter), 0);
  close(file);
  require(size == static_cast<ssize_t>(program.size() * sizeof(sock_filter)) ? 0 : -EIO);
  return program;
}

const Program &program_for(bool unix_sockets) {
  static const Program none = compiled(false), local = compiled(true);
  return unix_sockets ? local : none;
}

} // namespace

bool has_system_call_filters() {
  static const bool has = [] {
    const unsigned action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  }();
  return has;
}

void prepare_system_call_filters() {
  if (has_system_call_filters())
    program_for(false);
}

void filter_system_calls(bool unix_sockets) {
  const Program &filter = program_for(unix_sockets);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter *>(filter.data())};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    throw std::system_error(errno, std::generic_category(), "system calls cannot be filtered");
}

} // namespace repro_minify
