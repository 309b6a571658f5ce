// The steps of a compiled program: operators that run as ATen and kernels, in order, over a table of slots.
#pragma once

#include "backends/inductor_like/kernel.h"
#include "backends/inductor_like/straight_line.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace repro_minify::inductor_like {

/// One operator, as ATen has it.
struct AtenStep {
  Node *node = nullptr;
  std::vector<int> inputs, outputs; ///< slots
};

struct KernelStep {
  std::string name;
  Kernel kernel;
  std::vector<BufferRef> arguments; ///< once it is written
  unsigned blocks = 0;              ///< on CUDA, likewise
};

using Step = std::variant<AtenStep, KernelStep>;

struct Plan {
  /// A tensor as a kernel reads it: one that has other strides when it comes is copied first.
  struct Layout {
    at::ScalarType dtype = at::kFloat;
    std::vector<int64_t> sizes, strides;
  };
  GraphPtr graph; ///< keeps the nodes alive
  /// Where all its kernels run, and what they read and make lies.
  c10::Device device = c10::kCPU;
  std::vector<Step> steps;
  std::vector<c10::IValue> slots; ///< with the constants in their places
  std::vector<Layout> layouts;    ///< of each slot that a kernel reads or makes
  /// The strides of eager, by slot, where a kernel makes the tensor in another order. Views that the program takes of
  /// it rely on them, so that it is copied once it is made.
  std::map<int, std::vector<int64_t>> strides_of_eager;
  std::vector<int> inputs;  ///< slots of the line's inputs
  std::vector<int> outputs; ///< slots of its outputs
  std::string source;       ///< of all kernels
  bool raises = false;      ///< a fault on purpose: running it raises
};

/// The message of a program with `raises`.
inline constexpr const char *injected_message = "injected: relu raises when it runs";

/// Keeps out of memory the outputs of kernels that no other step reads and the program does not return, and removes a
/// kernel that has no others.
void drop_unread(Plan &plan);

/// Writes the kernels' source into the plan, for its device.
void write_kernels(Plan &plan);

/// Starts a kernel on what lies at the pointers, which are in the order of its arguments.
using Launch = std::function<void(const KernelStep &kernel, const std::vector<void *> &pointers)>;

/// Runs it: the line's inputs in, its outputs out.
std::vector<c10::IValue> run(const Plan &plan, const Launch &launch, const std::vector<c10::IValue> &inputs);

at::ScalarType dtype_of(Element element);
/// Nothing for a type that kernels do not know.
std::optional<Element> element_of(at::ScalarType type);

// A plan's kernels compiled, loaded, and ready to be started where its tensors are.

/// Why no kernel can be made for the device; empty if one can. The CPU is not asked about.
std::string no_kernels_because(c10::Device device);

/// Throws std::runtime_error with the first error of the compiler's. On CUDA kernels run on the device's current
/// stream.
Launch build(const Plan &plan);

} // namespace repro_minify::inductor_like
