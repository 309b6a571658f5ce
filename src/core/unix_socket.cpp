#include "core/unix_socket.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace repro_minify {
namespace {

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

int listening_socket(const std::string &path) {
  const sockaddr_un address = address_of(path);
  const int listener = new_socket();
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    close(listener);
    throw std::system_error(errno, std::generic_category(), "no socket can be made in the temporary folder");
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
