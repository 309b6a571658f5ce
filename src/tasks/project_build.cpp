#include "tasks/project_build.h"

#include "core/digest.h"
#include "core/files.h"
#include "core/programs.h"
#include "repro_minify/sandbox.h"
#include "tasks/compiler.h"
#include "tasks/sandbox.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{2} << 30;
constexpr const char *left_out = "left-out"; ///< a file: the header is not used for a day

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Waits for a lock on a file or folder, which ends when that is closed. -1: there is none to be had.
int locked(const fs::path &path, int flags, int how) {
  const int file = open(path.c_str(), flags | O_NOFOLLOW, 0600);
  if (file < 0 || flock(file, how) == 0)
    return file;
  close(file);
  return -1;
}

/// The words for Ninja, which hands them to a shell.
std::string shell_words(const std::vector<std::string> &words) {
  std::string text;
  for (const auto &word : words) {
    text += text.empty() ? "'" : " '";
    for (const char c : word)
      text += c == '\'' ? "'\\''" : c == '$' ? "$$" : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::uintmax_t size_of_folder(const fs::path &folder) {
  std::uintmax_t bytes = 0;
  std::error_code unknown;
  for (fs::recursive_directory_iterator entry(folder, unknown), end; !unknown && entry != end; entry.increment(unknown))
    if (std::error_code none; entry->is_regular_file(none))
      bytes += fs::file_size(entry->path(), none);
  return bytes;
}

/// Removes what was used least recently, until two gigabytes are left at most; nothing that is in use.
void make_room(const fs::path &all) {
  std::error_code problem;
  std::vector<std::pair<fs::file_time_type, fs::path>> folders;
  for (fs::directory_iterator entry(all, problem), end; !problem && entry != end; entry.increment(problem))
    folders.emplace_back(fs::last_write_time(entry->path(), problem), entry->path());
  std::sort(folders.rbegin(), folders.rend());
  std::uintmax_t bytes = 0;
  for (const auto &[used, folder] : folders) {
    bytes += size_of_folder(folder);
    if (bytes <= most_bytes)
      continue;
    if (const int lock = locked(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, LOCK_EX | LOCK_NB); lock >= 0) {
      fs::remove_all(folder, problem);
      close(lock);
    }
  }
}

Limits limits() {
  Limits limits;
  limits.timeout = std::chrono::minutes(20);
  return limits;
}

/// Sets TMPDIR to a folder that is removed with this run, for the files that killed children leave.
void own_temporary_folder() {
  setenv("TMPDIR", private_folder_of_children().c_str(), 1);
}

} // namespace

fs::path kept_headers_folder() {
  return environment("REPRO_MINIFY_PRECOMPILED_HEADERS") == "off" ? fs::path() : kept_folder("headers");
}

bool keeps_any_header() {
  const fs::path all = kept_headers_folder();
  std::error_code none;
  return !all.empty() && fs::directory_iterator(all, none) != fs::directory_iterator();
}

KeptHeader::KeptHeader(std::string header, std::vector<std::string> compile_command)
    : header_(std::move(header)), command_(std::move(compile_command)) {
  const fs::path all = kept_headers_folder();
  if (all.empty() || header_.empty() || command_.empty())
    return;
  std::error_code unknown;
  const fs::path compiler = fs::canonical(find_program(command_.front()), unknown);
  is_clang_ = compiler.filename().string().find("clang") != std::string::npos;
  Digest digest;
  digest.add(std::string_view("3")); // of how it is kept
  digest.add(header_);
  for (const auto &word : command_)
    digest.add(word);
  for (const char *name : {"CPATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "CCC_OVERRIDE_OPTIONS"})
    digest.add(environment(name));
  digest.add(compiler.string());
  digest.add(mark_of_file(compiler));
  for (const auto &word : command_) // a LibTorch that is replaced by an older one is another
    digest.add(mark_of_file(fs::path(word) / header_));
  folder_ = all / digest.text();
}

bool KeptHeader::is_there() const {
  return !folder_.empty() && fs::exists(file()) && !is_of_today(folder_ / left_out);
}

/// The same text is left as it is.
bool KeptHeader::write_build_files() const {
  std::error_code problem;
  fs::create_directories(file().parent_path(), problem);
  if (fs::exists(folder_ / "build.ninja"))
    return true;
  std::vector<std::string> words = command_;
  words.insert(words.end(), {"-MD", "-MF", "dependencies", "-o", file().lexically_relative(folder_), "-include",
                             header_, "-x", "c++-header", "/dev/null"});
  if (is_clang_)
    words.emplace_back("-fpch-instantiate-templates");
  if (!is_clang_) // found in its place when it is included once more, where nothing precompiled can be taken
    std::ofstream(includes() / header_) << "#include_next <" << header_ << ">\n";
  std::ofstream build(folder_ / "build.ninja.new");
  build << "rule precompile\n  command = " << shell_words(words) << "\n  depfile = dependencies\n  deps = gcc\n"
        << "build " << file().lexically_relative(folder_).string() << ": precompile\n";
  build.close();
  if (!build.good()) // a full disk
    return false;
  fs::rename(folder_ / "build.ninja.new", folder_ / "build.ninja", problem);
  return !problem;
}

std::pair<std::string, std::string> KeptHeader::variable() const {
  const std::string name = is_clang_ ? "CCC_OVERRIDE_OPTIONS" : "CPATH", before = environment(name.c_str());
  if (!is_clang_)
    return {name, includes().string() + (before.empty() ? "" : ":" + before)};
  // '#': nothing is said of it; '+': a word more.
  return {name, (before.empty() ? "#" : before) + " +-include-pch +" + file().string()};
}

std::optional<std::pair<std::string, std::string>> KeptHeader::make() const {
  const bool quotes_are_lost = is_clang_ && folder_.string().find_first_of(" \t\n") != std::string::npos;
  if (folder_.empty() || quotes_are_lost || find_program("ninja").empty())
    return std::nullopt;
  mkdir(folder_.c_str(), 0700);
  const bool was_there = fs::exists(file());
  // Held until this process has ended: what is in use is not removed.
  if (locked(folder_, O_RDONLY | O_DIRECTORY, LOCK_SH) < 0 || is_of_today(folder_ / left_out) || !is_up_to_date())
    return std::nullopt;
  utimensat(AT_FDCWD, folder_.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  if (!was_there)
    make_room(folder_.parent_path());
  return variable();
}

/// Has Ninja see to it, one process at a time.
bool KeptHeader::is_up_to_date() const {
  // Ninja and the compiler have the lock too: one that outlives who started it, as that was killed, is waited for.
  const int making = locked(folder_ / "making", O_RDWR | O_CREAT, LOCK_EX);
  if (making < 0 || !write_build_files())
    return false;
  const pid_t ninja =
      start_program({.words = {"ninja"}, .folder = folder_, .output = "/dev/null", .ends_with_us = true, .before = [] {
                       setenv("CCACHE_DISABLE", "1", 1);
                     }}); // it is kept once, not twice
  const int code = exit_code_of(wait_for_program(ninja));
  close(making);
  if (code != 0)
    leave_out();
  return code == 0;
}

void KeptHeader::leave_out() const {
  if (!folder_.empty())
    std::ofstream(folder_ / left_out).flush();
}

ProjectBuild::ProjectBuild(std::string source, std::string build, std::vector<std::string> options, std::string header)
    : source_(std::move(source)), build_(std::move(build)), options_(std::move(options)),
      header_name_(std::move(header)) {}

std::vector<std::string> ProjectBuild::configuration() const {
  std::vector<std::string> words = {"cmake", "-S", source_, "-B", build_, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"};
  words.insert(words.end(), options_.begin(), options_.end());
  if (!find_program("ninja").empty())
    words.insert(words.end(), {"-G", "Ninja"});
  return words;
}

void ProjectBuild::configure() {
  const auto job = [this](Child &) {
    own_temporary_folder();
    become_program(configuration());
  };
  configuring_ = std::make_unique<Task<JobEnd>>(job, limits());
}

bool ProjectBuild::is_configured(const std::function<bool()> &interrupted) {
  if (!configuring_)
    return false;
  const JobEnd job_end = std::exchange(configuring_, nullptr)->wait(interrupted);
  return job_end.ending == Ending::Exited && job_end.exit_code == 0;
}

void ProjectBuild::start(const std::function<bool()> &interrupted) {
  const bool configured = is_configured(interrupted);
  building_ = std::make_unique<Task<JobEnd>>([this, configured](Child &) { build(configured); }, limits());
}

void ProjectBuild::build(bool is_configured) const {
  own_temporary_folder();
  if (!is_configured)
    if (const int code = exit_code_of(wait_for_program(start_program({.words = configuration()}))); code != 0)
      _exit(code);
  if (precompiled_)
    if (const auto variable = header().make())
      setenv(variable->first.c_str(), variable->second.c_str(), 1);
  become_program({"cmake", "--build", build_});
}

JobEnd ProjectBuild::finish(const std::function<bool()> &interrupted) {
  if (!building_)
    start(interrupted);
  return std::exchange(building_, nullptr)->wait(interrupted);
}

KeptHeader ProjectBuild::header() const {
  return {header_name_, compile_command_of(build_)};
}

bool ProjectBuild::had_precompiled() const {
  return precompiled_ && header().is_there();
}

bool ProjectBuild::leave_out_precompiled() {
  if (!had_precompiled())
    return false;
  precompiled_ = false;
  return true;
}

void ProjectBuild::forget_precompiled() const {
  if (!precompiled_)
    header().leave_out();
}

} // namespace repro_minify
