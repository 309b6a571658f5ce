// Operators of one's own, as --load-library takes them: one that is right, and one whose schema is wrong.
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

at::Tensor scale(const at::Tensor &x, double by) {
  return x * by;
}

at::Tensor meta_scale(const at::Tensor &x, double) {
  return at::empty_like(x);
}

/// Writes into its argument, which its schema does not say: a pass that trusts it leaves out calls that matter.
at::Tensor halve(const at::Tensor &x) {
  at::Tensor target = x;
  return target.mul_(0.5).clone();
}

at::Tensor meta_halve(const at::Tensor &x) {
  return at::empty_like(x);
}

} // namespace

TORCH_LIBRARY(odd, library) {
  library.def("scale(Tensor x, float by) -> Tensor");
  library.def("halve(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(odd, CPU, library) {
  library.impl("scale", scale);
  library.impl("halve", halve);
}
TORCH_LIBRARY_IMPL(odd, Meta, library) {
  library.impl("scale", meta_scale);
  library.impl("halve", meta_halve);
}
