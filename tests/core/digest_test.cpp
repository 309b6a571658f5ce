// The published digests, however the bytes come.
#include "core/digest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/files.h"

namespace repro_minify {
namespace {

constexpr const char *of_abc = "ba7816bf8f01cfea414140de5dae2223"; // FIPS 180-2, B.1; the first half
constexpr const char *of_a_million_a = "cdc76e5c9914fb9281a1c7e284d73e67";

TEST(Digest, IsThatOfTheStandard) {
  EXPECT_EQ(digest_of("abc"), of_abc);
  EXPECT_EQ(digest_of(std::string(1000000, 'a')), of_a_million_a);
  EXPECT_EQ(digest_of(""), "e3b0c44298fc1c149afbf4c8996fb924");
}

TEST(Digest, IsTheSameInPiecesOfAnySize) {
  const std::string text(1000000, 'a');
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{100000}}) {
    Digest digest;
    for (size_t at = 0; at < text.size(); at += piece)
      digest.add(text.data() + at, std::min(piece, text.size() - at));
    EXPECT_EQ(digest.text(), of_a_million_a) << piece;
  }
}

TEST(Digest, TellsTwoTextsInARowApart) {
  Digest one, other;
  one.add(std::string_view("ab"));
  one.add(std::string_view("c"));
  other.add(std::string_view("a"));
  other.add(std::string_view("bc"));
  EXPECT_NE(one.text(), other.text());
}

TEST(Digest, InBase64HasAllBits) {
  EXPECT_EQ(digest_in_base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST(Digest, OfAFileIsThatOfItsContent) {
  const TemporaryFolder folder;
  std::ofstream(folder / "abc") << "abc";
  EXPECT_EQ(digest_of_file(folder / "abc"), of_abc);
  EXPECT_EQ(digest_of_file(folder / "none"), "");
  EXPECT_EQ(digest_of_file(folder.path()), "") << "a folder has no content";
}

} // namespace
} // namespace repro_minify
