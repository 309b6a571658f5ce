#include "core/no_answer.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

TEST(OutOfMemory, IsToldByItsWords) {
  EXPECT_TRUE(is_out_of_memory("CUDA out of memory. Tried to allocate 20.00 MiB"));
  EXPECT_TRUE(is_out_of_memory("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes"));
  EXPECT_TRUE(is_out_of_memory("DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes"));
  EXPECT_TRUE(is_out_of_memory("[ONNXRuntimeError] : 6 : bfc_arena.cc Failed to allocate memory for requested buffer"));
  EXPECT_TRUE(is_out_of_memory("RuntimeError: std::bad_alloc"));
  EXPECT_FALSE(is_out_of_memory("CUDA error: an illegal memory access was encountered"));
  EXPECT_FALSE(is_out_of_memory(""));
}

} // namespace
} // namespace repro_minify
