{{#structure}}
{{#strides}}
static bool strides_differ(const at::Tensor& e, const at::Tensor& f) {
  for (int64_t dim = 0; dim < e.dim() && e.sizes() == f.sizes(); ++dim)
    if (e.numel() > 0 && e.size(dim) > 1 && e.stride(dim) != f.stride(dim))
      return true;
  return false;
}

{{/strides}}
static bool differs(const c10::IValue& expected, const c10::IValue& found) {
  if (expected.isNone() != found.isNone() || expected.isTensor() != found.isTensor())
    return true;
  if (!expected.isTensor())
    return {{#plain}}expected.tagKind() != found.tagKind(){{/plain}}{{#no_plain}}false{{/no_plain}};
  const at::Tensor e = expected.toTensor(), f = found.toTensor();
  return e.defined() != f.defined(){{#strides}} || (e.defined() && strides_differ(e, f)){{/strides}}{{#layout}} || (e.defined() && e.layout() != f.layout()){{/layout}}{{#other_device}} || (e.defined() && e.device() != f.device()){{/other_device}};
}
{{/structure}}
{{#no_structure}}
{{#plain}}
static bool is_rounded(const c10::IValue& value) {
  return value.isTensor() || value.isDouble() || value.isComplexDouble();
}

static at::Tensor as_tensor(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor() : at::scalar_tensor(value.toScalar(), value.toScalar().type());
}

{{/plain}}
static bool differs(const c10::IValue& expected_value, const c10::IValue& found_value) {
{{#plain}}
  if (!is_rounded(expected_value) || !is_rounded(found_value))
    return {{#values}}expected_value != found_value{{/values}}{{#no_values}}false{{/no_values}};  // whole numbers, text
  at::Tensor expected = as_tensor(expected_value).detach(), found = as_tensor(found_value).detach();
{{/plain}}
{{#no_plain}}
  if (!expected_value.isTensor() || !found_value.isTensor())
    return false;
  at::Tensor expected = expected_value.toTensor().detach(), found = found_value.toTensor().detach();
{{/no_plain}}
{{#dtype}}
  return expected.scalar_type() != found.scalar_type();
{{/dtype}}
{{#shape}}
  return expected.sizes() != found.sizes();
{{/shape}}
{{#values}}
{{#no_grad}}
  if (expected.sizes() != found.sizes())
    return false;  // another failure
{{/no_grad}}
{{#floating_only}}
  if (!expected.is_floating_point() && !expected.is_complex())
    return false;
{{/floating_only}}
{{#quantised}}
  expected = expected.dequantize();
  found = found.dequantize();
{{/quantised}}
{{#complex}}
  if (expected.is_complex()) {
    expected = at::view_as_real(expected.resolve_conj());
    found = at::view_as_real(found.resolve_conj());
  }
{{/complex}}
{{#as_double}}
  expected = expected.to(at::kDouble);
  found = found.to(at::kDouble);
{{/as_double}}
{{#why}}
  // {{why:x-cpp-comment}}
{{/why}}
{{#places}}
  const auto special = [](const at::Tensor& x) { return at::where(x.isfinite(), at::zeros_like(x), x); };
  return !at::allclose(special(expected), special(found), 0, 0, /*equal_nan=*/true);
{{/places}}
{{#exact}}
  // Bit for bit, but that NaN equals NaN.
  const at::Tensor same = (expected == found) & (expected.signbit() == found.signbit());
  return !(same | (expected.isnan() & found.isnan())).all().item<bool>();
{{/exact}}
{{#equal}}
  return !expected.is_floating_point() && !at::equal(expected, found);
{{/equal}}
{{#direction}}
  const at::Tensor e = expected.flatten().to(at::kFloat), f = found.flatten().to(at::kFloat);
  return !at::allclose(e, f, /*rtol=*/{{rtol:x-source}}, /*atol=*/{{atol:x-source}}, /*equal_nan=*/true) &&
         !at::cosine_similarity(e, f, /*dim=*/0, /*eps=*/1e-6).ge({{limit:x-source}}).item<bool>();
{{/direction}}
{{#overlap}}
  if (expected.scalar_type() != at::kBool || found.scalar_type() != at::kBool)
    return false;
  const double both = (expected & found).sum().item<double>(), either = (expected | found).sum().item<double>();
  return either > 0 && both / either < {{limit:x-source}};
{{/overlap}}
{{#rms}}
  const at::Tensor error = at::nan_to_num(expected - found, 0, 0, 0);
  return error.numel() > 0 && error.square().mean().sqrt().item<double>() > {{limit:x-source}};
{{/rms}}
{{#bound}}
  const at::Tensor bound = expected.abs().clamp_min(1) * {{rtol:x-source}} + {{limit:x-source}};
  return ((found - expected).abs() > bound).any().item<bool>();
{{/bound}}
{{#close}}
  return !at::allclose({{#relative_to_expected}}found, expected{{/relative_to_expected}}{{#no_relative_to_expected}}expected, found{{/no_relative_to_expected}}, /*rtol=*/{{rtol:x-source}}, /*atol=*/{{atol:x-source}}, /*equal_nan=*/{{#equal_nan}}true{{/equal_nan}}{{#no_equal_nan}}false{{/no_equal_nan}});
{{/close}}
{{/values}}
}
{{/no_structure}}
