// Large tensors that every copy of a program has in common, without a copy: their contents lie in memory that can be
// mapped again and again, each time as private pages, so that a write to one copy is seen by no other. A check of a
// model of half a gigabyte would hold it four times over otherwise.
#pragma once
#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <cstddef>
#include <optional>

namespace repro_minify {

/// Smaller storages are not worth a mapping.
inline constexpr std::size_t worthwhile_shared_bytes = std::size_t{64} << 10;

/// Moves the contents of a large CPU storage to memory that can be mapped again; every tensor that uses the storage
/// sees the same values. Where that cannot be done everything stays as it is.
void share_pages(const at::Tensor &tensor);
/// Everything that a module holds: parameters, buffers, attributes, constants in its graphs.
void share_pages(const torch::jit::Module &module);

/// `module` was loaded from the file that `original` was loaded from: what is the same in both, byte for byte, is
/// mapped from there.
void share_pages_with(const torch::jit::Module &module, const torch::jit::Module &original);

/// A storage of the same bytes, a write to which is seen by no other. Nothing where the storage is not one of these, or
/// has been written to since it was mapped.
std::optional<c10::Storage> mapped_copy(const c10::Storage &storage);

/// True if the storage is a mapping that has not been written to, in whatever way. Asks the kernel, which knows.
bool is_untouched(const c10::Storage &storage);

/// Puts back what a mapping held before it was written to. Returns true if it had been.
bool restore_pages(const c10::Storage &storage);

/// True if both are untouched mappings of the same contents.
bool are_same_pages(const c10::Storage &one, const c10::Storage &other);

/// A contiguous copy of a flat tensor in another type, which holds no more than a little of an untouched mapping in
/// memory while it is made.
at::Tensor converted(const at::Tensor &flat, at::ScalarType type);

/// Gives memory that was freed back to the system, where there was enough of it to notice.
void give_memory_back(std::size_t freed_bytes);

} // namespace repro_minify
