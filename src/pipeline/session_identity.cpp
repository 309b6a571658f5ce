#include "pipeline/session_identity.h"

#include "program/value_digest.h"
#include "reduce/journal.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include <filesystem>
#include <system_error>

namespace repro_minify {
namespace {

/// A folder has no content of its own.
std::string file_of_identity(const Session &session) {
  const auto &conversion = session.options.conversion;
  std::error_code error;
  return conversion && std::filesystem::is_regular_file(conversion->given, error) ? conversion->given
                                                                                  : session.model.path;
}

} // namespace

Identity identity_of(const Session &session) {
  const MinifyOptions &options = session.options;
  Identity identity;
  identity.add("repro-minify", REPRO_MINIFY_VERSION);
  identity.add("LibTorch", TORCH_VERSION);
  identity.add("the processor, to LibTorch,", at::get_cpu_capability());
  identity.add_file("the model's file", file_of_identity(session));
  identity.add("the method", session.model.method);
  if (session.options.conversion)
    identity.add("the graph", session.options.conversion->graph);
  for (size_t i = 0; i < session.inputs.values.size(); ++i)
    identity.add_content("input " + std::to_string(i), digest_of(session.inputs.values[i]));
  identity.add_all(session.test.identity());
  identity.add_all(identity_of(options.backend_options));
  identity.add("--repeat", options.repetition.runs);
  identity.add("--need", options.repetition.need);
  identity.add("--same-failure", to_string(options.same_failure));
  identity.add("--timeout", options.timeout_seconds);
  identity.add("--memory", options.memory_bytes);
  identity.add("--train", options.train);
  return identity;
}

} // namespace repro_minify
