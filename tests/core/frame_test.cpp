// The process at the other end of a socket may send anything.
#include "core/frame.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <thread>

namespace repro_minify {
namespace {

using nlohmann::json;

class Frame : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  void TearDown() override {
    hang_up();
    close(ends_[1]);
  }
  void hang_up() {
    if (ends_[0] >= 0)
      close(ends_[0]);
    ends_[0] = -1;
  }
  void send_raw(std::uint64_t size, const std::string &text) {
    ASSERT_TRUE(send_bytes(ends_[0], &size, sizeof size));
    ASSERT_TRUE(send_bytes(ends_[0], text.data(), text.size()));
  }
  std::array<int, 2> ends_{-1, -1};
};

TEST_F(Frame, ArrivesAsItWasSent) {
  ASSERT_TRUE(send_header(ends_[0], {{"do", "run"}, {"name", "\xff"}}, {0, 17}));
  const auto header = receive_header(ends_[1]);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->content.at("do"), "run");
  EXPECT_EQ(header->blobs, (std::vector<std::int64_t>{0, 17}));
}

TEST_F(Frame, OfImpossibleSizeIsNone) {
  for (const std::uint64_t size : {~std::uint64_t{0}, most_header_bytes + 1}) {
    send_raw(size, "");
    EXPECT_THROW(receive_header(ends_[1]), std::runtime_error);
  }
}

/// A length alone takes no memory.
TEST_F(Frame, ThatIsCutOffIsIncomplete) {
  send_raw(most_header_bytes, "{}");
  hang_up();
  EXPECT_FALSE(receive_header(ends_[1]));
}

TEST_F(Frame, WithImpossibleBlobsIsNone) {
  for (const std::string text :
       {"{\"blobs\":[-1]}", "{\"blobs\":[1.5]}", "{\"blobs\":[18446744073709551615]}", "{\"blobs\":[\"1\"]}",
        "{\"blobs\":{}}", "{}", "[]", "nonsense", "", "{\"blobs\":[1099511627777]}"}) {
    send_raw(text.size(), text);
    EXPECT_THROW(receive_header(ends_[1]), std::runtime_error) << text;
  }
}

TEST_F(Frame, MayBeDeepAsTheOtherSideLikes) {
  const std::string text = "{\"blobs\":[],\"x\":" + std::string(1 << 20, '[') + std::string(1 << 20, ']') + "}";
  std::thread sender([&] { send_raw(text.size(), text); });
  EXPECT_TRUE(receive_header(ends_[1]));
  sender.join();
}

} // namespace
} // namespace repro_minify
