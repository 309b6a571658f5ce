// Memory that a child shares with its parent: what it answers survives its death, and the closing of all its descriptors.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace repro_minify {

/// The head of the shared mapping; the reply's bytes follow it.
struct SharedHead {
  std::atomic<std::uint32_t> done;    ///< an Ending + 1 once the job is over; written last
  std::atomic<std::uint64_t> size;    ///< bytes of reply
  std::atomic<std::uint32_t> message_size;
  char stage[64];
  char message[8192];
};

class SharedMemory {
public:
  /// Throws std::bad_alloc.
  explicit SharedMemory(std::size_t reply_capacity);
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;

  SharedHead &head() const { return *static_cast<SharedHead *>(address_); }
  char *reply() const { return static_cast<char *>(address_) + sizeof(SharedHead); }
  std::size_t capacity() const { return capacity_; }

private:
  std::size_t capacity_;
  void *address_;
};

} // namespace repro_minify
