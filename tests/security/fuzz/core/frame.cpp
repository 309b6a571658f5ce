// Fuzzes the reader of what comes over a socket, from TorchInductor's worker or a command that serves: its process may
// have gone mad.
#include "core/frame.h"

#include "security/fuzz/harness.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <numeric>
#include <system_error>

namespace repro_minify::fuzz {
namespace {

/// More would not fit the socket's buffer, and have to be read while it is written.
constexpr std::size_t most_bytes = 1 << 16;

void try_frame(std::string_view bytes) {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "a pair of sockets");
  bytes = bytes.substr(0, most_bytes);
  send_bytes(ends[0], bytes.data(), bytes.size());
  close(ends[0]);
  try {
    while (const auto header = receive_header(ends[1]))
      for (const auto length : header->blobs)
        require(length >= 0, "a blob of less than no bytes");
  } catch (const std::runtime_error &) { // what the callers make NoAnswer of
  }
  close(ends[1]);
}

const Registered registered_frame({"frame", try_frame});

} // namespace
} // namespace repro_minify::fuzz
