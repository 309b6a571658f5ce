#include "tasks/output_tail.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace repro_minify {
namespace {

constexpr std::size_t kept_bytes = 4096;

void keep_end(std::string &text, std::string_view more) {
  if (more.size() >= kept_bytes) {
    text = more.substr(more.size() - kept_bytes);
    return;
  }
  text += more;
  if (text.size() > kept_bytes)
    text.erase(0, text.size() - kept_bytes);
}

} // namespace

void make_pipe(int &read_end, int &write_end) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "no pipe for a child process");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  read_end = ends[0];
  write_end = ends[1];
}

void close_descriptor(int &descriptor) {
  if (descriptor >= 0)
    close(descriptor);
  descriptor = -1;
}

OutputTail::OutputTail() {
  make_pipe(read_end_, write_end_);
}

OutputTail::~OutputTail() {
  close_descriptor(read_end_);
  close_descriptor(write_end_);
}

void OutputTail::close_write_end() {
  close_descriptor(write_end_);
}

void OutputTail::drain() {
  std::array<char, 64u << 10> chunk; // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
  for (int round = 0; round < 64 && read_end_ >= 0; ++round) {
    const ssize_t size = ::read(read_end_, chunk.data(), chunk.size());
    if (size > 0)
      keep_end(text_, {chunk.data(), static_cast<std::size_t>(size)});
    else if (size == 0)
      close_descriptor(read_end_);
    else if (errno != EINTR)
      return;
  }
}

} // namespace repro_minify
