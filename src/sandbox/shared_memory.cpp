#include "sandbox/shared_memory.h"

#include <new>

#include <sys/mman.h>

namespace repro_minify {

SharedMemory::SharedMemory(std::size_t reply_capacity) : capacity_(reply_capacity) {
  // NORESERVE: a capacity of gigabytes costs nothing until pages are written.
  address_ = mmap(nullptr, sizeof(SharedHead) + capacity_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address_ == MAP_FAILED)
    throw std::bad_alloc();
  new (address_) SharedHead{};
}

SharedMemory::~SharedMemory() { munmap(address_, sizeof(SharedHead) + capacity_); }

} // namespace repro_minify
