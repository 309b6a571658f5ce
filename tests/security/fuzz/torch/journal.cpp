// The journal of an earlier run, which --resume believes once each of its lines is one.
#include "reduce/journal.h"

#include "core/files.h"
#include "security/fuzz/harness.h"

#include <fstream>

namespace repro_minify::fuzz {
namespace {

Identity identity() {
  Identity identity;
  identity.add("calls", 3);
  return identity;
}

/// The first line that this run would write: what else begins otherwise is refused at once, and nothing is learnt.
std::string header(const std::string &path) {
  { Journal journal(path, identity(), /*resume=*/false); }
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line + "\n";
}

void try_journal(std::string_view bytes) {
  static const TemporaryFolder folder;
  static const std::string path = folder.path() / "journal.jsonl";
  static const std::string first_line = header(path);
  const bool has_own_header = bytes.starts_with('{');
  std::ofstream(path, std::ios::binary | std::ios::trunc) << (has_own_header ? "" : first_line) << bytes;
  try {
    Journal journal(path, identity(), /*resume=*/true);
    journal.append("key", {}, "pass", {}, false);
    require(journal.find("key"), "an answer is lost");
  } catch (const UserError &) {
  }
}

const Registered registered_journal({"journal", try_journal});

} // namespace
} // namespace repro_minify::fuzz
