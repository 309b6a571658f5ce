// Invariant 1 on real models: any set of nodes is a valid Program that builds, passes the IR's own checks, and runs.
#include "all_tests.h"
#include "program/cut.h"
#include "program/fixture.h"
#include "program/program_from.h"
#include "repro_minify/run_settings.h"

#include "repro_minify/program.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <sstream>

namespace repro_minify {
namespace {

using testing_support::load_case;
using testing_support::program_from;
using testing_support::test_limits;

const int sets_per_case = how_many(150, 1000);

/// Sets of every size: whole, single nodes, runs, scattered ones.
IndexSet random_set(std::mt19937 &random, int atoms) {
  IndexSet kept;
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (random() % 2) {
    const int first = below(atoms), length = 1 + below(atoms - first);
    for (int i = first; i < first + length; ++i)
      kept.push_back(i);
  } else {
    const int percent = 1 + below(100);
    for (int i = 0; i < atoms; ++i)
      if (below(100) < percent)
        kept.push_back(i);
  }
  return kept;
}

/// Returns what is wrong with the Program, or an empty string. Runs it: for a sandbox child.
std::string problem_with(const Program &program) {
  try {
    program.graph->lint();
    Instance instance = instantiate(program);
    instance.module.get_method("forward").graph()->lint();
    instance.module.forward(instance.arguments);
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

/// Cuts every set and runs the result, all in one child; returns the first problem.
JobEnd try_sets(const Cutter &cutter, const std::vector<IndexSet> &sets) {
  return run_in_sandbox(
      [&](Child &child) {
        const RunScope scope({});
        for (size_t i = 0; i < sets.size(); ++i) {
          child.stage("set " + std::to_string(i));
          const std::string problem = problem_with(cutter.cut(sets[i]));
          if (!problem.empty()) {
            child.reply("set " + std::to_string(i) + ": " + problem);
            return;
          }
        }
      },
      {.timeout = std::chrono::minutes(8)});
}

class AnySetOfNodes : public testing::TestWithParam<std::string> {};

TEST_P(AnySetOfNodes, BuildsLintsAndRuns) {
  const auto loaded = load_case(GetParam());
  const Program inlined = flatten_calls(loaded.model, loaded.inputs.values);
  auto recording = std::make_shared<Recording>(record(inlined, {}, test_limits()));
  std::mt19937 random(7);
  for (const bool straight : {false, true}) {
    if (straight) {
      if (!has_control_flow(inlined))
        break;
      recording = std::make_shared<Recording>(
          record(follow_decisions(recording->program, recording->decisions), {}, test_limits()));
    }
    const Cutter cutter(recording);
    std::vector<IndexSet> sets;
    for (int i = 0; i < sets_per_case; ++i)
      sets.push_back(random_set(random, cutter.atoms()));
    const JobEnd job_end = try_sets(cutter, sets);
    EXPECT_EQ(job_end.ending, Ending::Replied)
        << to_string(job_end.ending) << " at " << job_end.stage << ": " << job_end.message << job_end.output_tail;
    EXPECT_EQ(job_end.reply, "");
  }
}

INSTANTIATE_TEST_SUITE_P(BigCases, AnySetOfNodes,
                         testing::Values("big_autocast_lerp", "big_freeze_linear_bn_3d", "big_grad_max_tie",
                                         "big_inductor_u8_min", "big_jit_bool_mask", "big_jit_loop_swap",
                                         "big_ofi_clamp_min", "big_static_int_div"),
                         [](const auto &info) { return info.param; });

Recording record_case(const std::string &name) {
  const auto loaded = load_case(name);
  return record(flatten_calls(loaded.model, loaded.inputs.values), {}, test_limits());
}

int count_kind(const Program &program, const char *kind) {
  int count = 0;
  for (const auto *node : all_nodes(*program.graph))
    count += node->kind() == c10::Symbol::fromQualString(kind);
  return count;
}

IndexSet atoms_of_kind(const Cutter &cutter, const std::vector<std::string> &kinds) {
  IndexSet kept;
  for (int atom = 0; atom < cutter.atoms(); ++atom)
    for (const auto &kind : kinds)
      if (cutter.node_of(atom)->kind() == c10::Symbol::fromQualString(kind))
        kept.push_back(atom);
  return kept;
}

TEST(Cut, OfEverythingIsTheProgramItself) {
  const auto recording = std::make_shared<Recording>(record_case("big_static_int_div"));
  const Cutter cutter(recording);
  IndexSet all(cutter.atoms());
  for (int i = 0; i < cutter.atoms(); ++i)
    all[i] = i;
  const Program program = cutter.cut(all);
  EXPECT_EQ(size_of(program).operators, size_of(recording->program).operators);
  EXPECT_EQ(size_of(program).outputs, size_of(recording->program).outputs);
  EXPECT_EQ(size_of(program).inputs, size_of(recording->program).inputs);
}

TEST(Cut, OfNothingHasNoOutputsAndNoInputs) {
  const Cutter cutter(std::make_shared<Recording>(record_case("jit_einsum_view_alias")));
  const Program program = cutter.cut({});
  EXPECT_EQ(size_of(program).nodes, 0);
  EXPECT_TRUE(program.inputs.empty());
}

TEST(Cut, ReturnsAnInputThatARemovedReaderWouldHaveReadAfterAWrite) {
  // h = x * 2; v = h.type_as(y); v.add_(1); return h + y: with only type_as and add_ kept, h is an input that is
  // written to.
  const Cutter cutter(std::make_shared<Recording>(record_case("jit_type_as_dce")));
  const Program program = cutter.cut(atoms_of_kind(cutter, {"aten::type_as", "aten::add_"}));
  ASSERT_EQ(program.graph->outputs().size(), 1u);
  EXPECT_EQ(program.graph->outputs()[0]->node()->kind(), torch::jit::prim::Param);
}

TEST(Cut, ALaterReaderSeesTheValueAsItWasThen) {
  // buf = zeros; row = buf[1]; row.add_(x); return buf * 2: with only the last node kept its input holds x in row 1.
  const auto recording = std::make_shared<Recording>(record_case("pass_remove_inplace_view"));
  const Cutter cutter(recording);
  const Program program = cutter.cut(atoms_of_kind(cutter, {"aten::mul"}));
  ASSERT_EQ(program.inputs.size(), 1u);
  EXPECT_EQ(count_kind(program, "aten::mul"), 1);
  const auto value = program.inputs[0].value.toTensor();
  EXPECT_NE(value.data_ptr<float>()[4], 0.0f);
  EXPECT_EQ(value.data_ptr<float>()[0], 0.0f);
}

TEST(Cut, InsideALoopTheFirstTripsValueIsUsed) {
  const Cutter cutter(std::make_shared<Recording>(record_case("jit_75794_loop_swap")));
  const Program program = cutter.cut(atoms_of_kind(cutter, {"prim::Loop", "aten::add_"}));
  EXPECT_EQ(count_kind(program, "prim::Loop"), 1);
  EXPECT_EQ(count_kind(program, "aten::add_"), 1);
  EXPECT_EQ(count_kind(program, "aten::select"), 0);
  EXPECT_EQ(problem_with(program), "");
}

TEST(Cut, ANodeInARemovedLoopGoesWithIt) {
  const Cutter cutter(std::make_shared<Recording>(record_case("jit_75794_loop_swap")));
  const IndexSet inside = atoms_of_kind(cutter, {"aten::add_"});
  ASSERT_FALSE(inside.empty());
  EXPECT_TRUE(cutter.close(inside).empty());
}

TEST(Flatten, FollowsThePathThatWasTaken) {
  const auto loaded = load_case("jit_75794_loop_swap");
  const Recording recording = record(flatten_calls(loaded.model, loaded.inputs.values), {}, test_limits());
  const Program straight = follow_decisions(recording.program, recording.decisions);
  EXPECT_FALSE(has_control_flow(straight));
  EXPECT_EQ(count_kind(straight, "aten::add_"), 3);
  EXPECT_THROW(follow_decisions(recording.program, recording.decisions, 5), CannotFlatten);
}

TEST(Flatten, InlinesCalleesAsTheyWereWritten) {
  // PyTorch's inliner runs the peephole pass over callees, and that pass drops the multiplication.
  torch::jit::Module module("__torch__.Calls");
  module.define("def mask(self, x: Tensor) -> Tensor:\n  return torch.mul(torch.gt(x, 0), 1)\n"
                "def twice(self, x: Tensor) -> Tensor:\n  return self.mask(x) + self.mask(x)\n"
                "def forward(self, x: Tensor) -> Tensor:\n  return self.twice(x)\n");
  const Program program = flatten_calls({"", module, "forward"}, {at::ones({2})});
  EXPECT_EQ(count_kind(program, "aten::mul"), 2) << *program.graph;
}

/// The methods and forward's text of a program that is saved and loaded again; it writes to what `alias` makes of %0.
std::pair<size_t, std::string> saved_and_loaded(const char *kind, const std::string &alias) {
  Program program = program_from("graph(%0 : Tensor):\n  %i : int = prim::Constant[value=0]()\n"
                                 "  %k : int = prim::Constant[value=1]()\n" +
                                     alias + "  %y : Tensor = aten::add_(%v, %k, %k)\n  return (%0)\n",
                                 {at::ones({2})});
  program.provenance.hidden_aliases.insert(c10::Symbol::fromQualString(kind));
  std::stringstream archive;
  instantiate(program).module.save(archive);
  const torch::jit::Module loaded = torch::jit::load(archive);
  return {loaded.get_methods().size(), loaded.get_method("forward").graph()->toString()};
}

TEST(Instantiate, OnlyWritesThatTorchScriptWouldDropAreApart) {
  const auto [one, whole] =
      saved_and_loaded("aten::broadcast_tensors", "  %l : Tensor[] = prim::ListConstruct(%0)\n"
                                                  "  %b : Tensor[] = aten::broadcast_tensors(%l)\n"
                                                  "  %v : Tensor = aten::__getitem__(%b, %i)\n");
  EXPECT_EQ(one, 1) << whole;
  EXPECT_NE(whole.find("aten::add_"), std::string::npos) << whole;
  const auto [two, apart] = saved_and_loaded("aten::type_as", "  %v : Tensor = aten::type_as(%0, %0)\n");
  EXPECT_EQ(two, 2) << apart;
  EXPECT_NE(apart.find("aten::add_"), std::string::npos) << apart;
}

TEST(Record, SeesAnAliasThatTheSchemaHides) {
  EXPECT_TRUE(record_case("jit_type_as_dce")
                  .program.provenance.hidden_aliases.count(c10::Symbol::fromQualString("aten::type_as")));
  EXPECT_TRUE(record_case("jit_einsum_view_alias")
                  .program.provenance.hidden_aliases.count(c10::Symbol::fromQualString("aten::einsum")));
  EXPECT_TRUE(record_case("big_static_int_div").program.provenance.hidden_aliases.empty());
}

TEST(CanonicalHash, IsThatOfStructureAndData) {
  const Recording recording = record_case("jit_peephole_bool_mul1");
  const Cutter cutter(std::make_shared<Recording>(recording));
  const IndexSet some = {0, 1};
  EXPECT_EQ(canonical_hash(cutter.cut(some)), canonical_hash(cutter.cut(some)));
  EXPECT_NE(canonical_hash(cutter.cut(some)), canonical_hash(cutter.cut({0})));
  Program changed = cutter.cut(some);
  ASSERT_FALSE(changed.inputs.empty());
  changed.inputs[0].value = changed.inputs[0].value.toTensor().clone().zero_();
  EXPECT_NE(canonical_hash(cutter.cut(some)), canonical_hash(changed));
}

/// A value that is written to in place is one output, however many versions of it are read.
TEST(Cut, SaysWhichAtomEachOutputIsOf) {
  for (const char *name : {"big_jit_loop_swap", "jit_einsum_view_alias", "grad_leaky_relu_inplace_exc"}) {
    SCOPED_TRACE(name);
    const Cutter cutter(std::make_shared<Recording>(record_case(name)));
    IndexSet all(cutter.atoms());
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> atoms;
    const Program program = cutter.cut(all, /*expose_all=*/true, atoms);
    ASSERT_EQ(atoms.size(), program.graph->outputs().size());
    for (size_t i = 0; i < atoms.size(); ++i) {
      const auto *made_by = program.graph->outputs()[i]->node();
      const auto *atom = cutter.node_of(atoms[i]);
      const bool writes = atom->maybeSchema() && atom->schema().is_mutable();
      EXPECT_TRUE(made_by->kind() == atom->kind() || writes || !atom->blocks().empty())
          << made_by->kind().toQualString() << " shown as " << atom->kind().toQualString();
    }
  }
}

} // namespace
} // namespace repro_minify
