#include "reduce/journal.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <stdexcept>
#include <string_view>

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

/// What lies there is not followed, and not waited for.
PlainFile opened(const std::string &path, bool resume) {
  try {
    return resume ? PlainFile::at(path) : PlainFile::in_place_of(path);
  } catch (const std::runtime_error &error) {
    throw UserError(path + ": " + error.what());
  }
}

/// Far more than a verdict takes, or a run makes: whoever wrote the file may want this process to run out of memory.
constexpr size_t longest_line = size_t{64} << 20;
constexpr int deepest_line = 100;

/// The next whole line from there on, without its end; nothing behind the last one.
std::optional<std::string> line_at(const PlainFile &file, uint64_t from, const std::string &path) {
  constexpr size_t at_once = size_t{1} << 16;
  std::string text;
  while (true) {
    const std::string more = file.read(from + text.size(), at_once);
    const size_t end = more.find('\n');
    text.append(more, 0, end);
    if (end != std::string::npos)
      return text;
    if (more.size() < at_once)
      return std::nullopt;
    if (text.size() > longest_line)
      throw UserError("--resume: " + path +
                      " has a line of more than 64 MiB, which no journal has; give --force "
                      "without --resume");
  }
}

} // namespace

Journal::Journal(const std::string &path, const Identity &identity, bool resume) : file_(opened(path, resume)) {
  if (resume)
    read_earlier(path, identity);
  if (file_.size() == 0 && !file_.append(line(header_of(identity))))
    throw UserError(path + ": cannot be written");
}

/// False for what is no line of a journal: anybody may have written the file.
bool Journal::remember(const std::string &text) {
  try {
    const json entry = json::parse(text, [](int depth, json::parse_event_t, json &) {
      if (depth > deepest_line)
        throw std::invalid_argument("what is nested so deep is no answer");
      return true;
    });
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
  uint64_t whole = 0;
  size_t number = 0;
  while (const auto text = line_at(file_, whole, path)) {
    ++number;
    if (whole == 0)
      require_same(identity, *text, path);
    else if (!remember(*text))
      throw UserError("--resume: " + path + " has a line that no journal has (" + std::to_string(number) +
                      "); give --force without --resume");
    whole += text->size() + 1;
  }
  earlier_ = answers_.size();
  file_.cut(whole);
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
  file_.append(text);
}

} // namespace repro_minify
