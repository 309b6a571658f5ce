// Large tensors that copies of a program have in common.
#include "program/shared_pages.h"

#include "core/files.h"
#include "program/values.h"
#include "repro_minify/archive.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace repro_minify {
namespace {

at::Tensor large() {
  return at::arange(64 * 1024, at::kFloat).view({256, 256});
}

at::Tensor shared() {
  at::Tensor tensor = large();
  share_pages(tensor);
  return tensor;
}

TEST(SharedPages, KeepTheValuesAndEveryTensorOfTheStorage) {
  const at::Tensor tensor = large();
  const at::Tensor view = tensor.t();
  const void *before = tensor.const_data_ptr();
  share_pages(tensor);
  EXPECT_NE(tensor.const_data_ptr(), before);
  EXPECT_EQ(tensor.const_data_ptr(), view.const_data_ptr());
  EXPECT_TRUE(tensor.equal(large()));
  EXPECT_TRUE(is_untouched(tensor.storage()));
}

TEST(SharedCloner, CopiesWhatIsQuantisedByChannelWithZeroPointsThatAreFloats) {
  const at::Tensor x = at::arange(6, at::kFloat).view({2, 3});
  const at::Tensor quantised = at::quantize_per_channel(x, at::ones({2}), at::full({2}, 0.5), 0, at::kQUInt8);
  const at::Tensor copy = SharedCloner().clone(quantised);
  EXPECT_NE(copy.const_data_ptr(), quantised.const_data_ptr());
  EXPECT_EQ(copy.qscheme(), quantised.qscheme());
  EXPECT_TRUE(copy.dequantize().equal(quantised.dequantize()));
}

TEST(SharedPages, SmallTensorsStayWhereTheyAre) {
  const at::Tensor tensor = at::ones({4});
  const void *before = tensor.const_data_ptr();
  share_pages(tensor);
  EXPECT_EQ(tensor.const_data_ptr(), before);
  EXPECT_FALSE(is_untouched(tensor.storage()));
  EXPECT_FALSE(mapped_copy(tensor.storage()));
}

TEST(SharedPages, ACopyHasPagesOfItsOwnOnceItIsWrittenTo) {
  const at::Tensor original = shared();
  SharedCloner cloner;
  const at::Tensor copy = cloner.clone(original);
  ASSERT_TRUE(is_untouched(copy.storage()));
  EXPECT_TRUE(are_same_pages(original.storage(), copy.storage()));
  EXPECT_TRUE(copy.equal(original));
  copy.mutable_data_ptr<float>()[70000 % 65536] = -1; // no version counter moves
  EXPECT_FALSE(is_untouched(copy.storage()));
  EXPECT_TRUE(is_untouched(original.storage()));
  EXPECT_FALSE(are_same_pages(original.storage(), copy.storage()));
  EXPECT_TRUE(original.equal(large()));
}

TEST(SharedPages, ACopyOfWhatWasWrittenToHasWhatWasWritten) {
  const at::Tensor original = shared();
  original.add_(1);
  EXPECT_FALSE(mapped_copy(original.storage()));
  SharedCloner cloner;
  EXPECT_TRUE(cloner.clone(original).equal(large() + 1));
}

TEST(SharedPages, ACopyCanGrow) {
  SharedCloner cloner;
  at::Tensor copy = cloner.clone(shared());
  copy.resize_({512, 512});
  EXPECT_TRUE(copy.flatten().narrow(0, 0, 65536).equal(large().flatten()));
  EXPECT_FALSE(is_untouched(copy.storage()));
}

TEST(SharedPages, ConversionIsThatOfTheWholeTensor) {
  at::Tensor tensor = at::randn({3 * (1 << 20) + 7});
  share_pages(tensor);
  const at::Tensor wide = converted(tensor, at::kDouble);
  EXPECT_TRUE(wide.equal(tensor.to(at::kDouble)));
  tensor[5] = 7; // no page of the file any more: it has to be read where it is
  EXPECT_TRUE(converted(tensor, at::kDouble).equal(tensor.to(at::kDouble)));
}

TEST(SharedPages, AnArchiveThatIsLoadedAgainIsMapped) {
  torch::jit::Module module("__torch__.Large");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_parameter("weight", large(), false);
  module.register_buffer("other", at::ones({256, 256}));
  module.define("def forward(self, x: Tensor):\n  self.other.add_(1)\n  return x * self.weight + self.other\n");
  const TemporaryFolder folder;
  const std::string path = folder / "model.pt";
  module.save(path);
  Archive archive{path, {at::ones({1})}};
  archive.loaded = torch::jit::load(path);
  share_pages(*archive.loaded);
  const Instance one = instantiate(archive, {}), another = instantiate(archive, {});
  const auto weight = [](const Instance &instance) { return instance.module.attr("weight").toTensor(); };
  EXPECT_TRUE(are_same_pages(weight(one).storage(), weight(another).storage()));
  const at::Tensor result = torch::jit::Module(one.module).forward(one.arguments).toTensor();
  EXPECT_TRUE(result.equal(large() + 2));
  EXPECT_TRUE(is_untouched(weight(one).storage()));
  EXPECT_FALSE(is_untouched(one.module.attr("other").toTensor().storage()));
  EXPECT_TRUE(another.module.attr("other").toTensor().equal(at::ones({256, 256})));
  const Instance wide = instantiate(archive, {.double_precision = true});
  EXPECT_TRUE(weight(wide).equal(large().to(at::kDouble)));
}

} // namespace
} // namespace repro_minify
