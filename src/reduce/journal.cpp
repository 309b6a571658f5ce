#include "reduce/journal.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <stdexcept>

namespace repro_minify {
namespace {

using nlohmann::json;

/// Raised when what a line holds changes: an older journal is then not understood, rather than misunderstood.
constexpr int format = 3;

std::string line(const json &value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

json header_of(const Identity &identity) {
  json fields = json::array();
  for (const auto &field : identity.fields())
    fields.push_back({field.name, field.value});
  return {{"journal", format}, {"identity", fields}};
}

/// Nothing for what is no header of this format.
std::optional<Identity> identity_in(const std::string &text) {
  const json header = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object() || header.value("journal", json()) != format || !header.value("identity", json()).is_array())
    return std::nullopt;
  Identity identity;
  for (const auto &field : header["identity"]) {
    if (!field.is_array() || field.size() != 2 || !field[0].is_string() || !field[1].is_string())
      return std::nullopt;
    identity.add(field[0].get<std::string>(), field[1].get<std::string>());
  }
  return identity;
}

/// As it comes back from the file: what is no UTF-8 is replaced there.
Identity as_written(const Identity &identity) {
  return *identity_in(line(header_of(identity)));
}

void require_same(const Identity &identity, const std::string &text, const std::string &path) {
  const auto found = identity_in(text);
  const std::string other =
      found ? difference(as_written(identity), *found) : "another version of repro-minify wrote it";
  if (!other.empty())
    throw UserError("--resume: " + path + " is the journal of another run (" + other +
                    "); give another --output, or --force without --resume");
}

} // namespace

Journal::Journal(const std::string &path, const Identity &identity, bool resume) {
  if (resume)
    read_earlier(path, identity);
  const bool goes_on = resume && std::filesystem::exists(path) && std::filesystem::file_size(path) > 0;
  file_.open(path, goes_on ? std::ios::app : std::ios::trunc);
  if (!file_)
    throw UserError(path + ": cannot be written");
  if (!goes_on)
    file_ << line(header_of(identity)) << std::flush;
}

/// False for what is no line of a journal: anybody may have written the file.
bool Journal::remember(const std::string &text) {
  try {
    const json entry = json::parse(text);
    answers_[entry.at("hash").get<std::string>()] = verdict_from_json(entry.at("verdict").dump());
    return true;
  } catch (const json::exception &) {
    return false;
  } catch (const std::invalid_argument &) {
    return false;
  }
}

/// A run that was killed may have left half a line at the end: it is cut off, so that the next line begins a line.
void Journal::read_earlier(const std::string &path, const Identity &identity) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return;
  std::uintmax_t whole = 0;
  size_t number = 0;
  for (std::string text; std::getline(file, text) && !file.eof(); whole += text.size() + 1) {
    ++number;
    if (whole == 0) {
      require_same(identity, text, path);
      continue;
    }
    if (!remember(text))
      throw UserError("--resume: " + path + " has a line that no journal has (" + std::to_string(number) +
                      "); give --force without --resume");
  }
  file.close();
  earlier_ = answers_.size();
  std::filesystem::resize_file(path, whole);
}

const Verdict *Journal::find(const std::string &key) const {
  const auto found = answers_.find(key);
  return found == answers_.end() ? nullptr : &found->second;
}

void Journal::append(const std::string &key, const Verdict &verdict, const std::string &pass, const ProgramSize &size,
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
