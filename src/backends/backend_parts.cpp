#include "backends/backend_parts.h"

#include "core/frame.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/program.h"

namespace repro_minify {

std::string needs_of(const Backend &backend) {
  const Surroundings *surroundings = backend.parts().surroundings;
  return surroundings ? surroundings->needs() : "";
}

std::string unusable_because(const Backend &backend) {
  const Surroundings *surroundings = backend.parts().surroundings;
  return surroundings ? surroundings->unusable_because() : "";
}

Identity identity_of(const Backend &backend) {
  const Surroundings *surroundings = backend.parts().surroundings;
  return surroundings ? surroundings->identity() : Identity{};
}

Confinement confinement_of(const Backend &backend) {
  const Surroundings *surroundings = backend.parts().surroundings;
  return surroundings ? surroundings->confinement() : Confinement{};
}

void start_backend(const Backend &backend) {
  if (const Preparation *preparation = backend.parts().preparation)
    preparation->start();
}

void await_backend(const Backend &backend) {
  if (const Preparation *preparation = backend.parts().preparation)
    preparation->await_start();
}

void revive_backend(const Backend &backend) {
  if (const Preparation *preparation = backend.parts().preparation)
    preparation->revive();
}

std::vector<std::string> steps_of(const Backend &backend) {
  const CompilationSteps *steps = backend.parts().steps;
  return steps ? steps->names() : std::vector<std::string>();
}

int listening_socket_of(const std::string &backend, const std::string &path) {
  try {
    return listening_socket(path);
  } catch (const std::runtime_error &error) {
    throw UserError("--backend " + backend + ": " + error.what());
  }
}

} // namespace repro_minify
