#include "backends/helper_socket.h"

#include "core/unix_socket.h"
#include "repro_minify/program.h"

#include <stdexcept>

namespace repro_minify {

int listening_socket_of(const std::string &backend, const std::string &path) {
  try {
    return listening_socket(path);
  } catch (const std::runtime_error &error) {
    throw UserError("--backend " + backend + ": " + error.what());
  }
}

} // namespace repro_minify
