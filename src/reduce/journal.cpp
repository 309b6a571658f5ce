#include "reduce/journal.h"

#include <nlohmann/json.hpp>

namespace repro_minify {
namespace {

std::string line(const nlohmann::json &value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace

Journal::Journal(const std::string &path) {
  if (path.empty())
    return;
  file_.open(path, std::ios::trunc);
  if (!file_)
    throw UserError(path + ": cannot be written");
}

void Journal::header(const std::string &backend, const Signature &wanted, const CheckOptions &options) {
  if (file_.is_open())
    file_ << line({{"journal", 1},
                   {"backend", backend},
                   {"signature", to_string(wanted)},
                   {"settings", fingerprint(options)}})
          << std::flush;
}

void Journal::verdict(const std::string &pass, const std::string &hash, const ProgramSize &size, const Verdict &verdict,
                      bool fails) {
  if (!file_.is_open())
    return;
  static constexpr const char *outcomes[] = {"pass", "fail", "unresolved"};
  std::string signatures;
  for (const auto &signature : verdict.signatures)
    signatures += (signatures.empty() ? "" : "; ") + to_string(signature);
  file_ << line({{"pass", pass},
                 {"hash", hash},
                 {"nodes", size.nodes},
                 {"operators", size.operators},
                 {"inputs", size.inputs},
                 {"outputs", size.outputs},
                 {"outcome", outcomes[static_cast<int>(verdict.outcome)]},
                 {"signatures", signatures},
                 {"same_failure", fails},
                 {"message", verdict.message},
                 {"seconds", verdict.wall_seconds}})
        << std::flush;
}

} // namespace repro_minify
