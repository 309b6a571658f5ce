#include "core/digest.h"

// SHA256_Init and its like are marked as deprecated; what takes their place links 4 MB of ciphers with it.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace repro_minify {

struct Digest::Context {
  SHA256_CTX state;
  Context() { SHA256_Init(&state); }
};

Digest::Digest() : context_(std::make_unique<Context>()) {}
Digest::~Digest() = default;
Digest::Digest(Digest &&) noexcept = default;
Digest &Digest::operator=(Digest &&) noexcept = default;

void Digest::add(const void *data, std::size_t size) {
  if (size > waiting_.size() - count_)
    flush();
  if (size > waiting_.size()) {
    SHA256_Update(&context_->state, data, size);
  } else if (size > 0) {
    std::memcpy(waiting_.data() + count_, data, size);
    count_ += size;
  }
}

void Digest::add(std::string_view text) {
  add(text.size());
  add(text.data(), text.size());
}

void Digest::flush() {
  SHA256_Update(&context_->state, waiting_.data(), count_);
  count_ = 0;
}

std::string Digest::text() {
  flush();
  std::array<unsigned char, SHA256_DIGEST_LENGTH> bytes{};
  SHA256_Final(bytes.data(), &context_->state);
  constexpr const char *digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < 16; ++i)
    text += {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
  return text;
}

std::string digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.text();
}

std::string digest_in_base64(std::string_view bytes) {
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes.data(), bytes.size());
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_Final(digest.data(), &state);
  std::array<unsigned char, 64> text{};
  const int length = EVP_EncodeBlock(text.data(), digest.data(), SHA256_DIGEST_LENGTH);
  return {reinterpret_cast<const char *>(text.data()), static_cast<size_t>(length)};
}

std::string digest_of_file(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  Digest digest;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0)
    digest.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
  return file.eof() ? digest.text() : "";
}

} // namespace repro_minify
