// A kernel: one loop nest that fills buffers element by element, or reduces into them. Written as C++ that needs no
// header but the prelude.
#pragma once
#include "codegen/element.h"
#include "codegen/index.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace repro_minify {

struct BufferRef {
  int id = 0; ///< unique in its program
  Element element = Element::Float32;
};

/// The statements of a loop's body. Equal expressions become one local variable.
class Body {
public:
  Body() = default;
  /// `before_store` stands before every statement that stores: where many threads compute the same, one of them writes.
  explicit Body(std::string before_store) : before_store_(std::move(before_store)) {}

  /// The name of a local variable (or the literal itself) that holds the expression.
  std::string local(const std::string &type, const std::string &expression);
  /// The element of a buffer, in its compute type. What this body has stored at the same place is taken as it was
  /// before it was rounded to the buffer's type.
  std::string load(const BufferRef &buffer, const Index &at);
  void store(const BufferRef &buffer, const Index &at, const std::string &value);

  void add(const std::string &statement) { statements_.push_back(statement); }
  /// A name for what a reduction collects.
  std::string sum_name() { return "s" + std::to_string(next_++); }
  /// The name that belongs to a key, and whether it is new.
  std::pair<std::string, bool> name_of(const std::string &key);

  const std::vector<std::string> &statements() const { return statements_; }
  const std::map<int, Element> &loaded() const { return loaded_; }
  const std::map<int, Element> &stored() const { return stored_; }
  /// Every place that was computed.
  const std::vector<Index> &places() const { return places_; }
  /// A buffer that this body stores was asked for at another place than where it was stored: it needs a kernel before.
  bool conflicts() const { return conflicts_; }
  /// What a reduction loop sees of the statements around it.
  Body nested() const;
  void absorb(const Body &inner);

private:
  std::vector<std::string> statements_;
  std::map<std::string, std::string> known_;
  std::map<int, Element> loaded_, stored_;
  std::map<int, std::pair<Index, std::string>> values_;
  std::vector<Index> places_;
  std::string before_store_;
  int next_ = 0;
  bool conflicts_ = false;
};

/// The value at some indices: the expression in the body's terms.
using Loader = std::function<std::string(Body &, const std::vector<Index> &)>;

/// Mean, and Squares, the sum of the squared differences from it, are of floating types.
enum class Fold { None, Sum, Product, Largest, Smallest, Any, All, Mean, Squares };

struct KernelOutput {
  BufferRef buffer; ///< contiguous, of the kernel's sizes
  Loader value;     ///< takes the kernel's indices, and then those of `folded`
  Fold fold = Fold::None;
  std::vector<int64_t> folded = {}; ///< sizes of what is reduced
  Element accumulator = Element::Float32;
};

struct Kernel {
  std::vector<int64_t> sizes;
  std::vector<KernelOutput> outputs;
};

struct KernelSource {
  std::string text;
  std::vector<BufferRef> arguments; ///< in the order of the function's array of pointers, or of its parameters
  unsigned blocks = 0;              ///< CUDA: of how many threads, cuda_kernel.h says; 0: nothing to compute
};

/// `extern "C" void NAME(void *const *p, int threads)`.
KernelSource write_kernel(const std::string &name, const Kernel &kernel);
/// Whether the kernel's outputs can be computed in one loop: none reads another's buffer at a different place.
bool is_one_loop(const Kernel &kernel);
/// The buffers a kernel reads that it does not make itself.
std::set<int> reads(const Kernel &kernel);
/// How many local variables the computation takes: how much work it is.
size_t cost(const std::vector<int64_t> &sizes, const Loader &value);

/// The types and functions that these kernels, of write_kernel, use.
std::string kernel_helpers(const std::string &kernels);
/// The kernels as a file that compiles on its own.
std::string kernel_file(const std::string &kernels);

} // namespace repro_minify
