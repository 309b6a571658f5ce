#include "core/frame.h"

#include "core/files.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include <sys/socket.h>
#include <unistd.h>

namespace repro_minify {
namespace {

TEST(UnixSocket, CarriesWhatIsSent) {
  const TemporaryFolder folder;
  const std::string path = folder / "socket";
  const int listener = listening_socket(path), connection = connected_socket(path);
  ASSERT_GE(connection, 0);
  const int other_end = accept(listener, nullptr, nullptr);
  ASSERT_EQ(write(connection, "x", 1), 1);
  char received = 0;
  EXPECT_EQ(read(other_end, &received, 1), 1);
  EXPECT_EQ(received, 'x');
  for (const int descriptor : {listener, connection, other_end})
    close(descriptor);
}

TEST(UnixSocket, HasNoListener) {
  const TemporaryFolder folder;
  EXPECT_EQ(connected_socket(folder / "socket"), -1);
}

TEST(UnixSocket, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_THROW(listening_socket(folder / std::string(200, 'x')), std::runtime_error);
  EXPECT_THROW(listening_socket(folder / "no such folder/socket"), std::runtime_error);
}

} // namespace
} // namespace repro_minify
