// The backend that generates its own kernels must not be wrong itself: programs of every kind of operator it covers,
// against the interpreter.
#include "all_tests.h"
#include "backends/inductor_like/capture.h"
#include "program/fixture.h"
#include "program/shared_pages.h"
#include "repro_minify/backend.h"
#include "repro_minify/check.h"

#include <ATen/Version.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

namespace repro_minify {
namespace {

struct Row {
  const char *name;
  const char *source; ///< of forward
  std::vector<at::Tensor> inputs;
};

torch::jit::Module module_of(const Row &row) {
  torch::jit::Module module("M");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_buffer("w", at::linspace(-1, 1, 12).reshape({3, 4}));
  module.register_buffer("count", at::zeros({3, 4}));
  module.define(row.source);
  return module;
}

at::Tensor numbers(std::vector<int64_t> sizes, at::ScalarType type = at::kFloat) {
  seed_cpu(0);
  return at::randn(sizes).mul(3).to(type);
}

ModuleFactory factory(const Row &row) {
  return [row](const InstantiateOptions &options) {
    Instance instance{module_of(row), {}};
    if (options.double_precision)
      instance.module.to(at::kDouble);
    for (const at::Tensor &input : row.inputs)
      instance.arguments.emplace_back(options.double_precision && input.is_floating_point() ? input.to(at::kDouble)
                                                                                            : input.clone());
    return instance;
  };
}

Verdict checked(const Row &row, const BackendOptions &options = {}, CheckOptions check_options = {}) {
  return check(factory(row), make_backend("inductor-like", options), check_options, testing_support::test_limits());
}

/// A program that ATen ran would agree with eager whatever the kernels do.
void expect_kernels(const Verdict &verdict, const std::string &name) {
  ASSERT_TRUE(verdict.coverage) << name;
  EXPECT_GT(verdict.coverage->compiled, 0) << name << ": " << verdict.coverage->because;
}

std::vector<Row> rows() {
  const at::Tensor x = numbers({3, 4}), y = numbers({3, 4}) * 0.5 + 1, v = numbers({4}), i = numbers({3, 4}, at::kLong);
  const at::Tensor big = numbers({2, 6, 5, 7}), bytes = at::arange(18, at::kByte).add(100), b = x.gt(0);
  at::Tensor nan = x.clone();
  nan[0][1] = NAN;
  nan[2][2] = INFINITY;
  const char *const small_products =
      "def forward(self, x, y):\n  r = x[:1] * 2\n  c = y.t()[:, :1]\n  n = torch.mm(r, c)\n  o = torch.mm(c, r)\n  "
      "a = torch.addmm(n, r, c, beta=0.5, alpha=3), torch.addmm(x.t()[0, :3], r, y.t()), torch.linear(r, x, None)\n  "
      "b = torch.bmm(x.unsqueeze(2), y.unsqueeze(1)), torch.bmm(x.unsqueeze(1), y.unsqueeze(2))\n  m = "
      "torch.matmul(x, y[0]), torch.matmul(x[0], y[0]), torch.matmul(x[0], y.t()), torch.matmul(x.unsqueeze(2), "
      "y.unsqueeze(1)), torch.matmul(x.unsqueeze(0), y[1])\n  return n, o, a[0], a[1], a[2], b[0], b[1], m[0], m[1], "
      "m[2], m[3], m[4], torch.linear(x[1], y, x.t()[2, :3]), torch.addmm(n / 0, r, c, beta=0), "
      "torch.addmm(a[2] / 0, x, y.t(), beta=0, alpha=2)\n";
  return {
      {"broadcasting", "def forward(self, x, y):\n  return x * y + y.unsqueeze(0) - 2 * x\n", {x, v}},
      {"scaled", "def forward(self, x, y):\n  return torch.add(x, y, alpha=3), torch.rsub(x, y, alpha=2)\n", {x, y}},
      {"division",
       "def forward(self, x, y):\n  return x / y, torch.div(x, y, rounding_mode='floor'), torch.div(x, y, "
       "rounding_mode='trunc'), torch.remainder(x, y), torch.fmod(x, y)\n",
       {x, y}},
      {"integer_division",
       "def forward(self, x):\n  return x // 3, torch.div(x, -2, rounding_mode='trunc'), torch.remainder(x, -3), "
       "torch.fmod(x, 3), x / 2\n",
       {i}},
      {"functions",
       "def forward(self, x):\n  p = torch.abs(x) + 0.1\n  return torch.exp(x), torch.log(p), torch.sqrt(p), "
       "torch.rsqrt(p), torch.tanh(x), torch.sin(x), torch.cos(x), torch.erf(x), torch.expm1(x), torch.log1p(p), "
       "torch.sigmoid(x), torch.pow(p, 1.7), torch.pow(x, 3), torch.atan2(x, p), torch.round(x), torch.floor(x), "
       "torch.frac(x), torch.sign(x), torch.reciprocal(x)\n",
       {x}},
      {"activations",
       "def forward(self, x):\n  return torch.gelu(x, approximate='none'), torch.gelu(x, approximate='tanh'), "
       "torch.silu(x), torch.hardswish(x), torch.hardsigmoid(x), torch.hardtanh(x, -1, 1), torch.leaky_relu(x, 0.1), "
       "torch.elu(x, 1, 1, 1), torch.softplus(x, 1, 20), torch.mish(x), torch.relu(x), torch.log_sigmoid(x)\n",
       {x}},
      {"not_a_number",
       "def forward(self, x):\n  return torch.relu(x), torch.clamp(x, -1, 1), torch.maximum(x, self.w), "
       "torch.isnan(x), torch.isinf(x), torch.isfinite(x), torch.amax(x, [1]), torch.amin(x, [0]), torch.max(x)\n",
       {nan}},
      {"comparisons",
       "def forward(self, x, i):\n  return x > 0.5, i == 2, i > x, torch.where(x > 0, x, i), torch.logical_and(x, i), "
       "torch.logical_not(i), (x > 0) & (i > 0), torch.masked_fill(x, i > 1, 7.5)\n",
       {x, i}},
      {"booleans", "def forward(self, b):\n  return b + b, b * b, ~b, b.sum(), torch.any(b), torch.all(b, 1)\n", {b}},
      {"bytes",
       "def forward(self, x):\n  return x + 200, x * 3, torch.amin(x, [0]), torch.amax(x, [0]), x.sum(), -x, x - 110, "
       "x.to(7) / 3\n",
       {bytes}},
      {"casts",
       "def forward(self, x):\n  return x.to(4), x.to(11), x.to(15), x.to(5), x.to(7), x.to(4) * 2 + x\n",
       {x}},
      {"signs_of_zero",
       "def forward(self, x):\n  return torch.atan2(x, -torch.ones_like(x)), torch.reciprocal(torch.tanh(x)), "
       "torch.reciprocal(torch.fmod(x, 2))\n",
       {at::tensor({-0.0F, 0.0F, -0.0F})}},
      {"softmax",
       "def forward(self, x):\n  return torch.softmax(x, 1), torch.log_softmax(x, 0), torch.softmax(x, -1, 7), "
       "torch.logsumexp(x, [1], False)\n",
       {x}},
      {"norms",
       "def forward(self, x):\n  c = torch.arange(6) * 0.3 + 1\n  n = torch.layer_norm(x, [5, 7], None, None, 1e-5, "
       "False)\n  b = torch.batch_norm(x, c, c, c, c, False, 0.1, 1e-5, False)\n  return n, b, torch.group_norm(x, 3, "
       "c, c, 1e-5, False)\n",
       {big}},
      {"reductions",
       "def forward(self, x):\n  return x.sum(), x.mean([1, 3]), x.mean([0, 2], True), torch.var(x, [1], correction=1, "
       "keepdim=True), torch.amax(x, [2, 3]), torch.prod(x, 1), x.sum([0, 1, 2, 3], True), torch.std(x)\n",
       {big}},
      {"views",
       "def forward(self, x):\n  y = x * 2\n  z = y.permute(2, 0, 3, 1).reshape(5, 14, 6) + 1\n  w = y.transpose(1, "
       "3)[:, 1::2].flatten(1)\n  return z, w, y.select(1, 2), y[0, :, 1:4, 2], y.view(2, 2, 3, 35).sum(2), "
       "y.unsqueeze(1).expand(2, 4, 6, 5, 7).sum([1]), y[..., -1].t()[0] if False else y[..., -1]\n",
       {big}},
      {"parts",
       "def forward(self, x):\n  a, b, c = torch.chunk(x * 2, 3, 1)\n  d, e = torch.split(x, [2, 4], 1)\n  f = "
       "torch.unbind(x + 1, 2)\n  return torch.cat([a * b, c], 1), d.sum() + e.sum(), f[1] * f[4], torch.stack([a, "
       "b])\n",
       {big}},
      {"writes",
       "def forward(self, x):\n  y = x * 1\n  y[0] += 1\n  y[:, 1:3].mul_(2)\n  z = y.t()\n  z[2].fill_(5)\n  "
       "y.relu_()\n  return y, z.sum(1), z + 1\n",
       {x}},
      {"writes_to_input_and_buffer",
       "def forward(self, x):\n  self.count.add_(x)\n  x.mul_(2)\n  x[0].zero_()\n  return self.count * 2, x + 1\n",
       {x}},
      {"copied_in",
       "def forward(self, x, y):\n  z = torch.zeros_like(x)\n  z[1] = y\n  z[:, 0] = x[:, 1]\n  return z\n",
       {x, v}},
      {"products",
       "def forward(self, x, y):\n  a = torch.mm(x * 2, y.t()) + 1\n  return torch.relu(a), torch.addmm(a, x, "
       "y.t(), beta=0.5, alpha=2), torch.linear(x, y, None).sum(0)\n",
       {x, y}},
      {"small_products", small_products, {x, y}},
      {"small_products_of_16_bits", small_products, {x.to(at::kBFloat16), y.to(at::kBFloat16)}},
      {"reads_twice",
       "def forward(self, x):\n  y = torch.exp(torch.tanh(x) * 2 + 1)\n  return y.sum(1), y / y.sum(1, "
       "True), y.t() * y.t()\n",
       {x}},
      {"nothing", "def forward(self, x):\n  return x + 1, x.sum(), torch.relu(x) * 2\n", {at::zeros({0, 3})}},
      {"one_number", "def forward(self, x):\n  return x * 2 + 1, x.sum(), torch.softmax(x, 0)\n", {numbers({})}},
      {"unrolled", "def forward(self, x):\n  for k in range(x.size(0)):\n    x = torch.sin(x) + k\n  return x\n", {x}},
      {"runs_as_aten",
       "def forward(self, x):\n  if bool(x.sum() > 0):\n    return x * 2\n  return x[x > 0] * 3\n",
       {x}},
  };
}

/// Returns what `--dump-stage STAGE` shows.
std::string dumped(const Row &row, const std::string &stage) {
  BackendOptions options;
  options.dumped_stages = {stage};
  options.dump_file = testing::TempDir() + stage + "-" + row.name + ".txt";
  const std::ofstream emptied(options.dump_file); // a confined child may write to what is there, and make nothing
  checked(row, options);
  std::ifstream file(options.dump_file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The kernels, or why there are none.
std::string generated(const Row &row) {
  return dumped(row, "generate");
}

class InductorLikeProgram : public testing::TestWithParam<size_t> {};

TEST_P(InductorLikeProgram, AgreesWithEagerOneByOne) {
  const Row row = rows()[GetParam()];
  CheckOptions strict;
  strict.compare.rule = CompareRule::Strict;
  for (const std::vector<std::string> &skipped : {std::vector<std::string>{},
                                                  {"fuse"},
                                                  {"decompose"},
                                                  {"freeze"},
                                                  {"pointwise-kernels"},
                                                  {"reduction-kernels"}}) {
    BackendOptions options;
    options.skipped_stages = skipped;
    const Verdict verdict = checked(row, options);
    EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass)
        << row.name << (skipped.empty() ? "" : " without " + skipped[0]) << ": " << verdict.message;
  }
}

TEST_P(InductorLikeProgram, IsCompiled) {
  const Row row = rows()[GetParam()];
  const std::string kernels = generated(row);
  EXPECT_EQ(kernels.find("kernel0") == std::string::npos, row.name == std::string("runs_as_aten")) << kernels;
}

INSTANTIATE_TEST_SUITE_P(Programs, InductorLikeProgram, testing::Range(size_t{0}, rows().size()),
                         [](const auto &info) { return std::string(rows()[info.param].name); });

TEST(InductorLike, AFaultOnPurposeIsSeen) {
  const Row row{"relu", "def forward(self, x):\n  return torch.relu(x * 2) + 1\n", {numbers({3, 4})}};
  BackendOptions options;
  options.inject = "relu-accuracy";
  EXPECT_EQ(checked(row, options).signatures.at(0).kind, FailureKind::Accuracy);
  options.inject = "relu-runtime-error";
  EXPECT_EQ(checked(row, options).signatures.at(0).kind, FailureKind::Exception);
  options.inject = "relu-compile-error";
  const Verdict verdict = checked(row, options);
  EXPECT_EQ(verdict.signatures.at(0).kind, FailureKind::Exception);
  EXPECT_NE(verdict.message.find("C++ compile error"), std::string::npos) << verdict.message;
}

/// 256 + 1 - 256 is 1 in float32 and 0 in bfloat16.
TEST(InductorLike, FusedChainsKeepFloat32BetweenOperatorsUnlessToldOtherwise) {
  const Row row{"chain",
                "def forward(self, x):\n  return torch.round((x + 1) - x) == 1\n",
                {at::full({8}, 256).to(at::kBFloat16)}};
  CheckOptions strict;
  strict.compare.rule = CompareRule::Strict;
  EXPECT_EQ(checked(row, {}, strict).outcome, Verdict::Outcome::Fail);
  BackendOptions casts;
  casts.emulate_precision_casts = true;
  EXPECT_EQ(checked(row, casts, strict).outcome, Verdict::Outcome::Pass);
  BackendOptions unfused;
  unfused.skipped_stages = {"fuse"};
  EXPECT_EQ(checked(row, unfused, strict).outcome, Verdict::Outcome::Pass);
}

/// Returns the results of both sides: eager's, then the compiled program's.
std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>> results(const Row &row) {
  const at::NoGradGuard no_grad;
  const std::vector<c10::IValue> arguments(row.inputs.begin(), row.inputs.end());
  const auto tensors = [](const c10::IValue &value) {
    std::vector<at::Tensor> list;
    for (const auto &element : value.toTupleRef().elements())
      list.push_back(element.toTensor());
    return list;
  };
  return {tensors(module_of(row).forward(arguments)),
          tensors(make_backend("inductor-like", {})->compile(module_of(row))(arguments))};
}

/// The same, of a program that has kernels.
std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>> results_with_kernels(const Row &row) {
  const std::string kernels = generated(row);
  EXPECT_NE(kernels.find("kernel0"), std::string::npos) << kernels;
  return results(row);
}

void expect_the_same_bits(const Row &row) {
  if (at::get_cpu_capability() == "DEFAULT" || at::get_cpu_capability() == "NO AVX")
    GTEST_SKIP() << "SLEEF needs AVX2";
  const auto [eager, compiled] = results_with_kernels(row);
  ASSERT_EQ(eager.size(), compiled.size());
  for (size_t k = 0; k < eager.size(); ++k)
    EXPECT_TRUE(at::equal(eager[k], compiled[k]))
        << row.name << ", result " << k << ": " << eager[k].ne(compiled[k]).sum().item<int64_t>() << " differ";
}

/// ATen calls MKL for whole tensors, and SLEEF inside other operators; there it leaves the last numbers, where they do
/// not fill its loops, to the C library.
TEST(InductorLike, FunctionsAreThoseOfEagerBitByBit) {
  expect_the_same_bits({"functions",
                        "def forward(self, x):\n  p = torch.abs(x) + 0.1\n  u = x / 20\n  return torch.exp(x), "
                        "torch.log(p), torch.log2(p), torch.log10(p), torch.sin(x), torch.cos(x), torch.tan(x), "
                        "torch.asin(u), torch.acos(u), torch.atan(x), torch.tanh(x), torch.erf(x), torch.erfc(x), "
                        "torch.expm1(x), torch.log1p(p), torch.asinh(x), torch.acosh(p + 1), torch.atanh(u)\n",
                        {numbers({64, 32})}});
  expect_the_same_bits({"in_doubles",
                        "def forward(self, x):\n  return torch.exp(x), torch.tanh(x), torch.sin(x), torch.erf(x), "
                        "torch.sigmoid(x)\n",
                        {numbers({64, 32}, at::kDouble)}});
  for (const int64_t size : {7, 31, 40, 333, 2048})
    expect_the_same_bits({"inside_others",
                          "def forward(self, x):\n  return torch.sigmoid(x), torch.silu(x), torch.mish(x), "
                          "torch.softplus(x, 1, 20), torch.log_sigmoid(x), torch.elu(x, 1.5, 1, 1), torch.exp2(x)\n",
                          {numbers({size})}});
}

/// Whole tensors there, strips of a few hundred numbers here: where a strip ends, and how long it is, must not be seen.
TEST(InductorLike, FunctionsInStripsAreThoseOfEagerBitByBit) {
  for (const int64_t size : {1, 15, 16, 17, 33, 255, 256, 257, 511, 1000, 4099, 20000}) {
    expect_the_same_bits(
        {"chains",
         "def forward(self, x):\n  y = x * 0.5\n  p = torch.abs(y) + 0.1\n  u = torch.tanh(y)\n  for k in range(3):\n"
         "    y = y + torch.tanh(y * x)\n  return y, torch.exp(torch.sin(x) + torch.cos(y)), torch.log(torch.exp(u) + "
         "1), torch.erf(torch.atan(x) * u), torch.erfc(torch.log2(p)), torch.tan(torch.log10(p)), torch.asin(u), "
         "torch.acos(u), torch.sigmoid(x) * torch.tanh(y) + (1 - torch.sigmoid(x)) * y\n",
         {numbers({size})}});
    expect_the_same_bits({"chains_in_doubles",
                          "def forward(self, x):\n  y = x + torch.tanh(x * torch.exp(x))\n  return torch.erf(y + "
                          "torch.sin(y)), torch.log(torch.abs(y)), x\n",
                          {numbers({size}, at::kDouble)}});
  }
  expect_the_same_bits({"rows",
                        "def forward(self, x):\n  y = torch.tanh(x.t() * torch.exp(x[0]).unsqueeze(1))\n  return "
                        "torch.tanh(y + 1), torch.amax(torch.tanh(y) * x.t(), [1]), torch.amax(torch.exp(y) - x.t(), "
                        "[0])\n",
                        {numbers({37, 301})}});
}

/// SLEEF's functions for 64 bytes are those for 32.
TEST(InductorLike, ChainsOf16BitsAreThoseOfEagerWhereEachOperatorRounds) {
  BackendOptions casts;
  casts.emulate_precision_casts = true;
  CheckOptions strict;
  strict.compare.rule = CompareRule::Strict;
  for (const int64_t size : {7, 16, 31, 300, 5000}) {
    const Verdict verdict =
        checked({"chains",
                 "def forward(self, x, y):\n  for k in range(4):\n    x = x + torch.tanh(x * y)\n  return x, "
                 "torch.exp(torch.tanh(x)), torch.erf(torch.sin(y)) * x\n",
                 {numbers({size}, at::kBFloat16), numbers({size}, at::kBFloat16) * 0.3}},
                casts, strict);
    EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << size;
    expect_kernels(verdict, std::to_string(size));
  }
}

/// Columns are folded row by row.
TEST(InductorLike, FoldsOfColumnsAreThoseOfEager) {
  const char *exact = "def forward(self, x):\n  y = x * 2\n  return torch.amax(y, [0]), torch.amin(y, [0]), "
                      "torch.any(y > 3, 0), torch.all(y > -20, 0), torch.amax(y.abs() - x, [0]), torch.max(y.t())\n";
  const char *whole = "def forward(self, x):\n  return x.sum(0), torch.prod(x, 0), (x > 0).sum(0), torch.amax(x, [0]), "
                      "torch.amin(x * 3, [0]), torch.any(x, 0)\n";
  const char *rounded = "def forward(self, x):\n  y = x.view(x.size(0), -1, 2)\n  return x.sum(0), x.mean(0), (x * "
                        "x).sum(0) / torch.exp(x.mean(0)), y.sum([0, 2]), torch.sum(torch.tanh(x), [0]), "
                        "torch.softmax(x, 0), torch.std(x, [0], correction=1)\n";
  std::vector<std::pair<int64_t, int64_t>> sizes = {{1, 64}, {129, 34}};
  if (everything_is_asked_for())
    sizes.insert(sizes.end(), {{5, 16}, {300, 600}});
  for (const auto &[rows, columns] : sizes) {
    at::Tensor odd = numbers({rows, columns});
    odd[0][3] = NAN;
    odd[rows - 1][15] = -INFINITY;
    odd[rows / 2][columns - 1] = NAN;
    for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
      const auto [eager, compiled] = results_with_kernels({"exact", exact, {odd.to(type)}});
      for (size_t k = 0; k < eager.size(); ++k)
        EXPECT_TRUE(at::allclose(eager[k].to(at::kDouble), compiled[k].to(at::kDouble), 0, 0, /*equal_nan=*/true))
            << type << ", " << rows << " x " << columns << ", result " << k;
    }
    for (const auto type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
      const auto [eager, compiled] = results_with_kernels({"whole", whole, {numbers({rows, columns}).abs().to(type)}});
      for (size_t k = 0; k < eager.size(); ++k)
        EXPECT_TRUE(at::equal(eager[k], compiled[k])) << type << ", " << rows << " x " << columns << ", result " << k;
    }
    if (rows == 1)
      continue; // has no deviation
    for (const auto type : {at::kFloat, at::kDouble}) {
      const auto [eager, compiled] = results_with_kernels({"rounded", rounded, {numbers({rows, columns}, type)}});
      const auto [exactly, unused] = results({"rounded", rounded, {numbers({rows, columns}, type).to(at::kDouble)}});
      for (size_t k = 0; k < eager.size(); ++k) {
        const double away = exactly[k].sub(compiled[k]).abs().max().item<double>();
        EXPECT_TRUE(away <= (type == at::kFloat ? 2e-6 : 1e-13) * (1 + exactly[k].abs().max().item<double>()))
            << type << ", " << rows << " x " << columns << ", result " << k << ": " << away;
      }
    }
  }
}

/// A value that only its own kernel reads stays out of memory; one that is returned or that ATen reads does not.
TEST(InductorLike, AValueReadInOneKernelIsNotStored) {
  const auto stores = [](const char *name, const char *source) {
    const std::string kernels = generated({name, source, {numbers({30, 40})}});
    size_t count = 0;
    for (size_t at = 0; (at = kernels.find("] = static_cast<", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  const std::string twice = "def forward(self, x):\n  g = torch.sigmoid(x)\n  y = g * torch.tanh(x) + (1 - g) * x\n  ";
  EXPECT_EQ(stores("kept_to_itself", (twice + "return y\n").c_str()), 1u);
  EXPECT_EQ(stores("returned", (twice + "return y, g\n").c_str()), 2u);
  EXPECT_EQ(stores("read_by_aten", (twice + "return y, torch.cumsum(g, 0)\n").c_str()), 2u);
}

TEST(InductorLike, ANormalisationHasTheStatisticsOfEagerBitByBit) {
  for (const int64_t size : {5, 31, 100, 333, 1000, 5000})
    expect_the_same_bits({"layer_norm",
                          "def forward(self, x):\n  return torch.layer_norm(x, [x.size(1)], None, None, 1e-5, False), "
                          "x\n",
                          {numbers({20, size})}});
}

/// Returns the text that says what each step of the compiled program is.
std::string steps(const Row &row) {
  return dumped(row, "fuse");
}

TEST(InductorLike, SmallProductsOf16BitsAreKernelsAndOthersAreNot) {
  const auto products = [](const std::string &name, const std::string &source, at::ScalarType type) {
    std::istringstream lines(steps({name.c_str(), source.c_str(), {numbers({3, 4}, type), numbers({3, 4}, type)}}));
    size_t count = 0;
    for (std::string line; std::getline(lines, line);)
      count += line.find("mm") != std::string::npos || line.find("linear") != std::string::npos ||
               line.find("dot") != std::string::npos || line.find("matmul") != std::string::npos;
    return count;
  };
  const std::string small = "def forward(self, x, y):\n  return torch.mm(x[:1], y[:1].t()), torch.dot(x[0], y[0]), "
                            "torch.linear(x[0], y, x[:, 0]), torch.matmul(x, y[0]), "
                            "torch.bmm(x.unsqueeze(1), y.unsqueeze(2))\n";
  EXPECT_EQ(products("small", small, at::kBFloat16), 0u);
  EXPECT_EQ(products("small_float", small, at::kFloat), 5u);
  const std::string outer = "def forward(self, x, y):\n  return torch.bmm(x.unsqueeze(2), y.unsqueeze(1)), "
                            "torch.mm(x[:, :1], y[:1])\n";
  EXPECT_EQ(products("outer_float", outer, at::kFloat), 0u);
  const std::string large = "def forward(self, x, y):\n  return torch.mm(x, y.t()), torch.mm(x[:1], y.t()), "
                            "torch.linear(x, y, x[:, 0])\n";
  EXPECT_EQ(products("large", large, at::kBFloat16), 3u);
}

/// torch.tensor writes into its memory where no tracer sees it: what is compiled has to have the numbers.
TEST(InductorLike, TensorLiteralsAreConstants) {
  for (const char *result :
       {"x[torch.tensor([0, 2, 1])] * 2", "torch.index_select(x, 0, torch.tensor([0, 2, 1])) * 2",
        "torch.gather(x, 0, torch.tensor([2, 1])) * 2", "(torch.tensor([0, 2, 1]), x * 2)",
        "torch.where(torch.tensor([True, False, True]), x, x * 2)", "x + torch.tensor([[1.5, 2.5, 3.5]])",
        "x + torch.tensor([1.5, 2.5, 3.5], requires_grad=True)", "x * torch.tensor([x.size(0), 2, 3])",
        "x * torch.as_tensor([1, 2, 3]) + torch.tensor(2.0)",
        "torch.quantize_per_channel(x, torch.tensor([.1, .2, .3]), torch.tensor([0, 0, 0]), 0, 12).dequantize() * 2"}) {
    const std::string source = std::string("def forward(self, x):\n  return ") + result + "\n";
    const Verdict verdict = checked({result, source.c_str(), {numbers({3})}});
    EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << result << ": " << verdict.message;
    ASSERT_TRUE(verdict.coverage) << result;
    EXPECT_EQ(verdict.coverage->because, "") << result;
    expect_kernels(verdict, result);
  }
}

/// Zeros with a sign, whole numbers that wrap, tensors without elements, what depends on the data: as in eager.
TEST(InductorLike, AgreesWithEagerWhereNumbersAndSizesEnd) {
  const at::Tensor zeros = at::tensor({-0.0, 0.0, -1.0, 2.0, -0.0, 3.0, -0.0, -2.0, -0.0}, at::kFloat);
  const at::Tensor whole =
      at::tensor({std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), 7, -7}, at::kInt);
  const at::Tensor bools = at::arange(40).remainder(3).eq(0), small = at::full({16}, 1e-39, at::kFloat);
  const std::vector<std::pair<const char *, at::Tensor>> programs = {
      {"1 / torch.relu(x), 1 / torch.clamp(x, 0.0), 1 / torch.clamp(x, None, 0.0), 1 / torch.clamp_min(x, 0)", zeros},
      {"1 / torch.clamp_max(x, 0), 1 / torch.hardtanh(x, 0., 1.)", zeros},
      {"(x + 1) > x, torch.abs(x) < 0, (x * 2) // 2", whole},
      {"torch.sum(x, dtype=11), torch.prod(x, dtype=11), torch.sum(x[:2], dtype=11)", bools},
      {"torch.floor_divide(torch.ones_like(x), x)", small},
      {"(x * -1500000000.25).to(dtype=0), torch.logsumexp((x * 2).to(dtype=4), 0)", zeros.to(at::kDouble)},
      {"x.view([0]) + 1, torch.relu(x).reshape([3, 0, 2]), torch.logsumexp(x, 1)", at::zeros({0, 2})},
      {"torch.cumsum((x.t() + 1).t().view(-1), 0), (x.t() + 1).as_strided([6], [1]) * 2, "
       "torch.broadcast_tensors([x.t() + 1, x[:, 0]])[1] * 2",
       numbers({3, 2})},
      {"torch.cumsum(torch.relu(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).view(2, -1), 1)", numbers({2, 3, 4, 5})},
      {"x[x > 0] * 2 + 1, x[torch.rand_like(x) > 0.5] * 2 + 1", zeros},
      {"x == 0.1, x != 0.1, x > 0.999, x >= 1.001", at::tensor({1., .1, 2.}).to(at::kBFloat16)},
      {"x == 0.1, x > 0.9999", at::tensor({1., .1, 2.}).to(at::kHalf)},
      {"x // -1, x % -1, torch.fmod(x, -1), torch.div(x, -1, rounding_mode='floor')", whole},
      {"torch.as_strided((x * 2)[0:1], [3, 2], [2, 1]) + 1, torch.as_strided((x * 2).chunk(2, 1)[1], [2, 1], [2, 1]) + "
       "1",
       numbers({3, 2})},
      {"torch.var(x, 0, correction=0)", at::tensor(2.5F)},
  };
  CheckOptions exactly;
  exactly.compare.rule = CompareRule::Exact;
  exactly.compare.equal_nan = true;
  const auto runs_as_aten = [](const std::string &result) {
    return result.starts_with("x[x > 0]") || result.starts_with("torch.as_strided");
  };
  for (const auto &[result, x] : programs) {
    const std::string source = std::string("def forward(self, x):\n  return ") + result + "\n";
    const Verdict verdict = checked({result, source.c_str(), {x}}, {}, exactly);
    EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << result << ": " << verdict.message;
    if (!runs_as_aten(result))
      expect_kernels(verdict, result);
  }
  const Verdict filled = checked(
      {"row", "def forward(self, x):\n  y = torch.empty([3, 4])\n  y[:] = x\n  return y.view(-1)\n", {numbers({4})}});
  EXPECT_EQ(filled.outcome, Verdict::Outcome::Pass) << filled.message;
  expect_kernels(filled, "filled");
  const Verdict trained =
      checked({"training",
               "def forward(self, x, m, v):\n  before = m * 2\n  y = torch.batch_norm(x, None, None, "
               "m, v, True, 0.1, 1e-5, False)\n  return y, before, m * 3\n",
               {numbers({5, 3}), at::zeros({3}), at::ones({3})}});
  EXPECT_EQ(trained.outcome, Verdict::Outcome::Pass) << trained.message;
  EXPECT_EQ(trained.coverage.value_or(Coverage{}).because, "running statistics are written to and read elsewhere");
}

TEST(InductorLike, WhatIsTakenApartHasTheStridesOfEager) {
  const Verdict verdict = checked({"views",
                                   "def forward(self, x):\n  y = x[0].t()\n  return torch.softmax(y, 1).view(-1), "
                                   "torch.layer_norm(y, [3]).view(-1), "
                                   "torch.log_softmax(x.transpose(1, 2), 1).view(2, -1)\n",
                                   {numbers({2, 3, 4})}});
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  expect_kernels(verdict, "");
}

/// A buffer that each call changes decides how large they are.
TEST(InductorLike, SizesThatDependOnDataAreThoseOfEachCall) {
  for (const char *result :
       {"torch.where(x > n)[0] * 2", "torch.one_hot(n.reshape(1)) * 2.5", "torch.tensor_split(x, n, 0)[0] + 1",
        "torch.repeat_interleave(torch.arange(1), n.reshape(1)) * 2",
        "torch.masked_select(torch.arange(8), x > n) * 2"}) {
    const std::string source = std::string("def forward(self, x, n):\n  n.add_(1)\n  return ") + result + "\n";
    const Verdict verdict = checked({result, source.c_str(), {at::arange(8), at::tensor(1, at::kLong)}});
    EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << result << ": " << verdict.message;
    EXPECT_TRUE(verdict.coverage.value_or(Coverage{}).because.ends_with(" depends on data")) << result;
  }
}

TEST(InductorLike, AProductWithFactorsDoesNotOverflowBeforeThem) {
  const at::Tensor large = at::full({8, 8}, 300, at::kHalf);
  const Verdict verdict =
      checked({"addmm", "def forward(self, x):\n  return torch.addmm(x, x, x, alpha=0.01)\n", {large}});
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
}

TEST(InductorLike, ResultsOfDtypesWithoutArithmeticAreTaken) {
  const Row row{
      "",
      "def forward(self, x):\n  y = torch.relu(x)\n  return y.to(dtype=24), y.to(dtype=27), y\n", // float8, uint16
      {numbers({3, 4})}};
  const Verdict verdict = checked(row);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  expect_kernels(verdict, "");
  ASSERT_EQ(verdict.outputs.size(), 3U);
  EXPECT_EQ(verdict.outputs[0].ref_form->dtype, at::kFloat8_e4m3fn);
  EXPECT_EQ(verdict.outputs[1].ref_form->dtype, at::kUInt16);
}

/// Each call makes it anew.
TEST(InductorLike, ATensorLiteralThatIsWrittenToIsAsItWasInTheNextCall) {
  const Verdict verdict = checked({"written",
                                   "def forward(self, x):\n  total = torch.tensor([1., 2., 3.])\n  for k in range(2):\n"
                                   "    step = torch.tensor([k, 1, 2])\n    total.add_(x * step)\n    step.mul_(3)\n"
                                   "    if x.dim() == 1:\n      total.sub_(step)\n  return total\n",
                                   {numbers({3})}});
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_EQ(verdict.coverage.value_or(Coverage{}).because, "");
}

/// A large parameter, mapped as those of a model are, and what a program's own look at its values finds in its place.
std::pair<at::Tensor, at::Tensor> looked_at(const char *source) {
  torch::jit::Module module("M");
  const at::Tensor weight = at::ones({1 << 16});
  share_pages(weight);
  module.register_buffer("w", weight);
  module.define(source);
  const auto line = inductor_like::capture(module, {at::ones({1 << 16})}).first;
  const inductor_like::Observation seen = inductor_like::observe(line);
  return {weight, seen.values.at(line.graph->inputs()[1]).toTensor()};
}

TEST(InductorLike, LooksAtLargeParametersWhereTheyAre) {
  const auto [weight, seen] = looked_at("def forward(self, x):\n  return x * self.w\n");
  EXPECT_EQ(seen.const_data_ptr(), weight.const_data_ptr());
  const auto [unwritten, written] = looked_at("def forward(self, x):\n  return self.w.add_(x) * 2\n");
  EXPECT_NE(written.const_data_ptr(), unwritten.const_data_ptr());
  EXPECT_TRUE(is_untouched(unwritten.storage()));
  EXPECT_TRUE(at::equal(unwritten, at::ones({1 << 16})));
  EXPECT_TRUE(at::equal(written, at::full({1 << 16}, 2.f)));
}

/// A weight that autocast rounds is a constant: kernels read what it was before, ATen what it is after.
TEST(InductorLike, ARoundedConstantIsReadUnroundedByKernelsOnly) {
  CheckOptions strict;
  strict.compare.rule = CompareRule::Strict;
  const at::Tensor x = at::ones({3, 4});
  const Row kernel{"kernel", "def forward(self, x):\n  return self.w.to(15) * x.to(15) == self.w * x\n", {x}};
  EXPECT_EQ(checked(kernel, {}, strict).outcome, Verdict::Outcome::Fail);
  BackendOptions casts;
  casts.emulate_precision_casts = true;
  EXPECT_EQ(checked(kernel, casts, strict).outcome, Verdict::Outcome::Pass);
  BackendOptions unfused;
  unfused.skipped_stages = {"fuse"};
  EXPECT_EQ(checked(kernel, unfused, strict).outcome, Verdict::Outcome::Pass);
  const Row aten{"aten",
                 "def forward(self, x):\n  w = self.w.to(15)\n  return torch.mm(w, w.t()), torch.cumsum(w, 0), w, "
                 "torch.cat([w.t(), w.t()]), x\n",
                 {x}};
  EXPECT_EQ(checked(aten, {}, strict).outcome, Verdict::Outcome::Pass);
  EXPECT_EQ(steps(aten).find("kernel"), std::string::npos) << steps(aten);
}

/// One composite operator behind another: both are taken apart.
TEST(InductorLike, ADecompositionDoesNotHideTheNext) {
  const Row row{
      "both", "def forward(self, x):\n  return torch.hardswish(torch.leaky_relu(x, 0.1))\n", {numbers({3, 4})}};
  const std::string kernels = generated(row);
  EXPECT_NE(kernels.find("largest_of"), std::string::npos) << kernels;
  EXPECT_EQ(kernels.find("kernel1"), std::string::npos) << kernels;
}

/// Compiling runs the program several times, in the middle of the run that eager is compared with.
TEST(InductorLike, CompilingDrawsNoRandomNumbersFromTheRun) {
  const Row row{
      "random", "def forward(self, x):\n  return torch.relu(x + torch.rand_like(x)) * 2\n", {numbers({3, 4})}};
  const c10::InferenceMode inference;
  seed_cpu(5);
  const at::Tensor expected = module_of(row).forward({row.inputs[0]}).toTensor();
  seed_cpu(5);
  const at::Tensor found = make_backend("inductor-like")->compile(module_of(row))({row.inputs[0]}).toTensor();
  EXPECT_TRUE(at::equal(found, expected)) << found << expected;
}

TEST(InductorLike, AnUnknownStageIsRefused) {
  BackendOptions options;
  options.skipped_stages = {"nonsense"};
  EXPECT_THROW(make_backend("inductor-like", options), UserError);
}

} // namespace
} // namespace repro_minify
