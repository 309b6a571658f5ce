#include "program/shared_pages.h"

#include "program/values.h"
#include "repro_minify/record.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace repro_minify {
namespace {

size_t page_bytes() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

/// A file without a name that only grows. Children inherit it.
class SharedFile {
public:
  /// Appends; returns where it lies, or nothing when there is no room.
  std::optional<off_t> append(const void *data, size_t size) {
    if (file_ < 0)
      file_ = memfd_create("repro-minify", MFD_CLOEXEC);
    if (file_ < 0)
      return std::nullopt;
    const off_t offset = end_;
    for (size_t done = 0; done < size;) {
      const ssize_t written =
          pwrite(file_, static_cast<const char *>(data) + done, size - done, offset + static_cast<off_t>(done));
      if (written <= 0)
        return std::nullopt;
      done += static_cast<size_t>(written);
    }
    end_ += static_cast<off_t>((size + page_bytes() - 1) / page_bytes() * page_bytes());
    return ftruncate(file_, end_) == 0 ? std::optional(offset) : std::nullopt;
  }

  void *map(off_t offset, size_t size) const {
    void *address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file_, offset);
    return address == MAP_FAILED ? nullptr : address;
  }

  bool holds(off_t offset, const void *data, size_t size) const {
    std::vector<char> part(std::min(size, size_t{1} << 20));
    for (size_t done = 0; done < size; done += part.size()) {
      const size_t count = std::min(part.size(), size - done);
      if (pread(file_, part.data(), count, offset + static_cast<off_t>(done)) != static_cast<ssize_t>(count) ||
          std::memcmp(part.data(), static_cast<const char *>(data) + done, count) != 0)
        return false;
    }
    return true;
  }

private:
  int file_ = -1;
  off_t end_ = 0;
};

struct Mapping {
  off_t offset;
  size_t size;
};

/// All mappings, by address. They have a mutex, as tensors can die in any thread.
struct Mappings {
  std::mutex mutex;
  SharedFile file;
  std::map<const void *, Mapping> at;
};

/// Never destroyed: tensors may outlive every static object.
Mappings &mappings() {
  static auto *all = new Mappings;
  return *all;
}

void unmap(void *address) {
  auto &all = mappings();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.at.find(address); found != all.at.end()) {
    munmap(address, found->second.size);
    all.at.erase(found);
  }
}

/// Null where nothing can be mapped.
at::DataPtr map_contents(const Mapping &contents) {
  auto &all = mappings();
  const std::lock_guard lock(all.mutex);
  void *address = all.file.map(contents.offset, contents.size);
  if (!address)
    return {};
  all.at.emplace(address, contents);
  return {address, address, unmap, c10::kCPU};
}

std::optional<Mapping> mapping_at(const void *address) {
  auto &all = mappings();
  const std::lock_guard lock(all.mutex);
  const auto found = all.at.find(address);
  return found == all.at.end() ? std::nullopt : std::optional(found->second);
}

/// A page that was written to is the process's own and no page of the file any more; pagemap says so in two bits.
bool has_pages_of_its_own(const void *address, size_t size) {
  constexpr uint64_t present = uint64_t{1} << 63, swapped = uint64_t{1} << 62, of_file = uint64_t{1} << 61;
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return true;
  std::vector<uint64_t> entries(4096);
  const size_t first = reinterpret_cast<uintptr_t>(address) / page_bytes();
  const size_t pages = (size + page_bytes() - 1) / page_bytes();
  bool found = false;
  for (size_t done = 0; done < pages && !found; done += entries.size()) {
    const size_t count = std::min(entries.size(), pages - done) * sizeof(uint64_t);
    found = pread(file, entries.data(), count, static_cast<off_t>((first + done) * sizeof(uint64_t))) !=
                static_cast<ssize_t>(count) ||
            std::any_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count / sizeof(uint64_t)),
                        [](uint64_t entry) { return (entry & (present | swapped)) && !(entry & of_file); });
  }
  close(file);
  return found;
}

bool can_share(const at::Tensor &tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.has_storage() &&
         tensor.storage().nbytes() >= worthwhile_shared_bytes && tensor.storage().data() != nullptr;
}

std::vector<at::Tensor> large_tensors(const torch::jit::Module &module) {
  std::vector<at::Tensor> tensors;
  const auto add = [&](const at::Tensor &tensor) {
    if (can_share(tensor))
      tensors.push_back(tensor);
  };
  for (const auto &submodule : module.modules())
    for (const auto &attribute : submodule.named_attributes(/*recurse=*/false))
      for_each_tensor(attribute.value, add);
  for (auto *function : module._ivalue()->compilation_unit()->get_functions())
    if (auto *graph_function = torch::jit::tryToGraphFunction(*function))
      for (const torch::jit::Node *node : all_nodes(*graph_function->graph()))
        if (node->kind() == torch::jit::prim::Constant && node->outputs().size() == 1)
          if (const auto value = torch::jit::toIValue(node->output()))
            for_each_tensor(*value, add);
  return tensors;
}

} // namespace

void share_pages(const at::Tensor &tensor) {
  if (!can_share(tensor) || mapping_at(tensor.storage().data()))
    return;
  auto *storage = tensor.storage().unsafeGetStorageImpl();
  std::optional<off_t> offset;
  {
    auto &all = mappings();
    const std::lock_guard lock(all.mutex);
    offset = all.file.append(storage->data(), storage->nbytes());
  }
  if (!offset)
    return;
  if (auto data = map_contents({*offset, storage->nbytes()}))
    storage->set_data_ptr(std::move(data));
}

void share_pages(const torch::jit::Module &module) {
  size_t shared = 0;
  for (const at::Tensor &tensor : large_tensors(module)) {
    share_pages(tensor);
    shared += tensor.storage().nbytes();
  }
  give_memory_back(shared);
}

void share_pages_with(const torch::jit::Module &module, const torch::jit::Module &original) {
  const auto ours = large_tensors(module), theirs = large_tensors(original);
  if (ours.size() != theirs.size())
    return;
  size_t shared = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    auto *storage = ours[i].storage().unsafeGetStorageImpl();
    const auto contents = mapping_at(theirs[i].storage().data());
    if (!contents || contents->size != storage->nbytes() || mapping_at(storage->data()) ||
        !mappings().file.holds(contents->offset, storage->data(), contents->size))
      continue;
    if (auto data = map_contents(*contents)) {
      storage->set_data_ptr(std::move(data));
      shared += contents->size;
    }
  }
  give_memory_back(shared);
}

bool is_untouched(const c10::Storage &storage) {
  const auto mapping = mapping_at(storage.data());
  return mapping && mapping->size == storage.nbytes() && !has_pages_of_its_own(storage.data(), mapping->size);
}

bool restore_pages(const c10::Storage &storage) {
  const auto mapping = mapping_at(storage.data());
  if (!mapping || !has_pages_of_its_own(storage.data(), mapping->size))
    return false;
  madvise(const_cast<void *>(storage.data()), mapping->size, MADV_DONTNEED); // they are read from the file again
  return true;
}

bool are_same_pages(const c10::Storage &one, const c10::Storage &other) {
  const auto first = mapping_at(one.data()), second = mapping_at(other.data());
  return first && second && first->offset == second->offset && is_untouched(one) && is_untouched(other);
}

std::optional<c10::Storage> mapped_copy(const c10::Storage &storage) {
  if (!is_untouched(storage))
    return std::nullopt;
  const auto mapping = mapping_at(storage.data());
  auto data = map_contents(*mapping);
  if (!data)
    return std::nullopt;
  return c10::Storage(c10::Storage::use_byte_size_t(), static_cast<int64_t>(mapping->size), std::move(data),
                      at::getCPUAllocator(),
                      /*resizable=*/true);
}

at::Tensor converted(const at::Tensor &flat, at::ScalarType type) {
  constexpr int64_t step = 1 << 20;
  if (flat.numel() <= step || flat.storage_offset() != 0 || !flat.is_contiguous() || !is_untouched(flat.storage()))
    return flat.to(flat.device(), type, /*non_blocking=*/false, /*copy=*/true);
  at::Tensor result = at::empty({flat.numel()}, flat.options().dtype(type));
  char *const begin = static_cast<char *>(flat.storage().mutable_data());
  for (int64_t done = 0; done < flat.numel(); done += step) {
    const int64_t count = std::min(step, flat.numel() - done);
    result.narrow(0, done, count).copy_(flat.narrow(0, done, count));
    // These pages were never written to: what is dropped is read from the file when it is wanted again.
    const auto element = static_cast<int64_t>(flat.element_size());
    madvise(begin + done * element, static_cast<size_t>(count * element), MADV_DONTNEED);
  }
  return result;
}

void give_memory_back(size_t freed_bytes) {
  constexpr size_t noticeable = size_t{32} << 20;
  if (freed_bytes >= noticeable)
    malloc_trim(0);
}

} // namespace repro_minify
