#include "program/input_spec.h"

#include "program/compute.h"
#include "program/input_spec_text.h"
#include "repro_minify/program.h"
#include "repro_minify/run_settings.h"

#include <ATen/ATen.h>

#include <map>

namespace repro_minify {
namespace {

at::ScalarType scalar_type(const std::string &name) {
  static const std::map<std::string, at::ScalarType> types = {
      {"f16", at::kHalf}, {"bf16", at::kBFloat16}, {"f32", at::kFloat},        {"f64", at::kDouble},
      {"u8", at::kByte},  {"i8", at::kChar},       {"i16", at::kShort},        {"i32", at::kInt},
      {"i64", at::kLong}, {"bool", at::kBool},     {"c64", at::kComplexFloat}, {"c128", at::kComplexDouble}};
  return types.at(name);
}

at::Tensor make_tensor(const InputSpec &spec, bool requires_grad) {
  const at::ScalarType dtype = scalar_type(spec.dtype);
  at::Tensor tensor;
  if (at::isIntegralType(dtype, /*includeBool=*/false)) {
    const auto range = spec.range.value_or(std::make_pair(0.0, 10.0));
    tensor = at::randint(static_cast<int64_t>(range.first), static_cast<int64_t>(range.second), spec.sizes, dtype);
  } else if (dtype == at::kBool) {
    tensor = at::randint(0, 2, spec.sizes, at::kBool);
  } else if (spec.range) {
    tensor =
        (at::rand(spec.sizes, at::kDouble) * (spec.range->second - spec.range->first) + spec.range->first).to(dtype);
  } else {
    tensor = at::randn(spec.sizes, at::isComplexType(dtype) ? dtype : at::kFloat).to(dtype);
  }
  if (requires_grad && (tensor.is_floating_point() || tensor.is_complex()))
    tensor.set_requires_grad(true);
  return tensor;
}

InputSpec spec_in(const std::string &text) {
  try {
    return read_input_spec(text);
  } catch (const BadInputSpec &problem) {
    throw UserError("--input '" + text + "': " + problem.what());
  }
}

} // namespace

c10::IValue inputs_from_specs(const std::vector<std::string> &texts, uint64_t seed, bool requires_grad) {
  std::vector<InputSpec> specs;
  for (const auto &text : texts)
    specs.push_back(spec_in(text));
  try {
    return compute_in_child(
        [&](Child &) {
          seed_cpu(seed);
          std::vector<c10::IValue> tensors;
          tensors.reserve(specs.size());
          for (const auto &spec : specs)
            tensors.emplace_back(make_tensor(spec, requires_grad));
          return c10::ivalue::Tuple::create(std::move(tensors));
        },
        generous_limits());
  } catch (const std::exception &error) {
    throw UserError("--input: the inputs cannot be made: " + first_sentence(error.what()));
  }
}

} // namespace repro_minify
