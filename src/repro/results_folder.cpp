#include "repro/results_folder.h"

#include "core/files.h"
#include "repro_minify/program.h"

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace repro_minify {
namespace {

/// Tells a file from another of its name: it changes when the file is written again, or another is renamed over it.
struct Mark {
  dev_t device;
  ino_t number;
  timespec changed;
  bool operator==(const Mark &other) const {
    return device == other.device && number == other.number && changed.tv_sec == other.changed.tv_sec &&
           changed.tv_nsec == other.changed.tv_nsec;
  }
};

/// Returns the files that lay in the folder before this run, by absolute path. There is one table for the whole
/// process, as the children that it forks write into the same folder.
std::map<std::string, Mark> &lay_there_before() {
  static std::map<std::string, Mark> files;
  return files;
}

std::string key_of(const fs::path &path) {
  std::error_code unknown;
  return fs::absolute(path, unknown).lexically_normal().string();
}

/// The names of the files that any run that wrote a repro may have left.
constexpr const char *result_names[] = {
    "issue.md",          "reduced.pt",    "inputs.pt",    "repro.cpp",           "CMakeLists.txt", "repro.py",
    "test_repro.py",     "model.pt2",     "report.html",  "report.md",           "report.json",    "passing.pt",
    "passing_inputs.pt", "attributes.pt", "converted.pt", "converted_inputs.pt", "operators.so"};

/// True for a file that write_atomically() has not got to rename: NAME.NUMBER.partial.
bool is_half_made(const std::string &file) {
  for (const char *name : result_names) {
    const std::string begin = std::string(name) + ".", end = ".partial";
    if (file.size() > begin.size() + end.size() && file.starts_with(begin) && file.ends_with(end) &&
        file.find_first_not_of("0123456789", begin.size()) == file.size() - end.size())
      return true;
  }
  return false;
}

bool has_journal(const std::string &folder) {
  const std::string begin = "{\"identity\":";
  const auto file = PlainFile::to_read(folder + "/journal.jsonl");
  return file && file->read(0, begin.size()) == begin;
}

} // namespace

void begin_results(const std::string &folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    struct stat status {};
    if (lstat(entry->path().c_str(), &status) == 0)
      lay_there_before()[key_of(entry->path())] = {status.st_dev, status.st_ino, status.st_ctim};
  }
  if (error != std::errc::no_such_file_or_directory)
    lock_results(folder);
}

void lock_results(const std::string &folder) {
  static std::set<std::string> held; // until the process ends, and by its children
  if (held.contains(key_of(folder)))
    return;
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;                                                                // writing into it will say why
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) { // not every file system has locks
    held.insert(key_of(folder));
    return;
  }
  close(descriptor);
  throw UserError(folder + ": another run of repro-minify writes into it; wait for it, or name another folder with -o");
}

bool is_of_this_run(const std::string &path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return false;
  const auto before = lay_there_before().find(key_of(path));
  return before == lay_there_before().end() || !(before->second == Mark{status.st_dev, status.st_ino, status.st_ctim});
}

void require_no_result(const std::string &path, const std::string &folder) {
  std::error_code unknown;
  for (const char *name : result_names)
    if (fs::equivalent(path, folder + "/" + name, unknown))
      throw UserError(path + ": would be written over, since the results have a file of that name; name another folder "
                             "with -o");
}

void remove_earlier_results(const std::string &folder) {
  if (!has_journal(folder))
    return;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (is_half_made(entry->path().filename().string()))
      unlink(entry->path().c_str());
  for (const char *name : result_names)
    if (const std::string path = folder + "/" + name; !is_of_this_run(path))
      unlink(path.c_str());
}

} // namespace repro_minify
