// The parts of the pretended CUDA device know this of one another: hooks.cpp says what the device is.
#pragma once
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>

#include <string>
#include <string_view>

namespace pretended {

inline const c10::Device the_device(c10::kCUDA, 0);
inline constexpr c10::DispatchKeySet cuda_keys(c10::DispatchKey::CUDA);

/// Called by every use of the device. Throws in a process that was forked from one that had used it, as CUDA does.
void use_the_device();

/// Its own, in which new memory is filled with 0xAA.
c10::Allocator &memory();
/// It counts as much as a large model, and never comes back.
void leak_memory();

/// True if $PRETENDED_CUDA has this word in it.
bool is_asked_to(const char *word);

// Kernels, which may be faulty.

void begin_operator(std::string_view name);
/// Throws what an earlier kernel has done.
void wait_for_kernels();
/// The same, where the program waits for the whole device: each run of a model ends with it.
void end_run();

/// While it lives, what draws from the CPU's generator draws from the device's instead.
class DrawsFromTheDevice {
public:
  DrawsFromTheDevice();
  ~DrawsFromTheDevice();
  DrawsFromTheDevice(const DrawsFromTheDevice &) = delete;
  DrawsFromTheDevice &operator=(const DrawsFromTheDevice &) = delete;
};

} // namespace pretended
