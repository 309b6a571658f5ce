// Messages over a socket: a JSON header, and behind it the blobs whose sizes it lists. Who is at the other end may have
// gone mad: no length is believed before it was found to be one.
#pragma once
#include "core/json.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

/// Larger ones are no messages: a header holds names and numbers, a blob a tensor's memory.
constexpr std::uint64_t most_header_bytes = std::uint64_t{1} << 28;
constexpr std::uint64_t most_blob_bytes = std::uint64_t{1} << 40;

/// False when the other side has gone.
bool send_bytes(int socket, const void *data, std::size_t size);
bool receive_bytes(int socket, void *data, std::size_t size);

struct FrameHeader {
  json content;
  std::vector<std::int64_t> blobs; ///< how many bytes each has
};

/// Sends a header, and replaces bytes in it that are not UTF-8. False when the other side has gone.
bool send_header(int socket, json content, const std::vector<std::int64_t> &blobs);
/// Nothing when the other side has gone. Throws std::runtime_error for what is no header.
std::optional<FrameHeader> receive_header(int socket);

// Unix sockets in a folder of the program's own. Problems are a std::runtime_error, in words for the user of the tool.

/// A socket that listens at `path`, closed on exec.
int listening_socket(const std::string &path);
/// A connection to it, closed on exec; -1 when no process listens.
int connected_socket(const std::string &path);

} // namespace repro_minify
