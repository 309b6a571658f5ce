#include "core/digest.h"

#include <openssl/evp.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace repro_minify {

struct Digest::Context {
  EVP_MD_CTX *handle = EVP_MD_CTX_new();
  Context() {
    if (!handle)
      throw std::bad_alloc();
    if (EVP_DigestInit_ex(handle, EVP_sha256(), nullptr) != 1)
      throw std::runtime_error("libcrypto has no SHA-256");
  }
  ~Context() { EVP_MD_CTX_free(handle); }
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;
};

Digest::Digest() : context_(std::make_unique<Context>()) {}
Digest::~Digest() = default;
Digest::Digest(Digest &&) noexcept = default;
Digest &Digest::operator=(Digest &&) noexcept = default;

void Digest::add(const void *data, std::size_t size) {
  if (size > waiting_.size() - count_)
    flush();
  if (size > waiting_.size()) {
    EVP_DigestUpdate(context_->handle, data, size);
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
  EVP_DigestUpdate(context_->handle, waiting_.data(), count_);
  count_ = 0;
}

std::string Digest::text() {
  flush();
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  EVP_DigestFinal_ex(context_->handle, bytes.data(), nullptr);
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
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{}, text{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  const int length = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
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
