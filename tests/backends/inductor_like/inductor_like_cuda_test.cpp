// Programs as CUDA kernels. Without a GPU: lowered on the CPU, written for CUDA, and run as cuda_on_cpu.h says, or put
// to the real NVRTC. With one: as the tool runs them.
#include "backends/inductor_like/codegen/cuda_on_cpu.h"
#include "backends/inductor_like/kernel.h"
#include "backends/inductor_like/kernel_library.h"
#include "backends/inductor_like/plan.h"
#include "backends/inductor_like/stages.h"
#include "check/cuda_device.h"
#include "program/fixture.h"
#include "repro_minify/check.h"
#include "repro_minify/run_settings.h"
#include "tasks/compiler.h"

#include <gtest/gtest.h>
#include <torch/script.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace repro_minify::inductor_like {
namespace {

struct Row {
  const char *name;
  const char *source; ///< of forward
  std::vector<at::Tensor> inputs;
};

at::Tensor numbers(std::vector<int64_t> sizes, at::ScalarType type = at::kFloat) {
  seed_cpu(0);
  return at::randn(sizes).mul(3).to(type);
}

std::vector<Row> rows() {
  const at::Tensor x = numbers({3, 4}), y = numbers({3, 4}) * 0.5 + 1, big = numbers({2, 6, 5, 7});
  const at::Tensor integers = numbers({3, 4}, at::kLong), bytes = at::arange(18, at::kByte).add(100), b = x.gt(0);
  at::Tensor nan = x.clone();
  nan[0][1] = NAN;
  nan[2][2] = INFINITY;
  const char *const functions =
      "def forward(self, x):\n  p = torch.abs(x) + 1.1\n  q = torch.tanh(x) * 0.9\n  return torch.exp(x), "
      "torch.exp2(x), torch.expm1(x), torch.log(p), torch.log2(p), torch.log10(p), torch.log1p(p), torch.sqrt(p), "
      "torch.rsqrt(p), torch.sin(x), torch.cos(x), torch.tan(q), torch.asin(q), torch.acos(q), torch.atan(x), "
      "torch.sinh(q), torch.cosh(q), torch.tanh(x), torch.asinh(x), torch.acosh(p), torch.atanh(q), torch.atan2(x, p), "
      "torch.erf(x), torch.erfc(x), torch.sigmoid(x), torch.pow(p, 1.7), torch.pow(x, 3), torch.round(x), "
      "torch.floor(x), torch.ceil(x), torch.trunc(x), torch.frac(x), torch.sign(x), torch.reciprocal(x)\n";
  const char *const softmax = "def forward(self, x):\n  return torch.softmax(x, 1), torch.log_softmax(x, 0), "
                              "torch.logsumexp(x, [1], False), torch.layer_norm(x, [x.size(1)], None, None, 1e-5, "
                              "False), x.sum(), torch.mean(x, [0]), torch.var(x, [1], correction=1, keepdim=True)\n";
  return {
      {"functions", functions, {x}},
      {"functions_in_double", functions, {x.to(at::kDouble)}},
      {"functions_in_16_bits", functions, {x.to(at::kHalf)}},
      {"division",
       "def forward(self, x, y):\n  return x / y, torch.div(x, y, rounding_mode='floor'), torch.div(x, y, "
       "rounding_mode='trunc'), torch.remainder(x, y), torch.fmod(x, y)\n",
       {x, y}},
      {"integers",
       "def forward(self, x):\n  return x // 3, torch.remainder(x, -3), torch.fmod(x, 3), x / 2, torch.pow(x, 3), "
       "torch.abs(x), ~x, x & 3, x.sum(), torch.amax(x, [1]), torch.prod(x, 1), x.to(1), x.to(3) * 2, torch.sign(x)\n",
       {integers}},
      {"bytes",
       "def forward(self, x):\n  return x + 200, x * 3, torch.amin(x, [0]), torch.amax(x, [0]), x.sum(), -x, x.to(7) / "
       "3\n",
       {bytes}},
      {"booleans", "def forward(self, b):\n  return b + b, b * b, ~b, b.sum(), torch.any(b), torch.all(b, 1)\n", {b}},
      {"activations",
       "def forward(self, x):\n  return torch.gelu(x, approximate='none'), torch.gelu(x, approximate='tanh'), "
       "torch.silu(x), torch.hardswish(x), torch.hardsigmoid(x), torch.hardtanh(x, -1, 1), torch.leaky_relu(x, 0.1), "
       "torch.elu(x, 1, 1, 1), torch.softplus(x, 1, 20), torch.mish(x), torch.relu(x), torch.log_sigmoid(x)\n",
       {x}},
      {"not_a_number",
       "def forward(self, x, y):\n  return torch.relu(x), torch.clamp(x, -1, 1), torch.maximum(x, y), torch.isnan(x), "
       "torch.isinf(x), torch.isfinite(x), torch.amax(x, [1]), torch.amin(x, [0]), torch.max(x), torch.where(x > 0, x, "
       "y), torch.masked_fill(x, y > 1, 7.5)\n",
       {nan, y}},
      {"casts",
       "def forward(self, x):\n  return x.to(4), x.to(11), x.to(15), x.to(5), x.to(7), x.to(4) * 2 + x\n",
       {x}},
      {"short_rows", softmax, {x}},
      {"long_rows", softmax, {numbers({70, 130})}},
      {"long_rows_in_16_bits", softmax, {numbers({70, 130}, at::kBFloat16)}},
      {"views",
       "def forward(self, x):\n  y = x * 2\n  z = y.permute(2, 0, 3, 1).reshape(5, 14, 6) + 1\n  w = y.transpose(1, "
       "3)[:, 1::2].flatten(1)\n  return z, w, y.view(2, 2, 3, 35).sum(2), y.unsqueeze(1).expand(2, 4, 6, 5, "
       "7).sum([1])\n",
       {big}},
      {"made_on_the_cpu", "def forward(self, x):\n  return torch.relu(x * torch.tensor(2.0)) + 1\n", {x}},
      {"nothing", "def forward(self, x):\n  return x + 1, torch.relu(x) * 2\n", {at::zeros({0, 3})}},
      {"beside_aten",
       "def forward(self, x, y):\n  a = torch.mm(x * 2, y.t()) + 1\n  return torch.relu(a), torch.cat([a, x], 1) * 2\n",
       {x, y}},
  };
}

torch::jit::Module module_of(const Row &row) {
  torch::jit::Module module("M");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define(row.source);
  return module;
}

/// Its kernels are CUDA's, all the rest is as on the CPU.
CompiledProgram as_cuda(const Row &row) {
  const c10::InferenceMode inference;
  CompiledProgram program = compile_stages(module_of(row), {row.inputs.begin(), row.inputs.end()}, {});
  program.plan.device = c10::Device(c10::kCUDA, 0);
  write_kernels(program.plan);
  return program;
}

std::vector<const KernelStep *> kernels_of(const Plan &plan) {
  std::vector<const KernelStep *> kernels;
  for (const auto &step : plan.steps)
    if (const auto *kernel = std::get_if<KernelStep>(&step))
      kernels.push_back(kernel);
  return kernels;
}

class CudaProgram : public testing::TestWithParam<size_t> {};

TEST_P(CudaProgram, AgreesWithEager) {
  if (find_compiler().empty())
    GTEST_SKIP() << "no C++ compiler";
  const Row row = rows()[GetParam()];
  CompiledProgram program = as_cuda(row);
  std::string launchers;
  std::vector<std::string> names;
  for (const auto *kernel : kernels_of(program.plan)) {
    launchers += cuda_launcher(kernel->name, {"", kernel->arguments, kernel->blocks}, 100);
    names.push_back("on_cpu_" + kernel->name);
  }
  ASSERT_FALSE(names.empty());
  const auto library = build_kernels(cuda_file_on_cpu(program.plan.source, launchers), names, 0);
  program.plan.device = c10::kCPU;
  std::vector<c10::IValue> inputs = program.line.inputs;
  const auto found = run(
      program.plan,
      [&](const KernelStep &kernel, const std::vector<void *> &pointers) {
        (*library)["on_cpu_" + kernel.name](pointers.data(), /*seed=*/3);
      },
      inputs);
  const c10::IValue returned = module_of(row).forward({row.inputs.begin(), row.inputs.end()});
  const auto expected =
      returned.isTuple() ? returned.toTupleRef().elements().vec() : std::vector<c10::IValue>{returned};
  ASSERT_EQ(found.size(), expected.size());
  for (size_t k = 0; k < found.size(); ++k) {
    const at::Tensor e = expected[k].toTensor(), f = found[k].toTensor();
    EXPECT_EQ(e.scalar_type(), f.scalar_type());
    const bool coarse = e.scalar_type() == at::kHalf || e.scalar_type() == at::kBFloat16;
    const double tolerance = coarse ? 2e-2 : e.is_floating_point() ? 1e-5 : 0;
    EXPECT_TRUE(at::allclose(f.to(at::kDouble), e.to(at::kDouble), tolerance, tolerance, /*equal_nan=*/true))
        << "output " << k << ":\n"
        << e << "\nexpected,\n"
        << f << "\nfound";
  }
}

TEST_P(CudaProgram, CompilesForSeveralArchitectures) {
  std::unique_ptr<Nvrtc> nvrtc;
  try {
    nvrtc = std::make_unique<Nvrtc>(Nvrtc::libraries());
  } catch (const std::runtime_error &error) {
    GTEST_SKIP() << error.what();
  }
  const CompiledProgram program = as_cuda(rows()[GetParam()]);
  for (const int capability : {80, 90}) {
    const std::string image = nvrtc->compile(cuda_kernel_file(program.plan.source), nvrtc->architecture(capability));
    for (const auto *kernel : kernels_of(program.plan))
      EXPECT_NE(image.find(".text." + kernel->name + '\0'), std::string::npos) << kernel->name;
  }
}

TEST_P(CudaProgram, AgreesWithEagerOnADevice) {
  if (const auto why = testing_support::no_cuda(); !why.empty())
    GTEST_SKIP() << why;
  const Row row = rows()[GetParam()];
  const ModuleFactory factory = [row](const InstantiateOptions &options) {
    Instance instance{module_of(row), {}};
    for (const at::Tensor &input : row.inputs)
      instance.arguments.emplace_back(
          (options.double_precision && input.is_floating_point() ? input.to(at::kDouble) : input.clone())
              .to(options.device));
    return instance;
  };
  BackendOptions options;
  options.dumped_stages = {"generate"};
  options.dump_file = testing::TempDir() + "generated-on-cuda-" + row.name + ".txt";
  std::filesystem::remove(options.dump_file);
  CheckOptions check_options;
  check_options.device = c10::Device(c10::kCUDA, 0);
  const Verdict verdict =
      check(factory, make_backend("inductor-like", options), check_options, testing_support::test_limits());
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  std::ifstream file(options.dump_file);
  const std::string generated{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(generated.find("__global__"), std::string::npos) << generated;
}

INSTANTIATE_TEST_SUITE_P(Programs, CudaProgram, testing::Range(size_t{0}, rows().size()),
                         [](const auto &info) { return std::string(rows()[info.param].name); });

TEST(CudaLaunch, WithoutADeviceTheReasonIsSaidAndTheCpuNeedsNone) {
  EXPECT_EQ(no_kernels_because(c10::kCPU), "");
  if (testing_support::no_cuda().empty())
    GTEST_SKIP() << "there is a CUDA device here";
  EXPECT_NE(no_kernels_because(c10::Device(c10::kCUDA, 0)), "");
}

TEST(CudaRepro, HoldsTheKernelsAsTextAndWhatCompilesThem) {
  const Row row{"relu", "def forward(self, x):\n  return torch.relu(x * 2).sum(0)\n", {numbers({3, 400})}};
  const BackendSource source = repro_source(as_cuda(row), {});
  EXPECT_NE(source.file_scope.find("__global__ void __launch_bounds__(256) kernel0(const float *"), std::string::npos)
      << source.file_scope;
  EXPECT_NE(source.file_scope.find("class Nvrtc {"), std::string::npos);
  EXPECT_NE(source.file_scope.find("class CudaDriver {"), std::string::npos);
  EXPECT_NE(source.file_scope.find("kernels_device(\"cuda:0\")"), std::string::npos);
  EXPECT_NE(source.prepare.find("launch(\"kernel0\", 2, {"), std::string::npos) << source.prepare;
  EXPECT_NE(source.prepare.find("at::TensorOptions(at::kFloat).device(kernels_device)"), std::string::npos)
      << source.prepare;
  EXPECT_EQ(source.libraries, std::vector<std::string>{"dl"});
}

} // namespace
} // namespace repro_minify::inductor_like
