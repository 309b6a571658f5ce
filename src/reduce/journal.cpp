#include "reduce/journal.h"

#include "core/json.h"

#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

namespace repro_minify {
namespace {

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

/// Returns the identity as it is read back from the file, where invalid UTF-8 has been replaced.
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

/// Opens the journal's file. A link there is not followed, and a pipe is not waited for. Throws UserError.
PlainFile opened(const std::string &path, bool resume) {
  try {
    return resume ? PlainFile::at(path) : PlainFile::in_place_of(path);
  } catch (const std::runtime_error &error) {
    throw UserError(path + ": " + error.what());
  }
}

/// Far more than a verdict takes, or a run makes: the file may have been made to use up the memory of this process.
constexpr size_t longest_line = size_t{64} << 20;
constexpr int deepest_line = 100;

/// Calls `take` with each whole line, without its end. Returns where the last one ended; what stands behind is none.
uint64_t for_each_line(const PlainFile &file, const std::string &path,
                       const std::function<void(const std::string &)> &take) {
  constexpr size_t at_once = size_t{1} << 16;
  std::string rest; // what was read behind the last whole line
  uint64_t ended = 0;
  for (std::string more = file.read(0, at_once); !more.empty(); more = file.read(ended + rest.size(), at_once)) {
    const size_t searched = rest.size();
    rest += more;
    size_t begin = 0;
    for (size_t end = rest.find('\n', searched); end != std::string::npos; end = rest.find('\n', begin)) {
      take(rest.substr(begin, end - begin));
      begin = end + 1;
    }
    rest.erase(0, begin);
    ended += begin;
    if (rest.size() > longest_line)
      throw UserError("--resume: " + path +
                      " has a line of more than 64 MiB, which no journal has; give --force without "
                      "--resume");
  }
  return ended;
}

} // namespace

Journal::Journal(const std::string &path, const Identity &identity, bool resume) : file_(opened(path, resume)) {
  if (resume)
    read_earlier(path, identity);
  whole_ = file_.size();
  if (whole_ == 0 && !write(line(header_of(identity))))
    throw UserError(path + ": cannot be written");
}

/// The part of a line that a full disk has left is cut off, at once or before the next line: glued together, the two
/// would be a line that no journal has. A line that cannot be written is left out: its question is asked again by a
/// later run.
bool Journal::write(const std::string &text) {
  if (file_.size() != whole_ && !file_.cut(whole_))
    return false;
  if (file_.append(text)) {
    whole_ += text.size();
    return true;
  }
  file_.cut(whole_);
  return false;
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
  size_t number = 0;
  const uint64_t ended = for_each_line(file_, path, [&](const std::string &text) {
    if (++number == 1)
      require_same(identity, text, path);
    else if (!remember(text))
      throw UserError("--resume: " + path + " has a line that no journal has (" + std::to_string(number) +
                      "); give --force without --resume");
  });
  earlier_ = answers_.size();
  if (!file_.cut(ended))
    throw UserError("--resume: " + path + " cannot be written");
}

const Verdict *Journal::find(const std::string &key) const {
  const auto found = answers_.find(key);
  return found == answers_.end() ? nullptr : &found->second;
}

const Verdict &Journal::append(const std::string &key, Verdict verdict, const std::string &pass,
                               const ProgramSize &size, bool same_failure) {
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
  write(text);
  return answers_.insert_or_assign(key, std::move(verdict)).first->second;
}

} // namespace repro_minify
