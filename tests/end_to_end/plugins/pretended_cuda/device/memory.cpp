// The memory of the pretended device. All processes share it: the file that $PRETENDED_CUDA_MEMORY names begins with
// how many bytes there are, and then has a place for each process with what it holds. What a process holds is free
// again when it ends, however it does: each locks the byte of its place, and locks end with their process.
#include "device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace pretended {
namespace {

constexpr int places = 511;

struct Shared {
  std::int64_t all = std::int64_t{8} << 30;
  std::atomic<std::int64_t> held[places] = {};
};

/// A byte of the file, which one process at a time can lock.
struct flock lock_of(int place) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  return lock;
}

class Card {
public:
  /// Before the process is confined, as the file is opened.
  Card() {
    const char *path = getenv("PRETENDED_CUDA_MEMORY");
    file_ = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped = file_ < 0 ? MAP_FAILED : mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped != MAP_FAILED)
      shared_ = static_cast<Shared *>(mapped);
  }

  std::int64_t all() const { return shared_->all; }
  std::int64_t own() { return shared_->held[place()]; }

  std::int64_t free_for_all() {
    std::int64_t held = own();
    for (int other = 0; other < places; ++other)
      if (other != place_ && shared_->held[other] != 0 && is_locked(other))
        held += shared_->held[other];
    return std::max<std::int64_t>(all() - held, 0);
  }

  void add(std::int64_t bytes) { shared_->held[place()] += bytes; }

private:
  /// A child has a place of its own.
  int place() {
    if (process_ == getpid())
      return place_;
    for (place_ = 0; file_ >= 0 && place_ < places - 1; ++place_) {
      struct flock lock = lock_of(place_);
      if (fcntl(file_, F_SETLK, &lock) == 0)
        break;
    }
    shared_->held[place_] = 0;
    process_ = getpid();
    return place_;
  }

  bool is_locked(int place) const {
    struct flock lock = lock_of(place);
    return file_ >= 0 && fcntl(file_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  }

  Shared of_this_process_;
  Shared *shared_ = &of_this_process_;
  int file_ = -1, place_ = 0;
  pid_t process_ = -1;
};

Card card;

/// It lies before each block.
struct alignas(64) Header {
  std::int64_t bytes;
};

class Memory final : public c10::DeviceAllocator {
public:
  c10::DataPtr allocate(std::size_t bytes) override {
    use_the_device();
    const auto wanted = static_cast<std::int64_t>(bytes);
    is_crowded_ = is_asked_to("crowded") && ++allocations_ % 2000 > 1950;
    TORCH_CHECK_WITH(OutOfMemoryError, !is_crowded_ && wanted <= card.free_for_all(),
                     "CUDA out of memory. Tried to allocate ", bytes, " bytes");
    auto *header = new (c10::alloc_cpu(sizeof(Header) + bytes)) Header{wanted};
    card.add(wanted);
    void *data = header + 1;
    std::memset(data, 0xAA, bytes);
    return {data, data, release, the_device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return release; }
  void copy_data(void *to, const void *from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr &, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    stats.allocated_bytes[0].current = stats.reserved_bytes[0].current = card.own();
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override {
    return {is_crowded_ ? 0 : card.free_for_all(), card.all()};
  }

private:
  std::uint64_t allocations_ = 0;
  bool is_crowded_ = false; ///< others have all memory, at the moment

  static void release(void *data) {
    Header *header = static_cast<Header *>(data) - 1;
    card.add(-header->bytes);
    c10::free_cpu(header);
  }
};

Memory the_memory;
[[maybe_unused]] const bool is_known = (c10::SetAllocator(c10::kCUDA, &the_memory), true);

} // namespace

c10::Allocator &memory() {
  return the_memory;
}

void leak_memory() {
  card.add(std::int64_t{1} << 30);
}

} // namespace pretended
