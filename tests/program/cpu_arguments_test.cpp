// Inputs that stay on the CPU, told from the graph alone.
#include "program/cpu_arguments.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <string>
#include <vector>

namespace repro_minify {
namespace {

std::vector<bool> on_cpu(const std::string &body) {
  torch::jit::Graph graph;
  torch::jit::parseIR("graph(%x : Tensor, %lengths : Tensor, %flag : bool):\n" + body, &graph);
  std::vector<bool> all = inputs_on_cpu(graph);
  all.pop_back();
  return all;
}

using Found = std::vector<bool>;
const std::string pack = "  %one : bool = prim::Constant[value=1]()\n"
                         "  %data : Tensor, %sizes : Tensor = aten::_pack_padded_sequence(%x, %of, %one)\n"
                         "  return (%data)\n";

TEST(CpuArguments, AreTold) {
  EXPECT_EQ(on_cpu("  %four : int = prim::Constant[value=4]()\n  %none : NoneType = prim::Constant()\n"
                   "  %no : bool = prim::Constant[value=0]()\n"
                   "  %of : Tensor = aten::to(%lengths, %four, %no, %no, %none)\n" +
                   pack),
            (Found{false, true}));
  EXPECT_EQ(on_cpu("  %of : Tensor = aten::cpu(%lengths)\n" + pack), (Found{false, false})) << "it is moved there";
  EXPECT_EQ(on_cpu("  return (%lengths)\n"), (Found{false, false}));
}

/// The sizes that packing gives are on the CPU whatever is packed.
TEST(CpuArguments, AreNotWhatIsPacked) {
  EXPECT_EQ(on_cpu("  %one : bool = prim::Constant[value=1]()\n  %zero : float = prim::Constant[value=0.]()\n"
                   "  %three : int = prim::Constant[value=3]()\n"
                   "  %data : Tensor, %sizes : Tensor = aten::_pack_padded_sequence(%x, %lengths, %one)\n"
                   "  %pair : (Tensor, Tensor) = prim::TupleConstruct(%data, %sizes)\n"
                   "  %d : Tensor, %s : Tensor = prim::TupleUnpack(%pair)\n"
                   "  %y : Tensor, %l : Tensor = aten::_pad_packed_sequence(%d, %s, %one, %zero, %three)\n"
                   "  return (%y)\n"),
            (Found{false, true}));
}

TEST(CpuArguments, AreToldThroughBranches) {
  EXPECT_EQ(on_cpu("  %of : Tensor = prim::If(%flag)\n    block0():\n      %a : Tensor = aten::neg(%lengths)\n"
                   "      -> (%a)\n    block1():\n      -> (%lengths)\n" +
                   pack),
            (Found{false, true}));
}

} // namespace
} // namespace repro_minify
