#include "program/dtype_view.h"

#include <ATen/ATen.h>
#include <torch/library.h>

namespace repro_minify {
namespace {

at::Tensor view_of_dtype(const at::Tensor &tensor, at::ScalarType dtype) {
  return tensor.view(dtype);
}

} // namespace

void register_dtype_view() {
  [[maybe_unused]] static const torch::Library library = [] {
    torch::Library prims(torch::Library::FRAGMENT, "prims", std::nullopt, __FILE__, __LINE__);
    prims.def("view_of_dtype(Tensor(a) a, ScalarType dtype) -> Tensor(a)",
              torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd, TORCH_FN(view_of_dtype)));
    return prims;
  }();
}

} // namespace repro_minify
