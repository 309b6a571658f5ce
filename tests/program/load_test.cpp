// Tests of the models and inputs that a user gives, and of what is said when they cannot be used.
#include "core/files.h"
#include "program/fixture.h"
#include "program/materialise.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

LoadedInputs inputs_from_spec(const std::vector<std::string> &specs, uint64_t seed = 0) {
  const auto loaded = testing_support::load_case("grad_82635_min_tie"); // forward(x: Tensor, y: Tensor)
  return load_inputs(loaded.model, {.specs = specs, .inputs_path = std::nullopt, .seed = seed});
}

TEST(LoadModel, RefusesParametersWithoutValues) {
  const TemporaryFolder folder;
  torch::jit::Module module("M");
  module.register_parameter("w", at::empty({3}, at::kMeta), false);
  module.define("def forward(self, x):\n  return x * self.w.size(0)\n");
  const std::string path = folder / "model.pt";
  module.save(path);
  try {
    load_model(path, "forward", 0, false);
    ADD_FAILURE() << "it was loaded";
  } catch (const UserError &error) {
    EXPECT_EQ(error.what(), path + ": its parameter w is on the meta device, where tensors hold no values; save the "
                                   "model once they are loaded");
  }
}

TEST(InputSpec, MakesSeededTensors) {
  const auto first = inputs_from_spec({"f32[2,3]", "i64[4,5]@2:4"}),
             again = inputs_from_spec({"f32[2,3]", "i64[4,5]@2:4"});
  const auto other = inputs_from_spec({"f32[2,3]", "i64[4,5]@2:4"}, 1);
  EXPECT_TRUE(at::equal(first.values[0].toTensor(), again.values[0].toTensor()));
  EXPECT_FALSE(at::equal(first.values[0].toTensor(), other.values[0].toTensor()));
  const auto range = first.values[1].toTensor();
  EXPECT_EQ(range.scalar_type(), at::kLong);
  EXPECT_GE(range.min().item<int64_t>(), 2);
  EXPECT_LT(range.max().item<int64_t>(), 4);
}

TEST(InputSpec, KnowsEveryDtype) {
  const std::vector<std::pair<std::string, at::ScalarType>> dtypes = {
      {"f16", at::kHalf}, {"bf16", at::kBFloat16}, {"f32", at::kFloat},        {"f64", at::kDouble},
      {"u8", at::kByte},  {"i8", at::kChar},       {"i16", at::kShort},        {"i32", at::kInt},
      {"i64", at::kLong}, {"bool", at::kBool},     {"c64", at::kComplexFloat}, {"c128", at::kComplexDouble},
  };
  for (const auto &[name, dtype] : dtypes)
    EXPECT_EQ(inputs_from_spec({name + "[2]", "f32[]"}).values.at(0).toTensor().scalar_type(), dtype) << name;
}

TEST(InputSpec, SaysWhatIsWrong) {
  for (const char *bad : {"", "f32", "f32[2", "x32[2]", "f32[-1]", "f32[a]", "f32[2]@1", "f32[2]@3:1", "f32[2]junk"})
    EXPECT_THROW(inputs_from_spec({bad, "f32[1]"}), UserError) << bad;
  EXPECT_THROW(inputs_from_spec({"f32[1]"}), UserError);
  EXPECT_THROW(inputs_from_spec({"f32[1]", "f32[1]", "f32[1]"}), UserError);
}

TEST(Materialise, ContainersOfTensorsAreBuiltFromInputs) {
  Program program;
  program.graph = std::make_shared<torch::jit::Graph>();
  InputBuilder builder(program);
  const c10::List<at::Tensor> list({at::zeros({1}), at::ones({2})});
  auto *value = builder.materialise(list, c10::ListType::ofTensors(), Role::Input, "xs");
  EXPECT_EQ(value->node()->kind(), torch::jit::prim::ListConstruct);
  EXPECT_EQ(program.inputs.size(), 2u);
  EXPECT_NE(program.inputs[0].name, program.inputs[1].name);
  EXPECT_EQ(builder.materialise(c10::IValue(), c10::OptionalType::ofTensor(), Role::Input, "none")->type()->kind(),
            c10::TypeKind::NoneType);
  EXPECT_EQ(builder.materialise(c10::IValue(int64_t{3}), c10::IntType::get(), Role::Input, "n")->node()->kind(),
            torch::jit::prim::Constant);
}

} // namespace
} // namespace repro_minify
