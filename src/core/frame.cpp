#include "core/frame.h"

#include "core/json.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace repro_minify {
namespace {

static_assert(std::endian::native == std::endian::little, "lengths travel in little endian");

[[noreturn]] void garbled(const std::string &what) {
  throw std::runtime_error("the other side sent " + what);
}

/// A length of the other side's is no reason to take memory: it grows as bytes come in.
std::optional<std::string> receive_text(int socket, std::uint64_t size) {
  constexpr std::uint64_t step = 1u << 20;
  std::string text;
  while (text.size() < size) {
    const size_t have = text.size();
    text.resize(std::min<std::uint64_t>(size, have + step));
    if (!receive_bytes(socket, text.data() + have, text.size() - have))
      return std::nullopt;
  }
  return text;
}

sockaddr_un address_of(const std::string &path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::system_error(ENAMETOOLONG, std::generic_category(), "the temporary folder takes no socket; set TMPDIR");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

int new_socket() {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

} // namespace

bool send_bytes(int socket, const void *data, std::size_t size) {
  const auto *at = static_cast<const char *>(data);
  while (size > 0) {
    const ssize_t count = ::send(socket, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool receive_bytes(int socket, void *data, std::size_t size) {
  auto *at = static_cast<char *>(data);
  while (size > 0) {
    const ssize_t count = ::recv(socket, at, size, 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool send_header(int socket, json content, const std::vector<std::int64_t> &blobs) {
  content["blobs"] = blobs;
  const std::string text = content.dump(-1, ' ', false, json::error_handler_t::replace);
  const std::uint64_t size = text.size();
  return send_bytes(socket, &size, sizeof size) && send_bytes(socket, text.data(), text.size());
}

std::optional<FrameHeader> receive_header(int socket) {
  std::uint64_t size = 0;
  if (!receive_bytes(socket, &size, sizeof size))
    return std::nullopt;
  if (size > most_header_bytes)
    garbled("a header of " + std::to_string(size) + " bytes");
  const auto text = receive_text(socket, size);
  if (!text)
    return std::nullopt;
  FrameHeader header{json::parse(*text, nullptr, /*allow_exceptions=*/false), {}};
  if (!header.content.is_object() || !header.content.value("blobs", json()).is_array())
    garbled("a header that is none");
  for (const auto &length : header.content["blobs"]) {
    if (!length.is_number_unsigned() || length.get<std::uint64_t>() > most_blob_bytes)
      garbled("a blob of no possible size");
    header.blobs.push_back(static_cast<std::int64_t>(length.get<std::uint64_t>()));
  }
  return header;
}

int listening_socket(const std::string &path) {
  const sockaddr_un address = address_of(path);
  const int listener = new_socket();
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    const int problem = errno;
    close(listener);
    throw std::system_error(problem, std::generic_category(), "no socket can be made in the temporary folder");
  }
  return listener;
}

int connected_socket(const std::string &path) {
  const sockaddr_un address = address_of(path);
  const int connection = new_socket();
  if (connect(connection, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0)
    return connection;
  close(connection);
  return -1;
}

} // namespace repro_minify
