#include "repro_minify/sandbox.h"

#include "core/files.h"
#include "tasks/descendants.h"
#include "tasks/gpu_devices.h"
#include "tasks/kernel_rules.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

#include <link.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace repro_minify {
namespace {

/// Programs, libraries and headers, what says what the machine is like, and devices that hold nothing. Of processes
/// only itself: what others have in their environment is theirs.
constexpr const char *readable_everywhere[] = {"/usr",           "/lib",
                                               "/lib64",         "/lib32",
                                               "/bin",           "/sbin",
                                               "/opt",           "/nix",
                                               "/gnu/store",     "/etc/ld.so.cache",
                                               "/etc/localtime", "/dev/random",
                                               "/dev/urandom",   "/sys",
                                               "/proc/self",     "/proc/sys",
                                               "/proc/cpuinfo",  "/proc/meminfo",
                                               "/proc/stat",     "/proc/loadavg",
                                               "/proc/version",  "/proc/filesystems",
                                               "/proc/devices",  "/proc/driver"};
constexpr const char *writable_everywhere[] = {"/dev/null", "/dev/zero", "/dev/full"};

std::mutex paths_mutex;
std::set<std::string> &paths_of_the_user() {
  static std::set<std::string> paths;
  return paths;
}

/// The folder of a library, for it may load its neighbours later; of a Python package, those of all packages, for
/// LibTorch's own libraries lie in several.
fs::path folder_of_library(const fs::path &library) {
  for (fs::path folder = library.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (folder.filename() == "site-packages" || folder.filename() == "dist-packages")
      return folder;
  return library.parent_path();
}

int add_library(dl_phdr_info *info, std::size_t, void *folders) {
  std::error_code unknown;
  const fs::path library = fs::canonical(info->dlpi_name, unknown);
  if (!unknown && library.is_absolute() && *info->dlpi_name)
    static_cast<std::set<std::string> *>(folders)->insert(folder_of_library(library).string());
  return 0;
}

const std::set<std::string> &folders_of_libraries() {
  static const std::set<std::string> folders = [] {
    std::set<std::string> found;
    dl_iterate_phdr(add_library, &found);
    const char *named = std::getenv("LD_LIBRARY_PATH"); // what is loaded later, as CUDA's driver, is found there
    std::istringstream folders_of_the_user(named ? named : "");
    for (std::string folder; std::getline(folders_of_the_user, folder, ':');)
      if (fs::path(folder).is_absolute() && fs::path(folder).has_relative_path())
        found.insert(folder);
    return found;
  }();
  return folders;
}

/// Names the user in the environment. A confined process cannot look the name up, as it may not read the list of users,
/// and torch up to 2.12, which asks as it is imported, takes that for an error. A name of the environment comes first
/// (Python's getpass.getuser()).
void name_the_user() {
  for (const char *variable : {"LOGNAME", "USER", "LNAME", "USERNAME"})
    if (const char *name = std::getenv(variable); name != nullptr && *name != '\0')
      return;
  setenv("LOGNAME", ("uid_" + std::to_string(getuid())).c_str(), 1);
}

/// A user, or the PyTorch that has started this program (it names them in its own environment), has caches that what is
/// confined may not write. PyTorch's usual place for them is below TMPDIR; Triton's is in the user's home.
void forget_caches_of_others(const Confinement &confinement) {
  for (const char *variable : {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"}) {
    const char *folder = std::getenv(variable);
    const auto &ours = confinement.writable;
    if (folder != nullptr && std::find(ours.begin(), ours.end(), folder) == ours.end())
      unsetenv(variable);
  }
  setenv("TRITON_HOME", private_folder_of_children().c_str(), 1);
  // CUDA's driver keeps what it has compiled from PTX in the user's home, else: each child would compile it again.
  setenv("CUDA_CACHE_PATH", (private_folder_of_children() / "cuda").c_str(), 1);
}

/// Root may raise the limits that it was given. What is confined may not, and nothing that it starts gets back what
/// this process has given up, as that has no new privileges.
void give_up_raising_limits() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0)
    return;
  __user_cap_data_struct &set = sets[CAP_TO_INDEX(CAP_SYS_RESOURCE)];
  for (__u32 *some : {&set.effective, &set.permitted, &set.inheritable})
    *some &= ~CAP_TO_MASK(CAP_SYS_RESOURCE);
  if (syscall(SYS_capset, &header, sets.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "the right to raise limits cannot be given up");
}

void confine_files(const Confinement &confinement) {
  LandlockRules rules;
  for (const char *path : readable_everywhere)
    rules.allow_reading(path);
  for (const char *path : writable_everywhere)
    rules.allow_writing(path);
  for (const auto &path : gpu_devices_here().paths)
    rules.allow_writing(path);
  if (confinement.cuda)
    rules.allow_writing("/proc/self/task");
  for (const auto &path : folders_of_libraries())
    rules.allow_reading(path);
  for (const auto &path : paths_of_the_user())
    rules.allow_reading(path);
  for (const auto &path : confinement.readable)
    rules.allow_reading(path);
  for (const auto &path : confinement.writable)
    rules.allow_writing(path);
  rules.allow_writing(private_folder_of_children().string());
  rules.enforce();
}

} // namespace

bool has_cuda_devices() {
  return gpu_devices_here().cuda;
}

void let_children_read(const std::string &path) {
  std::error_code unknown;
  const std::string absolute = fs::absolute(path, unknown).string();
  const std::lock_guard lock(paths_mutex);
  if (!unknown)
    paths_of_the_user().insert(absolute);
}

const fs::path &private_folder_of_children() {
  static const TemporaryFolder folder;
  return folder.path();
}

void prepare_confinement() {
  [[maybe_unused]] static const bool once = (kill_what_dead_runs_left(), true);
  private_folder_of_children();
  folders_of_libraries();
  gpu_devices_here();
  prepare_system_call_filters();
}

void confine(const Confinement &confinement) {
  if (confinement.none)
    return;
  setenv("TMPDIR", private_folder_of_children().c_str(), 1);
  setenv("CCACHE_DISABLE", "1", 1); // a compiler that is a cache writes elsewhere
  name_the_user();
  forget_caches_of_others(confinement);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    throw std::system_error(errno, std::generic_category(), "new privileges cannot be given up");
  give_up_raising_limits();
  if (landlock_version() > 0)
    confine_files(confinement);
  if (has_system_call_filters())
    filter_system_calls(confinement.unix_sockets ? UnixSockets::All
                        : confinement.cuda       ? UnixSockets::WithoutPeers
                                                 : UnixSockets::None);
}

const std::string &missing_confinement() {
  static const std::string missing = [] {
    std::string what;
    if (landlock_version() == 0)
      what = "this kernel has no Landlock (Linux 5.13, enabled), so what a model runs may read and write files as its "
             "user may";
    if (!has_system_call_filters())
      what += std::string(what.empty() ? "this kernel" : "; it") +
              " takes no filter for system calls, so what a model runs may use the network";
    return what;
  }();
  return missing;
}

} // namespace repro_minify
