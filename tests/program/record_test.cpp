#include "repro_minify/record.h"

#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;
using torch::jit::Value;

/// The value that this node number (depth first) makes.
const Value *made_by(const Recording &recording, size_t node) {
  return recording.nodes.at(node)->output();
}

bool has_last(const Recording &recording, const Value *value) {
  return recording.last.count(recording.value_index.at(value)) > 0;
}

TEST(Record, RemembersTheFirstAndTheLastTimeOfWhatALoopMakes) {
  Limits limits;
  limits.timeout = std::chrono::minutes(1);
  const Recording recording = record(program_from(R"IR(
graph(%x : Tensor):
  %three : int = prim::Constant[value=3]()
  %yes : bool = prim::Constant[value=1]()
  %no : bool = prim::Constant[value=0]()
  %h : Tensor = prim::Loop(%three, %yes, %x)
    block0(%i : int, %b : Tensor):
      %d : Tensor = aten::mul(%b, %three)
      %same : Tensor = aten::neg(%x)
      %j : int = aten::mul(%i, %three)
      %z : Tensor = aten::neg(%d)
      %w : Tensor = aten::copy_(%z, %b, %no)
      -> (%yes, %d)
  return (%h))IR",
                                                  {at::ones({2})}),
                                     {}, limits);
  const Recording ended = as_it_ended(recording);
  const Value *d = made_by(recording, 4), *same = made_by(recording, 5), *j = made_by(recording, 6),
              *z = made_by(recording, 7);
  EXPECT_EQ(recording.lookup(d, no_writer)->toTensor()[0].item<float>(), 3);
  EXPECT_EQ(ended.lookup(d, no_writer)->toTensor()[0].item<float>(), 27);
  EXPECT_EQ(recording.lookup(j, no_writer)->toInt(), 0);
  EXPECT_EQ(ended.lookup(j, no_writer)->toInt(), 6);
  EXPECT_FALSE(has_last(recording, same));
  EXPECT_FALSE(has_last(recording, z)); // written to: what it was when it was made is not known any more
  EXPECT_FALSE(has_last(recording, recording.nodes.at(3)->output())); // the loop's own result is made once
}

/// Two inputs in one memory: their versions are counted apart.
TEST(Record, SeesAWriteThroughAnotherInput) {
  Limits limits;
  limits.timeout = std::chrono::minutes(1);
  const at::Tensor memory = at::zeros({3});
  const Recording recording = record(program_from(R"IR(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %two : float = prim::Constant[value=2.]()
  %before : Tensor = aten::mul(%x, %two)
  %w : Tensor = aten::add_(%y, %one, %one)
  %after : Tensor = aten::mul(%x, %two)
  return (%before, %after))IR",
                                                  {memory, memory.view({-1})}),
                                     {}, limits);
  const Value *x = recording.program.graph->inputs()[0];
  const auto writers = recording.writers.at(recording.value_index.at(x));
  ASSERT_EQ(writers.size(), 1u);
  EXPECT_EQ(recording.lookup(x, no_writer)->toTensor()[0].item<float>(), 0);
  EXPECT_EQ(recording.lookup(x, writers[0])->toTensor()[0].item<float>(), 1);
}

} // namespace
} // namespace repro_minify
