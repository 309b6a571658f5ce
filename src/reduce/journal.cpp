#include "reduce/journal.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace repro_minify {
namespace {

using nlohmann::json;

/// Raised when what a line holds changes: an older journal is then not understood, rather than misunderstood.
constexpr int format = 2;

std::string line(const json &value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

json header_of(const JournalSubject &subject) {
  return {{"journal", format}, {"test", subject.test}, {"settings", subject.settings}, {"model", subject.model}};
}

/// The first member in which two headers differ, for a person.
std::string difference(const json &ours, const json &theirs) {
  for (const auto &[name, value] : ours.items())
    if (!theirs.contains(name) || theirs[name] != value)
      return name;
  return "";
}

void require_same(const json &header, const std::string &text, const std::string &path) {
  const json found = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const std::string other = found.is_object() ? difference(header, found) : "journal";
  if (!other.empty())
    throw UserError("--resume: " + path + " is the journal of another run (its \"" + other +
                    "\" differs); give another --output, or --force without --resume");
}

} // namespace

Journal::Journal(const std::string &path, const JournalSubject &subject, bool resume) {
  if (resume)
    read_earlier(path, subject);
  const bool goes_on = resume && std::filesystem::exists(path) && std::filesystem::file_size(path) > 0;
  file_.open(path, goes_on ? std::ios::app : std::ios::trunc);
  if (!file_)
    throw UserError(path + ": cannot be written");
  if (!goes_on)
    file_ << line(header_of(subject)) << std::flush;
}

/// A run that was killed may have left half a line at the end: it is cut off, so that the next line begins a line.
void Journal::read_earlier(const std::string &path, const JournalSubject &subject) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return;
  std::uintmax_t whole = 0;
  for (std::string text; std::getline(file, text) && !file.eof(); whole += text.size() + 1) {
    if (whole == 0) {
      require_same(header_of(subject), text, path);
      continue;
    }
    const json entry = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object() || !entry.contains("hash") || !entry.contains("verdict"))
      throw UserError("--resume: " + path + " has a line that no journal has; give --force without --resume");
    answers_[entry["hash"]] = verdict_from_json(entry["verdict"].dump());
  }
  file.close();
  earlier_ = answers_.size();
  std::filesystem::resize_file(path, whole);
}

const Verdict *Journal::find(const std::string &key) const {
  const auto found = answers_.find(key);
  return found == answers_.end() ? nullptr : &found->second;
}

void Journal::append(const std::string &pass, const std::string &key, const ProgramSize &size, const Verdict &verdict,
                     bool same_failure) {
  answers_[key] = verdict;
  std::string text = line({{"pass", pass},
                           {"hash", key},
                           {"nodes", size.nodes},
                           {"operators", size.operators},
                           {"inputs", size.inputs},
                           {"outputs", size.outputs},
                           {"same_failure", same_failure},
                           {"seconds", verdict.wall_seconds}});
  text.resize(text.size() - 2);                       // "}\n"
  text += ",\"verdict\":" + to_json(verdict) + "}\n"; // the verdict is JSON already
  // The whole line goes out in one write: what kills us leaves it there, or a part of it at the end of the file.
  file_ << text << std::flush;
}

} // namespace repro_minify
