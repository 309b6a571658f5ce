// Limits what a child may reach once it runs untrusted code: it reads what LibTorch and a compiler need, writes into
// one private folder, and has no network. None of it needs root.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace repro_minify {

/// True if this machine has NVIDIA's devices.
bool has_cuda_devices();

struct Confinement {
  bool none = false;                      ///< a program of the user's own: it may do what its user may
  std::vector<std::string> writable = {}; ///< files and folders beside the private folder
  std::vector<std::string> readable = {}; ///< beside the system's and what let_children_read() was told
  bool unix_sockets = false;              ///< may connect to a helper process
  /// May do what CUDA's driver does as it starts: it names its threads in /proc/self/task, and makes a Unix socket.
  bool cuda = has_cuda_devices();
};

/// From now on every confined child may read this file, or all of this folder. Called by the code that opens a path
/// which the user named. One list for the process, as its children have one private folder.
void let_children_read(const std::string &path);

/// The private folder, made once and removed when this process ends; confined children have it as TMPDIR. Throws
/// std::system_error.
const std::filesystem::path &private_folder_of_children();

/// In a child, before it runs anything of a model: what it gives up is given up for ever, by all that it starts too.
/// Throws std::system_error where this kernel has the means and they fail.
void confine(const Confinement &confinement);
/// The parent's part, before each fork: what can be found out once for all.
void prepare_confinement();

/// Returns in one sentence what this machine cannot keep a child from; empty: nothing. Finds it out once.
const std::string &missing_confinement();

} // namespace repro_minify
