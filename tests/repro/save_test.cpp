// reduced.pt and inputs.pt belong together at any moment, however a run ends.
#include "core/files.h"
#include "program/fixture.h"
#include "program/read_inputs.h"
#include "repro/results_folder.h"
#include "repro_minify/flatten.h"
#include "repro_minify/repro.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// y = x + number * x, with x full of that number, as often as it says.
Program program_of(int64_t number) {
  Program program;
  program.graph = std::make_shared<torch::jit::Graph>();
  auto *x = program.graph->addInput("x")->setType(c10::TensorType::get());
  auto *one = program.graph->insertConstant(number);
  auto *sum = program.graph->insertNode(program.graph->create(torch::jit::aten::add, {x, x, one}));
  program.graph->registerOutput(sum->output()->setType(c10::TensorType::get()));
  program.inputs.push_back({"x", Role::Input, at::full({number}, static_cast<double>(number)), {}});
  return program;
}

constexpr const char *steps[] = {"write the first beside it", "write the second beside it", "remove the old second",
                                 "move the first into place", "move the second into place", "make sure of the names"};

/// Writes the pair in a process that is killed before that step; nothing: in one that comes to its end.
void write_until(const PairOfFiles &pair, const std::string &text, const std::string &step) {
  const pid_t child = fork();
  if (child == 0) {
    write_pair(pair, "first " + text, "second " + text, /*durable=*/true, [&](const char *next) {
      if (next == step)
        raise(SIGKILL);
    });
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WIFSIGNALED(status), !step.empty()) << step;
}

TEST(WritePair, NeverLeavesAPairOfTwo) {
  const TemporaryFolder folder;
  const PairOfFiles pair{folder / "a", folder / "b"};
  write_until(pair, "old", "");
  int without_second = 0;
  for (const char *step : steps) {
    write_until(pair, "old", "");
    write_until(pair, "new", step);
    const std::string first = bytes_of(pair.first);
    ASSERT_TRUE(first == "first old" || first == "first new") << step;
    if (fs::exists(pair.second))
      EXPECT_EQ(bytes_of(pair.second), "second " + first.substr(6)) << step;
    else
      ++without_second;
    // The next writer is not disturbed by what is left.
    write_until(pair, "next", "");
    EXPECT_EQ(bytes_of(pair.first) + bytes_of(pair.second), "first nextsecond next") << step;
  }
  EXPECT_EQ(without_second, 2); // before either is moved into place
}

TEST(WritePair, FirstOfAllLeavesNothingHalf) {
  for (const char *step : steps) {
    const TemporaryFolder folder;
    const PairOfFiles pair{folder / "a", folder / "b"};
    write_until(pair, "new", step);
    EXPECT_TRUE(!fs::exists(pair.first) || bytes_of(pair.first) == "first new") << step;
    EXPECT_TRUE(!fs::exists(pair.second) || bytes_of(pair.second) == "second new") << step;
  }
}

TEST(WritePair, SaysWhatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_pair({folder / "none/a", folder / "none/b"}, "", "", false), UserError);
  EXPECT_THROW(write_atomically(folder / "none/a", ""), UserError);
  fs::create_directory(folder / "b");
  EXPECT_THROW(write_pair({folder / "a", folder / "b"}, "", "", false), UserError);
  EXPECT_FALSE(fs::exists(folder / "a"));
}

at::Tensor first_input(const std::string &bytes) {
  return torch::jit::pickle_load({bytes.begin(), bytes.end()}).toTupleRef().elements()[0].toTensor();
}

TEST(SaveProgram, HoldsItsInputsTwice) {
  const TemporaryFolder folder;
  save_program(program_of(3), folder.path(), false);
  const auto inside = inputs_inside(folder / "reduced.pt");
  ASSERT_TRUE(inside.has_value());
  EXPECT_EQ(*inside, bytes_of(folder / "inputs.pt"));
  EXPECT_EQ(first_input(*inside).numel(), 3);
  EXPECT_FALSE(repair_saved(folder.path()));
}

/// (x + x) times 2, 3 and 4, which have that role.
Program product_with(Role role) {
  Program program = program_of(1);
  const torch::jit::WithInsertPoint guard(program.graph->return_node());
  torch::jit::Value *product = program.graph->outputs()[0];
  for (const double number : {2.0, 3.0, 4.0}) {
    const std::string name = "y_" + std::to_string(program.inputs.size());
    auto *y = program.graph->addInput(name)->setType(c10::TensorType::get());
    program.inputs.push_back({name, role, at::full({1}, number), {}});
    product = program.graph->insert(torch::jit::aten::mul, {product, y});
  }
  program.graph->block()->replaceOutput(0, product);
  return program;
}

/// A pass may depend on the order in which a program reads what belongs to it.
TEST(SaveProgram, KeepsTheOrderOfWhatAProgramReads) {
  const Program program = product_with(Role::Buffer);
  const TemporaryFolder folder;
  save_program(program, folder.path(), false);
  const LoadedModel model = load_model(folder / "reduced.pt", "forward", 0, false);
  const Program again = flatten_calls(model, {program.inputs[0].value});
  ASSERT_EQ(again.inputs.size(), 4u) << *again.graph;
  for (size_t i = 1; i < 4; ++i)
    EXPECT_EQ(again.inputs[i].value.toTensor().item<double>(), static_cast<double>(i + 1)) << *again.graph;
}

TEST(SaveProgram, HasConstantsInTheOrderOfTheInputs) {
  const Instance instance = instantiate(product_with(Role::Constant));
  std::vector<double> numbers;
  for (const torch::jit::Node *node : instance.module.get_method("forward").graph()->nodes())
    if (const auto value = torch::jit::toIValue(node->output()); value && value->isTensor())
      numbers.push_back(value->toTensor().item<double>());
  EXPECT_EQ(numbers, (std::vector<double>{2, 3, 4}));
}

TEST(SaveProgram, IsWholeWithoutTheSecondFile) {
  const TemporaryFolder folder;
  save_program(program_of(3), folder.path(), false);
  fs::remove(folder / "inputs.pt");
  const LoadedModel model = load_model(folder / "reduced.pt", "forward", 0, false);
  LoadedInputs inputs = load_inputs(model, {});
  EXPECT_EQ(inputs.values.at(0).toTensor().numel(), 3);
  EXPECT_TRUE(inputs.note.empty());
  // One of another program is not taken for its own.
  const TemporaryFolder other;
  save_program(program_of(5), other.path(), false);
  fs::copy_file(other / "inputs.pt", folder / "inputs.pt");
  inputs = load_inputs(model, {});
  EXPECT_EQ(inputs.values.at(0).toTensor().numel(), 3);
  EXPECT_NE(inputs.note.find("is not what"), std::string::npos);
  // A run that is resumed mends it.
  EXPECT_TRUE(repair_saved(folder.path()));
  EXPECT_EQ(first_input(bytes_of(folder / "inputs.pt")).numel(), 3);
}

} // namespace
} // namespace repro_minify
