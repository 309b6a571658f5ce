#include "backends/inductor_like/stages.h"

#include "backends/inductor_like/capture.h"
#include "program/graph.h"

#include <torch/csrc/jit/api/compilation_unit.h>

#include <utility>

namespace repro_minify::inductor_like {
namespace {

// After torch/_decomp/decompositions.py and torch/_refs/nn/functional of 2.13.0. One function for each operator, named
// after it, with the operator's own arguments. `wide` is what 16-bit types (15 and 5 are bfloat16 and float16) are
// computed in: 6, float32. exp of an alias is exp as ATen has it inside another operator (pointwise.cpp).
//
// Matrix products of few elements are pointwise operators and sums, after torch/_inductor/decomposition.py: with an
// inner dimension of 1, and, of 16-bit types, of one row with one column or with a small matrix. (In float32 the sum
// would be another than that of eager's BLAS.)
const char *const source = R"(
def is_16_bit(x: Tensor) -> bool:
  return x.dtype == 15 or x.dtype == 5

def wide(x: Tensor) -> Tensor:
  if is_16_bit(x):
    return x.to(6)
  return x

def hardsigmoid(x: Tensor) -> Tensor:
  y = wide(x)
  return (torch.clamp(y + 3.0, 0.0, 6.0) / 6.0).to(x.dtype)

def hardswish(x: Tensor) -> Tensor:
  y = wide(x)
  return (y * torch.clamp(y + 3.0, 0.0, 6.0) / 6.0).to(x.dtype)

def hardtanh(x: Tensor, low: number, high: number) -> Tensor:
  return torch.clamp(x, low, high)

def relu6(x: Tensor) -> Tensor:
  return torch.clamp(x, 0, 6)

def leaky_relu(x: Tensor, slope: number) -> Tensor:
  y = wide(x)
  return torch.where(y > 0, y, y * slope).to(x.dtype)

def softmax(x: Tensor, dim: int, dtype: Optional[int]) -> Tensor:
  given = x
  if dtype is not None:
    given = x.to(dtype)
  y = wide(given)
  if y.numel() == 0:
    return torch.exp(y).to(given.dtype)
  e = torch.exp(torch.alias(y - torch.amax(y, [dim], True)))
  return (e / torch.sum(e, [dim], True)).to(given.dtype)

def log_softmax(x: Tensor, dim: int, dtype: Optional[int]) -> Tensor:
  given = x
  if dtype is not None:
    given = x.to(dtype)
  y = wide(given)
  if y.numel() == 0:
    return torch.exp(y).to(given.dtype)
  shifted = y - torch.amax(y, [dim], True)
  return (shifted - torch.log(torch.sum(torch.exp(torch.alias(shifted)), [dim], True))).to(given.dtype)

def layer_norm(x: Tensor, shape: List[int], weight: Optional[Tensor], bias: Optional[Tensor], eps: float,
               cudnn: bool) -> Tensor:
  y = wide(x)
  unused, mean, scale = torch.native_layer_norm(y, shape, None, None, eps)
  z = (y - mean) * scale
  if weight is not None:
    z = z * wide(weight)
  if bias is not None:
    z = z + wide(bias)
  return z.to(x.dtype)

def group_norm(x: Tensor, groups: int, weight: Optional[Tensor], bias: Optional[Tensor], eps: float,
               cudnn: bool) -> Tensor:
  if x.numel() == 0:
    return torch.group_norm(x, groups, weight, bias, eps, cudnn)
  y = wide(x).reshape([x.size(0), groups, -1])
  unused, mean, scale = torch.native_layer_norm(y, [y.size(2)], None, None, eps)
  z = ((y - mean) * scale).reshape(x.shape)
  shape = [1, x.size(1)]
  for k in range(x.dim() - 2):
    shape.append(1)
  if weight is not None:
    z = z * wide(weight).reshape(shape)
  if bias is not None:
    z = z + wide(bias).reshape(shape)
  return z.to(x.dtype)

def batch_norm(x: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], mean: Optional[Tensor],
               var: Optional[Tensor], training: bool, momentum: float, eps: float, cudnn: bool) -> Tensor:
  if training or mean is None or var is None:
    return torch.batch_norm(x, weight, bias, mean, var, training, momentum, eps, cudnn)
  shape = [1, x.size(1)]
  for k in range(x.dim() - 2):
    shape.append(1)
  y = (wide(x) - wide(mean).reshape(shape)) * torch.rsqrt(wide(var) + eps).reshape(shape)
  if weight is not None:
    y = y * wide(weight).reshape(shape)
  if bias is not None:
    y = y + wide(bias).reshape(shape)
  return y.to(x.dtype)

def mm_is_small(x: Tensor, rows: int, inner: int, columns: int) -> bool:
  if rows == 1 and columns == 1:
    return inner == 1 or is_16_bit(x)
  return inner == 1 and rows > 1 and columns != 1 and rows + columns <= 32

def small_mm(a: Tensor, b: Tensor) -> Tensor:
  if a.size(1) == 1:
    return (wide(a) * wide(b)).to(a.dtype)
  return torch.sum(wide(a).squeeze(0) * wide(b).squeeze(1), [0], True).unsqueeze(0).to(a.dtype)

def mm(a: Tensor, b: Tensor) -> Tensor:
  if mm_is_small(a, a.size(0), a.size(1), b.size(1)):
    return small_mm(a, b)
  return torch.mm(a, b)

def bmm(a: Tensor, b: Tensor) -> Tensor:
  if a.size(2) == 1:
    return (wide(a) * wide(b)).to(a.dtype)
  if a.size(1) == 1 and b.size(2) == 1 and is_16_bit(a):
    return torch.sum(wide(a).squeeze(1) * wide(b).squeeze(2), [1], True).unsqueeze(1).to(a.dtype)
  return torch.bmm(a, b)

def dot(a: Tensor, b: Tensor) -> Tensor:
  if not is_16_bit(a):
    return torch.dot(a, b)
  return torch.sum(wide(a) * wide(b)).to(a.dtype)

def mv(a: Tensor, b: Tensor) -> Tensor:
  if not is_16_bit(a):
    return torch.matmul(a, b)
  return torch.sum(wide(a) * wide(b), [-1], False).to(a.dtype)

def matmul(a: Tensor, b: Tensor) -> Tensor:
  if a.dim() == 1 and b.dim() == 1:
    return dot(a, b)
  if b.dim() == 1 and (a.dim() == 2 or a.is_contiguous()):
    return mv(a, b)
  if b.dim() == 2 and (a.dim() <= 2 or a.is_contiguous()):
    rows = a.reshape([-1, a.size(-1)]) if a.numel() > 0 else a
    if a.numel() > 0 and mm_is_small(a, rows.size(0), rows.size(1), b.size(1)):
      return small_mm(rows, b).reshape(a.shape[:-1] + [b.size(1)])
  elif a.dim() >= 2 and b.dim() >= 2:
    if a.size(-1) == 1:
      return (wide(a) * wide(b)).to(a.dtype)
    if a.size(-2) == 1 and b.size(-1) == 1 and is_16_bit(a):
      return torch.sum(wide(a).squeeze(-2) * wide(b).squeeze(-1), [-1], True).unsqueeze(-1).to(a.dtype)
  return torch.matmul(a, b)

def addmm_is_small(x: Tensor, rows: int, inner: int, columns: int) -> bool:
  return rows == 1 and (columns == 1 or (inner <= 16 and columns <= 16)) and (inner == 1 or is_16_bit(x))

def small_addmm(c: Tensor, a: Tensor, b: Tensor, beta: number, alpha: number) -> Tensor:
  product = torch.sum(wide(a).t() * wide(b), [0], True) * alpha
  if beta == 0:
    return product.to(a.dtype)
  return (product + wide(c) * beta).to(a.dtype)

def addmm(c: Tensor, a: Tensor, b: Tensor, *, beta: number, alpha: number) -> Tensor:
  if addmm_is_small(a, a.size(0), a.size(1), b.size(1)):
    return small_addmm(c, a, b, beta, alpha)
  return torch.addmm(c, a, b, beta=beta, alpha=alpha)

def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
  if weight.dim() != 2 or x.numel() == 0:
    return torch.linear(x, weight, bias)
  rows = x.numel() // x.size(-1)
  if bias is not None and (x.dim() == 2 or x.is_contiguous()):
    if addmm_is_small(x, rows, weight.size(1), weight.size(0)):
      y = small_addmm(bias, x.reshape([1, -1]), weight.t(), 1, 1)
      return y.reshape(x.shape[:-1] + [weight.size(0)])
  elif (x.dim() <= 2 or x.is_contiguous()) and mm_is_small(x, rows, weight.size(1), weight.size(0)):
    y = small_mm(x.reshape([rows, -1]), weight.t()).reshape(x.shape[:-1] + [weight.size(0)])
    if bias is not None:
      return (wide(y) + wide(bias)).to(x.dtype)
    return y
  return torch.linear(x, weight, bias)

def logsumexp(x: Tensor, dim: List[int], keepdim: bool) -> Tensor:
  if x.numel() == 0 or not x.is_floating_point():
    return torch.logsumexp(x, dim, keepdim)
  y = wide(x)
  top = torch.amax(y, dim, True)
  safe = torch.where(torch.abs(top) == float("inf"), torch.zeros_like(top), top)
  z = torch.log(torch.sum(torch.exp(y - safe), dim, True)) + safe
  if not keepdim:
    z = torch.sum(z, dim, False)
  return z.to(x.dtype)

def var(x: Tensor, dim: Optional[List[int]], *, correction: Optional[number], keepdim: bool) -> Tensor:
  if x.numel() == 0 or x.dim() == 0 or not x.is_floating_point() or correction is None:
    return torch.var(x, dim, correction=correction, keepdim=keepdim)
  y = wide(x)
  dims: List[int] = []
  if dim is not None:
    dims = dim
  if len(dims) == 0:
    for k in range(x.dim()):
      dims.append(k)
  count = 1
  for k in dims:
    count *= x.size(k)
  centred = y - torch.mean(y, dims, True)
  return (torch.sum(centred * centred, dims, keepdim) / max(count - float(correction), 0.0)).to(x.dtype)
)";

/// The operators above whose first operand has to be floating, and the overloads that they are.
struct Decomposition {
  const char *kind;
  const char *function;
  const char *overload;
};
constexpr Decomposition rows[] = {
    {"aten::hardsigmoid", "hardsigmoid", ""},
    {"aten::hardswish", "hardswish", ""},
    {"aten::hardtanh", "hardtanh", ""},
    {"aten::relu6", "relu6", ""},
    {"aten::leaky_relu", "leaky_relu", ""},
    {"aten::softmax", "softmax", "int"},
    {"aten::log_softmax", "log_softmax", "int"},
    {"aten::layer_norm", "layer_norm", ""},
    {"aten::group_norm", "group_norm", ""},
    {"aten::batch_norm", "batch_norm", ""},
    {"aten::mm", "mm", ""},
    {"aten::bmm", "bmm", ""},
    {"aten::dot", "dot", ""},
    {"aten::mv", "mv", ""},
    {"aten::matmul", "matmul", ""},
    {"aten::addmm", "addmm", ""},
    {"aten::linear", "linear", ""},
    {"aten::logsumexp", "logsumexp", ""},
    {"aten::var", "var", "correction"},
};

const jit::CompilationUnit &functions() {
  static const jit::CompilationUnit unit = [] {
    jit::CompilationUnit made;
    made.define(std::nullopt, source, jit::nativeResolver(), nullptr);
    return made;
  }();
  return unit;
}

const char *decomposition_of(const Node *node, const Observation &seen) {
  for (const Decomposition &row : rows) {
    if (node->kind().toQualString() != std::string(row.kind) || !node->maybeSchema() ||
        node->schema().overload_name() != row.overload)
      continue;
    const auto *operand = seen.tensor(node->input(0));
    const auto *result = seen.tensor(node->output());
    const bool plain = operand && operand->plain && result && result->plain;
    return plain && c10::isFloatingType(result->dtype) ? row.function : nullptr;
  }
  return nullptr;
}

/// True if eager's result is contiguous where an operand is not: pointwise operators would keep the operand's order.
bool has_other_strides_than_operands(const Node *node, const Observation &seen) {
  const auto is_contiguous = [&](const Value *value) {
    const ObservedTensor *tensor = seen.tensor(value);
    return !tensor || tensor->strides == contiguous_strides(tensor->sizes);
  };
  const auto inputs = node->inputs();
  return is_contiguous(node->output()) && !std::all_of(inputs.begin(), inputs.end(), is_contiguous);
}

} // namespace

StraightLine decompose(const StraightLine &line) {
  const Observation seen = observe(line);
  StraightLine result = line;
  // All are looked up before any is replaced: what replaces an operand has not been observed.
  std::vector<std::pair<Node *, const char *>> found;
  for (auto *node : result.graph->nodes())
    if (const char *name = decomposition_of(node, seen))
      found.emplace_back(node, name);
  for (const auto &[node, name] : found) {
    const jit::WithInsertPoint guard(node);
    const auto graph = jit::toGraphFunction(functions().get_function(c10::QualifiedName(name))).graph();
    Value *made = jit::insertGraph(*node->owningGraph(), *graph, node->inputs()).at(0);
    if (has_other_strides_than_operands(node, seen)) // views that follow rely on those of eager
      made = node->owningGraph()->insert(c10::aten::contiguous, {made});
    node->output()->replaceAllUsesWith(made);
    node->destroy();
  }
  return found.empty() ? result : capture_again(result);
}

} // namespace repro_minify::inductor_like
