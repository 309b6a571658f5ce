// One run of a program: what is observed of it, what its gradients start from, and its fp64 reference.
#include "check/run_program.h"

#include "backends/libtorch/simple_backend.h"
#include "program/fixture.h"
#include "repro_minify/archive.h"
#include "repro_minify/check.h"
#include "repro_minify/sandbox.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/class_type.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include <unistd.h>

namespace repro_minify {
namespace {

using c10::IValue;

at::Tensor float_tensor(const std::vector<float> &values) {
  return at::tensor(values);
}

template <typename... Parts> IValue tuple_of(Parts... parts) {
  return c10::ivalue::Tuple::create(std::vector<IValue>{IValue(parts)...});
}

IValue list_of(const std::vector<IValue> &parts) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (const IValue &part : parts)
    list.push_back(part);
  return list;
}

IValue dict_of(const std::vector<std::pair<std::string, IValue>> &items) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (const auto &[key, value] : items)
    dict.insert(key, value);
  return dict;
}

IValue named_tuple(const std::vector<std::string> &names, const std::vector<IValue> &values) {
  std::vector<c10::TypePtr> types;
  for (const IValue &value : values)
    types.push_back(value.type());
  return c10::ivalue::Tuple::createNamed(
      values, c10::TupleType::createNamed(c10::QualifiedName("__torch__.Output"), names, types));
}

IValue object_with(const std::string &attribute, const IValue &value) {
  const auto type = c10::ClassType::create(c10::QualifiedName("__torch__.Output"), {});
  type->addAttribute(attribute, value.type());
  auto object = c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type), 1);
  object->setSlot(0, value);
  return object;
}

// ---------------------------------------------------------------------------------------------------------------------

/// The numbers down to the empty line are those of torch._dynamo.testing.reduce_to_scalar_loss; it raises for the rest.
TEST(ReduceToScalarLoss, IsPyTorchsWherePyTorchHasOne) {
  const at::Tensor complex = at::complex(float_tensor({1, 3}), float_tensor({2, -1}));
  const struct {
    const char *what;
    IValue output;
    double loss;
  } rows[] = {
      {"a tensor: the mean", float_tensor({1, 2, 6}), 3},
      {"integers, too", at::tensor({1, 2, 4}, at::kLong), 7.0 / 3},
      {"bools, too", float_tensor({1, 0, 1}).to(at::kBool), 2.0 / 3},
      {"half precision", at::full({2, 3}, 0.5, at::kHalf), 0.5},
      {"a number in a tensor", at::scalar_tensor(4), 4},
      {"no elements", at::empty({0}), NAN},
      {"a list: the mean of its parts' means",
       list_of({float_tensor({2, 4}), tuple_of(float_tensor({1}), float_tensor({3, 5}))}), 2.75},
      {"a tuple", tuple_of(float_tensor({1, 3}), float_tensor({6})), 4},
      {"a dict", dict_of({{"a", float_tensor({2})}, {"b", list_of({float_tensor({4}), float_tensor({6})})}}), 3.5},
      {"an object with logits", object_with("logits", float_tensor({3, 5})), 4},
      {"an object with a mean: its sum", object_with("mean", float_tensor({3, 5})), 8},

      {"a named tuple with logits", named_tuple({"loss", "logits"}, {float_tensor({100}), float_tensor({3, 5})}), 4},
      {"a named tuple without", named_tuple({"a", "b"}, {float_tensor({1}), float_tensor({3})}), 2},
      {"complex: the sum of both parts over the number of elements", complex, 2.5},
      {"its conjugate", complex.conj(), 1.5},
      {"None, numbers and strings do not count", list_of({float_tensor({2}), IValue(), 3, 0.5, true, "text"}), 2},
      {"nor does a list of them", list_of({float_tensor({2}), list_of({IValue(), 3})}), 2},
  };
  for (const auto &row : rows) {
    const at::Tensor loss = reduce_to_scalar_loss(row.output);
    ASSERT_TRUE(loss.defined()) << row.what;
    EXPECT_EQ(loss.dim(), 0) << row.what;
    EXPECT_FALSE(loss.is_complex()) << row.what;
    const double found = loss.item<double>();
    EXPECT_TRUE(std::isnan(row.loss) ? std::isnan(found) : std::abs(found - row.loss) < 1e-6) << row.what << found;
  }
}

TEST(ReduceToScalarLoss, IsNothingForWhatHasNoTensor) {
  const std::vector<IValue> outputs{IValue(), 3, 0.5, true, "text", at::Tensor(), list_of({}), tuple_of(IValue(), 1)};
  for (const IValue &output : outputs)
    EXPECT_FALSE(reduce_to_scalar_loss(output).defined()) << output;
}

TEST(ReduceToScalarLoss, SaysWhatItCannotReduce) {
  for (const IValue &output : {IValue(c10::Device("cpu")), list_of({c10::Device("cpu")}), object_with("x", 1)})
    try {
      reduce_to_scalar_loss(output);
      ADD_FAILURE() << "no exception";
    } catch (const std::invalid_argument &error) {
      EXPECT_NE(std::string(error.what()).find("don't know how to reduce"), std::string::npos) << error.what();
    }
}

// ---------------------------------------------------------------------------------------------------------------------

torch::jit::Module module_of(const std::string &source) {
  torch::jit::Module module("__torch__.Example");
  module.register_parameter("weight", float_tensor({1, 2, 3}).set_requires_grad(true), /*is_buffer=*/false);
  module.register_parameter("unused", float_tensor({4}).set_requires_grad(true), /*is_buffer=*/false);
  module.register_buffer("count", float_tensor({0}));
  module.define(source);
  module.eval();
  return module;
}

/// The instance's own module, as a backend that compiles nothing.
Observed run_module(Instance &instance, const RunOptions &options) {
  const at::AutoGradMode mode(options.grad);
  return run_program([&](std::vector<IValue> arguments) { return instance.module.forward(std::move(arguments)); },
                     instance, options);
}

std::vector<float> numbers(const IValue &value) {
  const at::Tensor tensor = value.toTensor().contiguous();
  return {tensor.data_ptr<float>(), tensor.data_ptr<float>() + tensor.numel()};
}

TEST(RunProgram, LeavesTheInstancesArgumentsAlone) {
  Instance instance{module_of("def forward(self, x: Tensor):\n  x.add_(1)\n  return x * 2\n"), {float_tensor({1, 2})}};
  const Observed observed = run_module(instance, {});
  EXPECT_EQ(numbers(instance.arguments[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(numbers(observed.output), (std::vector<float>{4, 6}));
  ASSERT_EQ(observed.state_names, std::vector<std::string>{"input 0 after the run"});
  EXPECT_EQ(numbers(observed.state[0]), (std::vector<float>{2, 3}));
  EXPECT_TRUE(observed.gradients.empty());
}

TEST(RunProgram, CopiesWhatItObserves) {
  const at::Tensor reused = float_tensor({1, 2});
  Instance instance{module_of("def forward(self, x: Tensor):\n  return x\n"), {float_tensor({1, 2})}};
  const Observed observed = run_program([&](std::vector<IValue>) { return IValue(reused); }, instance, {});
  reused.fill_(7);
  EXPECT_EQ(numbers(observed.output), (std::vector<float>{1, 2}));
}

TEST(RunProgram, KeepsRequiresGradIfGradientsAreWanted) {
  Instance instance{module_of("def forward(self, x: Tensor, y: Tensor):\n  return x + y\n"),
                    {float_tensor({1}).set_requires_grad(true), float_tensor({2})}};
  for (const bool grad : {false, true})
    run_program(
        [&](std::vector<IValue> arguments) {
          EXPECT_EQ(arguments[0].toTensor().requires_grad(), grad);
          EXPECT_TRUE(arguments[0].toTensor().is_leaf());
          EXPECT_FALSE(arguments[1].toTensor().requires_grad());
          return arguments[1];
        },
        instance, {.grad = grad});
  EXPECT_TRUE(instance.arguments[0].toTensor().requires_grad());
}

TEST(RunProgram, ObservesGradientsAndCountsAMissingOneAsZeros) {
  Instance instance{module_of("def forward(self, x: Tensor, y: Tensor):\n  return x * self.weight, x.sum().detach()\n"),
                    {float_tensor({1, 2, 4}).set_requires_grad(true), float_tensor({5, 6}).set_requires_grad(true)}};
  const Observed observed = run_module(instance, {.grad = true, .state = false});
  // The loss is (sum(x * weight) / 3 + sum(x)) / 2.
  const std::vector<std::pair<std::string, std::vector<float>>> expected{
      {"weight", {1.0F / 6, 2.0F / 6, 4.0F / 6}},
      {"unused", {0}},
      {"input 0", {1.0F / 6, 2.0F / 6, 3.0F / 6}},
      {"input 1", {0, 0}},
  };
  ASSERT_EQ(observed.gradients.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(observed.gradient_names[i], expected[i].first);
    const auto gradient = numbers(observed.gradients[i]);
    ASSERT_EQ(gradient.size(), expected[i].second.size());
    for (size_t k = 0; k < gradient.size(); ++k)
      EXPECT_FLOAT_EQ(gradient[k], expected[i].second[k]) << expected[i].first;
  }
  EXPECT_FALSE(instance.arguments[0].toTensor().grad().defined());
}

/// PyTorch asks its users to do so: a forward that is left out of autocast has a backward that is, too.
TEST(RunProgram, ComputesGradientsOutsideAutocast) {
  const Instance instance{torch::jit::Module("__torch__.Example"), {at::full({1, 1}, 1.0 / 3).set_requires_grad(true)}};
  const at::AutoGradMode mode(true);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const Observed observed = run_program(
      [](const std::vector<IValue> &arguments) -> IValue {
        at::autocast::set_autocast_enabled(at::kCPU, false);
        at::Tensor product = arguments.at(0).toTensor().mm(arguments.at(0).toTensor());
        at::autocast::set_autocast_enabled(at::kCPU, true);
        return product;
      },
      instance, {.grad = true});
  EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_EQ(numbers(observed.gradients.at(0)), (std::vector<float>{2.0F / 3})); // 0.66796875 in bfloat16
}

TEST(RunProgram, ObservesGradientsOfAnOutputWithoutAny) {
  Instance instance{module_of("def forward(self, x: Tensor):\n  return x.detach(), 3\n"),
                    {float_tensor({1, 2}).set_requires_grad(true)}};
  const Observed observed = run_module(instance, {.grad = true, .state = false});
  ASSERT_EQ(observed.gradients.size(), 3U); // both parameters and the input
  EXPECT_EQ(numbers(observed.gradients[2]), (std::vector<float>{0, 0}));
}

TEST(RunProgram, ObservesTheModuleThatRuns) {
  Instance instance{module_of("def forward(self, x: Tensor):\n"
                              "  self.count.add_(1)\n"
                              "  self.weight.mul_(2)\n"
                              "  return x\n"),
                    {float_tensor({1})}};
  const Observed first = run_module(instance, {.module = true});
  const Observed second = run_module(instance, {.module = true});
  EXPECT_EQ(first.state_names, (std::vector<std::string>{"parameter weight", "parameter unused", "buffer count",
                                                         "input 0 after the run"}));
  EXPECT_EQ(numbers(first.state[0]), (std::vector<float>{2, 4, 6})); // a copy: the second run wrote to it again
  EXPECT_EQ(numbers(second.state[0]), (std::vector<float>{4, 8, 12}));
  EXPECT_EQ(numbers(first.state[2]), (std::vector<float>{1}));
  EXPECT_EQ(numbers(second.state[2]), (std::vector<float>{2}));
}

TEST(RunProgram, ObservesOutputsAloneWithoutState) {
  Instance instance{module_of("def forward(self, x: Tensor):\n  self.count.add_(1)\n  return x\n"),
                    {float_tensor({1})}};
  const Observed observed = run_module(instance, {.state = false, .module = true});
  EXPECT_TRUE(observed.state_names.empty());
  EXPECT_TRUE(observed.state.empty());
}

TEST(RunProgram, HandsOverTheOnlyReferencesToABoxedCall) {
  Instance instance{module_of("def forward(self, x: Tensor):\n  return x\n"),
                    {float_tensor({1, 2}), float_tensor({3})}};
  for (const bool boxed : {true, false}) {
    const Observed observed = run_program(
        [&](std::vector<IValue> arguments) {
          for (const IValue &argument : arguments) {
            EXPECT_EQ(argument.use_count() == 1, boxed);
            EXPECT_EQ(argument.toTensor().storage().use_count() == 1, true);
          }
          return IValue();
        },
        instance, {.boxed = boxed});
    EXPECT_EQ(observed.state.size(), boxed ? 0U : 2U);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The fp64 reference

std::string saved(const torch::jit::Module &module) {
  static int count = 0;
  const std::string path = std::filesystem::temp_directory_path() /
                           ("run_program_test_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ".pt");
  module.save(path);
  let_children_read(path);
  return path;
}

/// Returns the module twice: as an archive, and as a flat Program.
std::vector<ModuleFactory> subjects_of(const torch::jit::Module &module, const std::vector<IValue> &arguments) {
  const std::string path = saved(module);
  const auto program = std::make_shared<Program>(flatten_calls({path, module, "forward"}, arguments));
  return {[archive = Archive{path, arguments}](const InstantiateOptions &how) { return instantiate(archive, how); },
          factory_of(program)};
}

/// x is a third, which only float64 knows to 16 digits: what went through a narrower dtype is not a third any more.
void expect_wide(const std::string &what, const torch::jit::Module &module) {
  const at::Tensor third = at::ones({2}, at::kDouble) / 3;
  for (const ModuleFactory &factory : subjects_of(module, {third})) {
    Instance instance = factory({.double_precision = true});
    const at::Tensor result = instance.module.forward(instance.arguments).toTensor();
    EXPECT_EQ(result.scalar_type(), at::kDouble) << what;
    EXPECT_TRUE(at::allclose(result, third, /*rtol=*/0, /*atol=*/1e-15)) << what << ": " << result;
    Instance narrow = factory({});
    const at::Tensor narrow_result = narrow.module.forward(narrow.arguments).toTensor().to(at::kDouble);
    EXPECT_FALSE(at::allclose(narrow_result, third, /*rtol=*/0, /*atol=*/1e-15)) << what << " has nothing to widen";
  }
}

TEST(Fp64Reference, WidensWhatIsNarrowInTheProgram) {
  const std::pair<const char *, const char *> sources[] = {
      {"a cast", "def forward(self, x: Tensor):\n  return x.to(15)\n"},
      {"a dtype by name", "def forward(self, x: Tensor):\n  return torch.sum(x.unsqueeze(0), [0], dtype=6)\n"},
      {"a cast in a nested block",
       "def forward(self, x: Tensor):\n  if bool(x.sum() > 0):\n    x = x.to(5)\n  return x\n"},
      {"a dtype that a method is given", "def cast(self, x: Tensor, dtype: int) -> Tensor:\n  return x.to(dtype)\n"
                                         "def forward(self, x: Tensor):\n  return self.cast(x, 5)\n"},
      {"a dtype that may be None",
       "def total(self, x: Tensor, dtype: Optional[int]) -> Tensor:\n"
       "  if dtype is None:\n    y = torch.sum(x, [0])\n  else:\n    y = torch.sum(x, [0], dtype=dtype)\n  return y\n"
       "def forward(self, x: Tensor):\n  return self.total(x.unsqueeze(0), 6)\n"},
  };
  for (const auto &[what, source] : sources)
    expect_wide(what, module_of(source));
}

TEST(Fp64Reference, WidensTensorConstantsParametersAndBuffers) {
  auto module = module_of("def forward(self, x: Tensor):\n  return (x + self.weight[:2]) - self.weight[:2]\n");
  const auto graph = module.get_method("forward").graph();
  torch::jit::WithInsertPoint guard(graph->return_node());
  const at::Tensor tenth = at::full({2}, 0.1, at::kFloat);
  auto *constant = graph->insertConstant(tenth);
  auto *sum = graph->insert(c10::aten::mul, {graph->outputs()[0], constant});
  graph->eraseOutput(0);
  graph->registerOutput(sum);
  for (const ModuleFactory &factory : subjects_of(module, {float_tensor({1, 2})})) {
    Instance instance = factory({.double_precision = true});
    EXPECT_EQ(instance.arguments[0].toTensor().scalar_type(), at::kDouble);
    for (const auto &tensor : instance.module.parameters())
      EXPECT_EQ(tensor.scalar_type(), at::kDouble);
    for (const auto &tensor : instance.module.buffers())
      EXPECT_EQ(tensor.scalar_type(), at::kDouble);
    const at::Tensor result = instance.module.forward(instance.arguments).toTensor();
    EXPECT_EQ(result.scalar_type(), at::kDouble);
    EXPECT_TRUE(at::allclose(result, at::tensor({1.0, 2.0}, at::kDouble) * tenth.to(at::kDouble), 0, 1e-15));
  }
}

TEST(Fp64Reference, LeavesIntegersAndBoolsAlone) {
  auto module = module_of("def forward(self, x: Tensor):\n  return x.to(4) + 1, x > 0\n");
  for (const ModuleFactory &factory : subjects_of(module, {float_tensor({1.5})})) {
    Instance instance = factory({.double_precision = true});
    const c10::IValue output = instance.module.forward(instance.arguments);
    const auto &parts = output.toTupleRef().elements();
    EXPECT_EQ(parts[0].toTensor().scalar_type(), at::kLong);
    EXPECT_EQ(parts[1].toTensor().scalar_type(), at::kBool);
  }
}

Verdict check_module(const torch::jit::Module &module, const std::vector<IValue> &arguments,
                     const CheckOptions &options, const std::shared_ptr<const Backend> &backend) {
  return check(subjects_of(module, arguments)[0], backend, options, testing_support::test_limits());
}

/// There is no float64 kernel for quantize_per_tensor.
TEST(Fp64Reference, IsDoneWithoutUnlessItIsRequired) {
  const auto module = module_of("def forward(self, x: Tensor):\n"
                                "  return torch.dequantize(torch.quantize_per_tensor(x, 0.1, 0, 13))\n");
  const std::shared_ptr<const Backend> eager = make_backend("eager");
  CheckOptions options;
  options.measure_always = true;
  const Verdict verdict = check_module(module, {float_tensor({1, 2})}, options, eager);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_FALSE(verdict.has_fp64_reference);
  EXPECT_NE(verdict.no_fp64_because.find("Double"), std::string::npos) << verdict.no_fp64_because;

  options.require_fp64 = true;
  const Verdict required = check_module(module, {float_tensor({1, 2})}, options, eager);
  EXPECT_EQ(required.outcome, Verdict::Outcome::Unresolved);
  EXPECT_NE(required.message.find("--require-fp64"), std::string::npos) << required.message;
  EXPECT_NE(required.message.find(verdict.no_fp64_because), std::string::npos) << required.message;
  EXPECT_FALSE(required.eager_failed || required.eager_raises);
}

TEST(Fp64Reference, IsKnownWhenTheOptimisedRunRaises) {
  const std::shared_ptr<const Backend> backend =
      make_simple_backend({.name = "test",
                           .summary = "",
                           .title = "",
                           .compile = [](const torch::jit::Module &) -> Compiled {
                             return [](const std::vector<IValue> &) -> IValue { throw std::runtime_error("no"); };
                           },
                           .source = {}});
  const auto module = module_of("def forward(self, x: Tensor):\n  return x * 2\n");
  CheckOptions options;
  options.measure_always = true;
  const Verdict verdict = check_module(module, {float_tensor({1})}, options, backend);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Fail);
  EXPECT_EQ(verdict.message, "no");
  EXPECT_TRUE(verdict.has_fp64_reference);
}

/// Gives what eager gives, times `factor`, in each call but the first.
std::shared_ptr<const Backend> backend_off_by(double factor) {
  return make_simple_backend({.name = "test",
                              .summary = "",
                              .title = "",
                              .compile = [factor](torch::jit::Module module) -> Compiled {
                                return [=, first = true](std::vector<IValue> arguments) mutable -> IValue {
                                  const at::Tensor result = module.forward(std::move(arguments)).toTensor();
                                  return std::exchange(first, false) ? result
                                                                     : (result * factor).to(result.scalar_type());
                                };
                              },
                              .source = {}});
}

/// Between them lies what assert_close calls the same, and what only float64 can say.
TEST(Fp64Reference, IsMadeWhereItHasASayOnly) {
  const auto module = module_of("def forward(self, x: Tensor):\n  return x * 2\n");
  const struct {
    double factor;
    CompareRule rule;
    bool pass, made;
  } table[] = {{1, CompareRule::Default, true, false},      {1, CompareRule::PyTorch, true, false},
               {1, CompareRule::Strict, true, false},       {1 + 3e-7, CompareRule::Default, true, false},
               {1 + 3e-7, CompareRule::Strict, true, true}, {1.0005, CompareRule::Default, true, true},
               {1.01, CompareRule::Default, false, true},   {1.01, CompareRule::PyTorch, false, true},
               {1 + 3e-7, CompareRule::Exact, false, true}};
  for (const auto &row : table) {
    CheckOptions options;
    options.compare.rule = row.rule;
    const Verdict verdict = check_module(module, {float_tensor({1, 2, 3})}, options, backend_off_by(row.factor));
    EXPECT_EQ(verdict.outcome == Verdict::Outcome::Pass, row.pass) << row.factor << " " << verdict.message;
    EXPECT_EQ(verdict.has_fp64_reference, row.made) << row.factor << " " << to_string(row.rule);
    EXPECT_EQ(verdict.failing_call, row.pass ? 0 : 2);
  }
}

/// Else a search under `exact` ends at what is only rounded.
TEST(WholeNumbers, ThatAreWrongAreNoRounding) {
  const auto numbers = module_of("def forward(self, x: Tensor):\n  return x.to(4) * 2\n");
  const auto floats = module_of("def forward(self, x: Tensor):\n  return x * 2\n");
  const struct {
    CompareRule rule;
    bool one_failure;
  } table[] = {{CompareRule::Default, true},
               {CompareRule::Strict, true},
               {CompareRule::Close, false},
               {CompareRule::Exact, false}};
  for (const auto &[rule, one_failure] : table) {
    CheckOptions options;
    options.compare.rule = rule;
    const Verdict whole = check_module(numbers, {float_tensor({1, 2, 3})}, options, backend_off_by(2));
    const Verdict rounded = check_module(floats, {float_tensor({1, 2, 3})}, options, backend_off_by(1.01));
    ASSERT_EQ(whole.outcome, Verdict::Outcome::Fail) << whole.message;
    ASSERT_EQ(rounded.outcome, Verdict::Outcome::Fail) << rounded.message;
    EXPECT_EQ(shows(rounded, whole.signatures.front()), one_failure) << to_string(rule);
    EXPECT_EQ(shows(whole, rounded.signatures.front()), one_failure) << to_string(rule);
    EXPECT_TRUE(shows(rounded, whole.signatures.front(), SameFailure::Kind));
  }
}

/// Eager in float64 stands in the middle of the optimised run, under settings of its own.
TEST(Fp64Reference, LeavesTheOptimisedRunAsItWas) {
  const auto module = module_of("def forward(self, x: Tensor):\n  return x * 2\n");
  const std::shared_ptr<const Backend> backend = make_simple_backend(
      {.name = "test",
       .summary = "",
       .title = "",
       .compile = [](torch::jit::Module given) -> Compiled {
         torch::jit::setGraphExecutorOptimize(true);
         torch::jit::getProfilingMode() = false;
         return [=](std::vector<IValue> arguments) mutable -> IValue {
           if (!torch::jit::getGraphExecutorOptimize() || torch::jit::getProfilingMode())
             throw std::runtime_error("somebody else's settings");
           return given.forward(std::move(arguments)).toTensor() * 1.0005; // float64 is asked after the first call
         };
       },
       .source = {}});
  const Verdict verdict = check_module(module, {float_tensor({1, 2, 3})}, {}, backend);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  EXPECT_TRUE(verdict.has_fp64_reference);
}

/// PyTorch's ignore_non_fp lets any float pass where there is no fp64 reference, as there is none between eager runs.
TEST(Check, SeesStateThatIsNotCompared) {
  const auto module = module_of("def forward(self, x: Tensor):\n  self.count.add_(1)\n  return x * self.count\n");
  for (const CompareRule rule : {CompareRule::Default, CompareRule::PyTorch, CompareRule::Strict}) {
    CheckOptions options;
    options.compare.rule = rule;
    options.compare.ignore_non_fp = true;
    const Verdict verdict = check_module(module, {float_tensor({1})}, options, make_backend("jit"));
    EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
    EXPECT_TRUE(verdict.stateful);
  }
}

} // namespace
} // namespace repro_minify
