// SHA-256: what stands for contents that are compared by it, and not by themselves.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace repro_minify {

class Digest {
public:
  Digest();
  ~Digest();
  Digest(Digest &&) noexcept;
  Digest &operator=(Digest &&) noexcept;

  void add(const void *data, std::size_t size);
  void add(std::uint64_t word) { add(&word, sizeof word); }
  /// With its length: two texts in a row cannot be taken for others.
  void add(std::string_view text);
  /// 32 hexadecimal digits, 128 of the bits. Nothing may be added afterwards.
  std::string text();

private:
  void flush();

  struct Context;
  std::unique_ptr<Context> context_;
  std::array<unsigned char, 4096> waiting_; ///< words come one by one, the library wants many
  std::size_t count_ = 0;
};

std::string digest_of(std::string_view bytes);
/// All 256 bits, as a Content-Security-Policy wants them.
std::string digest_in_base64(std::string_view bytes);
/// Returns the digest of a file's content; empty when it cannot be read.
std::string digest_of_file(const std::filesystem::path &path);

} // namespace repro_minify
