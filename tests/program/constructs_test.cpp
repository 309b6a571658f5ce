// Objects, tasks, `with`, packed weights, warnings and undefined tensors: whatever a model is written with, its flat
// Program gives the same, and so does any part of it.
#include "all_tests.h"
#include "program/compute.h"
#include "program/fixture.h"
#include "program/tracer.h"
#include "program/value_digest.h"
#include "program/values.h"
#include "repro_minify/archive.h"
#include "test_paths.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

namespace repro_minify {
namespace {

using testing_support::test_limits;

struct Construct {
  LoadedModel model;
  LoadedInputs inputs;
};

Construct load_construct(const std::string &name) {
  const std::string folder = std::string(test_paths::fixtures) + "/constructs/" + name;
  Construct construct{load_model(folder + "/failing.pt", "forward", 0, false), {}};
  construct.inputs = load_inputs(construct.model, {});
  return construct;
}

Program flat(const Construct &construct) {
  return flatten_or_trace(construct.model, construct.inputs.values, {}, test_limits()).first;
}

/// A part can end in the middle of a branch, and return what was never given a value.
c10::IValue tensors_of(const c10::IValue &value) {
  std::vector<c10::IValue> leaves;
  flatten_value(value, leaves);
  std::erase_if(leaves, [](const c10::IValue &leaf) { return !leaf.isTensor(); });
  return c10::ivalue::Tuple::create(std::move(leaves));
}

/// Returns the tensors that a Program returns, as it is or, with `saved`, once it has been saved and loaded.
c10::IValue run_saved(const Program &program, bool saved) {
  return compute_in_child(
      [&](Child &) {
        const RunScope scope({});
        Instance instance = instantiate(program);
        if (saved) {
          std::stringstream archive;
          instance.module.save(archive);
          instance.module = torch::jit::load(archive);
        }
        scope.begin_run();
        return tensors_of(instance.module.forward(instance.arguments));
      },
      test_limits());
}

c10::IValue run_model(const Construct &construct) {
  return compute_in_child(
      [&](Child &) {
        const RunScope scope({});
        Instance instance = instantiate(Archive{construct.model.path, construct.inputs.values}, InstantiateOptions{});
        scope.begin_run();
        return tensors_of(instance.module.forward(instance.arguments));
      },
      test_limits());
}

void expect_same(const c10::IValue &found, const c10::IValue &expected, double tolerance, const std::string &what) {
  std::vector<c10::IValue> a, b;
  flatten_value(found, a);
  flatten_value(expected, b);
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    const at::Tensor x = a[i].toTensor(), y = b[i].toTensor();
    ASSERT_EQ(x.defined(), y.defined()) << what;
    if (!x.defined())
      continue;
    ASSERT_EQ(x.scalar_type(), y.scalar_type()) << what;
    EXPECT_TRUE(at::allclose(x.dequantize(), y.dequantize(), tolerance, tolerance, /*equal_nan=*/true)) << what;
  }
}

IndexSet random_atoms(const Cutter &cutter, std::mt19937 &random) {
  IndexSet kept;
  const unsigned share = 1 + random() % 3;
  for (int atom = 0; atom < cutter.atoms(); ++atom)
    if (random() % 4 < share)
      kept.push_back(atom);
  return cutter.close(kept);
}

class Constructs : public testing::TestWithParam<std::string> {};

TEST_P(Constructs, GiveTheSameOnceTheyAreFlat) {
  const Construct construct = load_construct(GetParam());
  const Program program = flat(construct);
  program.graph->lint();
  const c10::IValue expected = run_model(construct);
  for (const bool saved : {false, true})
    expect_same(run_saved(program, saved), expected, 1e-5, program.graph->toString());
}

/// A part's outputs, saved and loaded, are what the part itself gives: nothing is lost on the way to a file.
TEST_P(Constructs, CanBeCutAnywhere) {
  const Program program = flat(load_construct(GetParam()));
  const auto recording = std::make_shared<const Recording>(record(program, {}, test_limits()));
  const Cutter cutter(recording);
  ASSERT_GT(cutter.atoms(), 2);
  std::mt19937 random(1);
  for (int i = 0; i < how_many(4, 12); ++i) {
    const Program part = cutter.cut(random_atoms(cutter, random));
    part.graph->lint();
    EXPECT_EQ(canonical_hash(part), canonical_hash({part.graph->copy(), part.inputs, part.provenance}));
    expect_same(run_saved(part, true), run_saved(part, false), 0, part.graph->toString());
  }
}

std::vector<std::string> all_constructs() {
  std::ifstream file(std::string(test_paths::fixtures) + "/constructs/expected.json");
  return nlohmann::json::parse(file).get<std::vector<std::string>>();
}

INSTANTIATE_TEST_SUITE_P(All, Constructs, testing::ValuesIn(all_constructs()),
                         [](const auto &info) { return info.param; });

/// The interpreter passes blocks of autocast over, the executor does not: the model that is checked, and the Program
/// that is made of it, have the casts that a user's call of the model has.
TEST(AutocastBlocks, CastWhateverRunsThem) {
  const Construct construct = load_construct("autocast");
  std::multiset<std::string> kinds;
  const Program program = flat(construct);
  for (const auto *node : all_nodes(*program.graph))
    kinds.insert(node->kind().toUnqualString());
  EXPECT_EQ(kinds.count("_autocast_to_reduced_precision"), 3u); // input, weight, bias
  EXPECT_EQ(kinds.count("Enter") + kinds.count("Exit") + kinds.count("SetAttr"), 0u);
  const c10::IValue as_called = compute_in_child(
      [&](Child &) {
        torch::jit::setGraphExecutorOptimize(true); // as it is before anybody asks for something else
        return torch::jit::load(construct.model.path).forward(construct.inputs.values);
      },
      test_limits());
  expect_same(run_saved(flat(construct), true), tensors_of(as_called), 1e-5, "autocast");
  const auto archive = [&](Child &) {
    const RunScope scope({});
    Instance instance = instantiate(Archive{construct.model.path, construct.inputs.values}, InstantiateOptions{});
    return tensors_of(instance.module.forward(instance.arguments));
  };
  expect_same(compute_in_child(archive, test_limits()), tensors_of(as_called), 1e-5, "autocast");
}

TEST(PackedWeights, AreTheSameWhereverTheyWereLoaded) {
  const Program one = flat(load_construct("quantised_dynamically")),
                same = flat(load_construct("quantised_dynamically"));
  EXPECT_EQ(canonical_hash(one), canonical_hash(same));
}

TEST(PackedWeights, DifferByWhatIsInThem) {
  const Program program = flat(load_construct("quantised_dynamically"));
  std::vector<std::string> hashes;
  for (const auto *node : all_nodes(*program.graph))
    if (node->kind() == torch::jit::prim::Constant && is_opaque_class(node->output()->type()))
      hashes.push_back(digest_of(torch::jit::toIValue(node->output()).value()));
  ASSERT_EQ(hashes.size(), 2u);
  EXPECT_NE(hashes[0], hashes[1]);
}

TEST(UndefinedTensors, ComeBackFromAChild) {
  const auto made = [](Child &) -> c10::IValue {
    c10::List<at::Tensor> list;
    list.push_back(at::ones({2}));
    list.push_back(at::Tensor());
    return c10::ivalue::Tuple::create({at::Tensor(), list, c10::IValue(), at::zeros({1})});
  };
  const c10::IValue received = compute_in_child(made, test_limits());
  const auto &parts = received.toTupleRef().elements();
  EXPECT_FALSE(parts.at(0).toTensor().defined());
  EXPECT_TRUE(at::equal(parts.at(1).toTensorVector().at(0), at::ones({2})));
  EXPECT_FALSE(parts.at(1).toTensorVector().at(1).defined());
  EXPECT_TRUE(parts.at(2).isNone());
  EXPECT_TRUE(at::equal(parts.at(3).toTensor(), at::zeros({1})));
}

} // namespace
} // namespace repro_minify
