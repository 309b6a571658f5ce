#include "reduce/passes/golden.h"

#include "program/fixture.h"
#include "reduce/passes/splice_sites.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace repro_minify {
namespace {

using namespace testing_support;
using torch::jit::Node;
using torch::jit::Value;

/// Writes programs of one operator after another.
class Text {
public:
  explicit Text(const std::string &inputs) { text_ << "graph(" << inputs << "):\n"; }
  std::string op(const std::string &kind, const std::string &operands) {
    const std::string name = "%v" + std::to_string(next_++);
    text_ << "  " << name << " : Tensor = aten::" << kind << '(' << operands << ")\n";
    return name;
  }
  std::string constant(const std::string &type, const std::string &value) {
    const std::string name = "%v" + std::to_string(next_++);
    text_ << "  " << name << " : " << type << " = prim::Constant" << (value.empty() ? "" : "[value=" + value + "]")
          << "()\n";
    return name;
  }
  std::string ints(const std::string &elements) {
    const std::string name = "%v" + std::to_string(next_++);
    text_ << "  " << name << " : int[] = prim::ListConstruct(" << elements << ")\n";
    return name;
  }
  std::string returning(const std::string &outputs) const { return text_.str() + "  return (" + outputs + ")"; }

private:
  std::ostringstream text_;
  int next_ = 0;
};

const char *filler(int i) {
  static const char *const kinds[] = {"tanh", "sigmoid", "neg", "cos"};
  return kinds[i % 4];
}

/// A chain with other operators at some places.
Program chain(int length, const std::map<int, std::string> &special) {
  Text text("%x : Tensor");
  std::string x = "%x";
  for (int i = 0; i < length; ++i)
    x = text.op(special.count(i) ? special.at(i) : filler(i), x);
  return program_from(text.returning(x), {at::ones({4, 8})});
}

/// True if a node of kind `reader` returns something that is made from the result of one of kind `source`.
bool has_path(const Program &program, const std::string &source, const std::string &reader) {
  std::vector<const Node *> open;
  for (const Node *node : all_nodes(*program.graph))
    if (node->kind() == c10::Symbol::fromQualString("aten::" + reader))
      open.push_back(node);
  std::set<const Node *> seen;
  while (!open.empty()) {
    const Node *node = open.back();
    open.pop_back();
    if (!seen.insert(node).second)
      continue;
    if (node->kind() == c10::Symbol::fromQualString("aten::" + source))
      return true;
    for (const Value *input : node->inputs())
      open.push_back(input->node());
  }
  return false;
}

Predicate path(const std::string &source, const std::string &reader) {
  return [=](const Program &program) { return has_path(program, source, reader); };
}

/// All passes that make a program smaller: what its values are made to be later is of no interest here.
GoldenResult run_all(const Program &program, const Predicate &interesting) {
  ReduceOptions options;
  options.passes.only = {"cut", "copies", "outputs", "splice", "inputs", "plain-values"};
  options.limits.timeout = std::chrono::minutes(1);
  Reduction reduction = reduce_structurally(program, interesting, options);
  return {reduction.program.graph->toString(false), reduction.checks, std::move(reduction)};
}

TEST(Splice, JoinsAFarPair) {
  const auto result = run_pass("splice", chain(200, {{10, "erf"}, {190, "log1p"}}), path("erf", "log1p"));
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %11 : Tensor = aten::erf(%x)
  %191 : Tensor = aten::log1p(%11)
  return (%191)
)IR");
  EXPECT_EQ(result.checks, 20);
}

TEST(Splice, GuessesThatOnlyTheEndsOfAPathMatter) {
  const auto result = run_pass("splice", chain(200, {{0, "erf"}, {199, "log1p"}}), path("erf", "log1p"));
  EXPECT_EQ(operators(result), 2);
  EXPECT_EQ(result.checks, 3); // and once without each
}

TEST(Splice, ComesBeforeACutThatWouldTryEveryNodeOfAPath) {
  const auto result = run_all(chain(200, {{10, "erf"}, {190, "log1p"}}), path("erf", "log1p"));
  EXPECT_EQ(operators(result), 2);
  EXPECT_EQ(result.checks, 36);
}

TEST(Splice, GivesTheSameForAnyNumberOfJobs) {
  const Program program = chain(200, {{10, "erf"}, {190, "log1p"}});
  std::set<std::pair<std::string, int>> results;
  for (int jobs : {1, 2, 4}) {
    ReduceOptions options;
    options.jobs = jobs;
    options.limits.timeout = std::chrono::minutes(1);
    const Reduction reduction = reduce_structurally(program, path("erf", "log1p"), options);
    results.emplace(canonical_hash(reduction.program), reduction.checks);
  }
  EXPECT_EQ(results.size(), 1u);
}

TEST(Splice, KeepsScatteredOnesInARow) {
  const auto result = run_pass("splice", chain(200, {{20, "erf"}, {77, "erf"}, {130, "erf"}, {180, "erf"}}),
                               [](const Program &candidate) {
                                 return count(candidate, "aten::erf") == 4 && candidate.graph->outputs().size() == 1;
                               });
  EXPECT_EQ(operators(result), 4);
  EXPECT_EQ(result.checks, 34);
}

/// Each block widens, and narrows again: nothing inside has the shape of what it reads.
Program bottlenecks(int blocks) {
  Text text("%x : Tensor, %up : Tensor, %down : Tensor");
  std::string x = text.op("erf", "%x");
  for (int i = 0; i < blocks; ++i)
    x = text.op("mm", text.op("relu", text.op("mm", x + ", %up")) + ", %down");
  x = text.op("log1p", x);
  return program_from(text.returning(x), {at::ones({4, 8}), at::ones({8, 16}), at::ones({16, 8})});
}

TEST(Splice, SkipsStretchesThatChangeTheShapeAndChangeItBack) {
  const auto result = run_pass("splice", bottlenecks(20), path("erf", "log1p"));
  EXPECT_EQ(operators(result), 2);
  EXPECT_EQ(result.checks, 3);
}

/// Convolution, batch norm, activation, with skips.
Program resnet(int blocks) {
  Text text("%x : Tensor, %w : Tensor, %g : Tensor");
  const auto none = text.constant("NoneType", ""), one = text.constant("int", "1"), no = text.constant("bool", "0");
  const auto momentum = text.constant("float", "0.1");
  const auto ones = text.ints(one + ", " + one);
  const auto conv_bn = [&](const std::string &x) {
    const auto y = text.op("conv2d", x + ", %w, " + none + ", " + ones + ", " + ones + ", " + ones + ", " + one);
    return text.op("batch_norm", y + ", %g, %g, %g, %g, " + no + ", " + momentum + ", " + momentum + ", " + no);
  };
  std::string x = "%x";
  for (int i = 0; i < blocks; ++i) {
    const auto y = conv_bn(text.op("sigmoid", conv_bn(x)));
    x = text.op(i + 1 == blocks ? "relu" : "sigmoid", text.op("add", y + ", " + x + ", " + one));
  }
  return program_from(text.returning(x), {at::ones({1, 4, 8, 8}), at::ones({4, 4, 3, 3}), at::ones({4})});
}

TEST(Splice, FindsAConvolutionBehindAnActivation) {
  const auto alone = run_pass("splice", resnet(12), path("conv2d", "relu"));
  EXPECT_EQ(operators(alone), 2);
  EXPECT_EQ(alone.checks, 3);
  const auto all = run_all(resnet(12), path("conv2d", "relu"));
  EXPECT_EQ(operators(all), 2);
  EXPECT_EQ(all.checks, 28);
}

/// Many branches that meet in a sum; the failure needs a node of two of them.
Program wide_residual(int nodes, int branches) {
  Text text("%x : Tensor");
  const auto one = text.constant("int", "1");
  std::vector<std::string> heads;
  for (int k = 0; k < branches; ++k)
    heads.push_back(text.op("sin", "%x"));
  for (int i = 0, made = branches; made + branches + 2 <= nodes; ++i, made += 2) {
    const int k = i % branches;
    const char *kind = i == 9 ? "erf" : i == (nodes / 16) * 8 - 26 ? "log1p" : filler(i);
    heads[k] = text.op("add", heads[k] + ", " + text.op(kind, heads[k]) + ", " + one);
  }
  std::string sum = heads[0];
  for (int k = 1; k < branches; ++k)
    sum = text.op("add", sum + ", " + heads[k] + ", " + one);
  return program_from(text.returning(sum), {at::ones({4, 8})});
}

TEST(Splice, TakesTwoOutOfAWideResidualGraph) {
  const Predicate both = [](const Program &candidate) {
    return count(candidate, "aten::erf") > 0 && count(candidate, "aten::log1p") > 0;
  };
  const Program program = wide_residual(400, 8);
  ASSERT_TRUE(both(program));
  const auto alone = run_pass("splice", program, both);
  EXPECT_EQ(operators(alone), 2);
  EXPECT_EQ(alone.checks, 24);
  const auto all = run_all(program, both);
  EXPECT_EQ(operators(all), 2);
  EXPECT_EQ(all.checks, 26);
}

TEST(Splice, ReadsAnOperandOfAnotherShapeWhereOneNodeIsLeft) {
  const Program program = program_from(R"IR(
graph(%x : Tensor):
  %dim : int = prim::Constant[value=0]()
  %a : Tensor = aten::erf(%x)
  %b : Tensor = aten::unsqueeze(%a, %dim)
  %c : Tensor = aten::log1p(%b)
  return (%c))IR",
                                       {at::ones({2, 3})});
  const auto result = run_pass("splice", program, path("erf", "log1p"));
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %2 : Tensor = aten::erf(%x)
  %4 : Tensor = aten::log1p(%2)
  return (%4)
)IR");
  EXPECT_EQ(result.checks, 1);
}

TEST(Splice, AsksNothingOfAProgramThatACutHasFinished) {
  const Program program = program_from(R"IR(
graph(%x : Tensor, %w : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::mm(%a, %w)
  return (%b))IR",
                                       {at::ones({3, 3}), at::ones({3, 3})});
  const auto result = run_pass("splice", program, path("relu", "mm"));
  EXPECT_EQ(operators(result), 2);
  EXPECT_EQ(result.checks, 0);
}

TEST(Splice, RemovesUnreadNodes) {
  const Program program = program_from(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu_(%x)
  %b : Tensor = aten::neg(%x)
  return (%b))IR",
                                       {at::ones({3, 3})});
  const auto result =
      run_pass("splice", program, [](const Program &candidate) { return count(candidate, "aten::neg") > 0; });
  EXPECT_EQ(operators(result), 1);
  EXPECT_EQ(result.checks, 1);
}

TEST(Splice, EndsWithNothingWhereNothingIsNeeded) {
  const Program program = program_from(R"IR(
graph(%c : Tensor, %x : Tensor):
  %b : bool = aten::Bool(%c)
  %one : int = prim::Constant[value=1]()
  prim::If(%b)
    block0():
      %a : Tensor = aten::add_(%x, %one, %one)
      -> ()
    block1():
      -> ()
  return (%x))IR",
                                       {at::ones({}), at::ones({3, 3})});
  const auto result = run_pass("splice", program, [](const Program &) { return true; });
  EXPECT_EQ(operators(result), 0);
}

TEST(Splice, LeavesAValueOutOfALoop) {
  const Program program = program_from(R"IR(
graph(%x : Tensor):
  %trips : int = prim::Constant[value=3]()
  %true : bool = prim::Constant[value=1]()
  %a : Tensor, %b : Tensor = prim::Loop(%trips, %true, %x, %x)
    block0(%i : int, %c : Tensor, %d : Tensor):
      %e : Tensor = aten::erf(%c)
      %f : Tensor = aten::neg(%d)
      -> (%true, %e, %f)
  return (%a, %b))IR",
                                       {at::ones({3, 3})});
  const auto result = run_pass("splice", program, [](const Program &candidate) {
    return count(candidate, "aten::erf") > 0 && count(candidate, "prim::Loop") > 0;
  });
  EXPECT_EQ(count(result.reduction.program, "aten::neg"), 0);
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %1 : int = prim::Constant[value=3]()
  %2 : bool = prim::Constant[value=1]()
  %3 : Tensor, %4 : Tensor = prim::Loop(%1, %2, %x, %x)
    block0(%i : int, %c : Tensor, %d : Tensor):
      %8 : Tensor = aten::erf(%c)
      -> (%2, %8, %d)
  return (%3, %4)
)IR");
  EXPECT_EQ(result.checks, 3); // and once without the loop
}

TEST(Splice, TakesSeveralAtOnceInsideALoop) {
  std::string body;
  for (int i = 0; i < 100; ++i)
    body += "      %v" + std::to_string(i + 1) + " : Tensor = aten::" +
            (i == 5    ? "erf"
             : i == 95 ? "log1p"
                       : filler(i)) +
            "(%v" + std::to_string(i) + ")\n";
  const Program program = program_from(R"IR(
graph(%x : Tensor):
  %trips : int = prim::Constant[value=3]()
  %true : bool = prim::Constant[value=1]()
  %a : Tensor = prim::Loop(%trips, %true, %x)
    block0(%i : int, %v0 : Tensor):
)IR" + body + R"IR(
      -> (%true, %v100)
  return (%a))IR",
                                       {at::ones({3, 3})});
  const auto result = run_pass("splice", program, path("erf", "log1p"));
  EXPECT_EQ(count(result.reduction.program, "aten::erf"), 1);
  EXPECT_EQ(operators(result), 3); // and the loop
  EXPECT_EQ(result.checks, 27);
}

Splicer splicer_of(const Program &program) {
  return Splicer(std::make_shared<Recording>(record(program, {}, {.timeout = std::chrono::minutes(1)})));
}

class SplicerOnARealModel : public testing::TestWithParam<std::string> {};

TEST_P(SplicerOnARealModel, MakesAProgramOfAnySetOfSites) {
  const auto loaded = load_case(GetParam());
  const Splicer splicer = splicer_of(flatten_calls(loaded.model, loaded.inputs.values));
  ASSERT_GT(splicer.sites(), 5);
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    IndexSet kept;
    for (int site = 0; site < splicer.sites(); ++site)
      if (static_cast<int>(random() % 20) < round)
        kept.push_back(site);
    const Program program = splicer.keep(kept);
    EXPECT_NO_THROW(program.graph->lint()) << round;
    EXPECT_EQ(program.graph->inputs().size(), program.inputs.size());
    EXPECT_GE(size_of(program).operators, static_cast<int>(kept.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SplicerOnARealModel,
                         testing::Values("big_jit_loop_swap", "big_static_int_div", "big_grad_max_tie",
                                         "big_freeze_linear_bn_3d"),
                         [](const auto &info) { return info.param; });

TEST(Splicer, TakesWhatWritesWithWhatIsWrittenTo) {
  const Splicer splicer = splicer_of(program_from(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::neg(%x)
  %b : Tensor = aten::relu_(%a)
  %c : Tensor = aten::sin(%a)
  %d : Tensor = aten::cos(%x)
  return (%c, %d))IR",
                                                  {at::ones({2, 2})}));
  ASSERT_EQ(splicer.sites(), 3);
  EXPECT_EQ(splicer.regions(), (IndexSet{0}));
  EXPECT_EQ(splicer.without({0}).graph->toString(false), R"IR(graph(%x : Tensor):
  %3 : Tensor = aten::sin(%x)
  %4 : Tensor = aten::cos(%x)
  return (%3, %4)
)IR");
  EXPECT_EQ(splicer.keep({}).graph->toString(false), "graph():\n  return ()\n");
}

TEST(Splicer, ReadsNothingInsteadThatIsWrittenToLater) {
  const Splicer splicer = splicer_of(program_from(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::neg(%x)
  %b : Tensor = aten::sin(%a)
  %c : Tensor = aten::relu_(%a)
  %d : Tensor = aten::cos(%b)
  return (%d, %c))IR",
                                                  {at::ones({2, 2})}));
  // The sine could read %x, but not %a, which is another value by the time that the cosine is made.
  EXPECT_EQ(count(splicer.without({1}), "aten::sin"), 0);
  EXPECT_EQ(splicer.without({1}).graph->toString(false), R"IR(graph(%x : Tensor):
  %1 : Tensor = aten::neg(%x)
  %3 : Tensor = aten::relu_(%1)
  %4 : Tensor = aten::cos(%x)
  return (%4, %3)
)IR");
}

/// Two uses of one value are the same list: it is gone when the second is looked at.
TEST(Splicer, RemovesPackingThatHoldsAValueTwice) {
  const Splicer splicer = splicer_of(program_from(R"IR(
graph(%x : Tensor):
  %y : Tensor = aten::tanh(%x)
  %list : Tensor[] = prim::ListConstruct(%y, %y)
  %m : Tensor = aten::chain_matmul(%list)
  %r : Tensor = aten::relu(%m)
  return (%r))IR",
                                                  {at::ones({2, 2})}));
  ASSERT_EQ(splicer.sites(), 3);
  for (const IndexSet &kept : {IndexSet{}, IndexSet{0}, IndexSet{2}, IndexSet{0, 2}}) {
    const Program program = splicer.keep(kept);
    EXPECT_NO_THROW(program.graph->lint());
    EXPECT_EQ(program.graph->toString(false).find("prim::ListConstruct"), std::string::npos) << *program.graph;
  }
}

TEST(Splicer, AsksForTheSameShapeAndDtype) {
  const Splicer splicer = splicer_of(program_from(R"IR(
graph(%x : Tensor, %y : Tensor):
  %true : bool = prim::Constant[value=1]()
  %a : Tensor = aten::isnan(%x)
  %b : Tensor = aten::t(%y)
  %c : Tensor = aten::t(%b)
  return (%a, %c))IR",
                                                  {at::ones({2, 2}), at::ones({2, 3})}));
  EXPECT_EQ(splicer.sites(), 1); // the second transposition gives back the shape of %y
}

TEST(Splicer, KeepsEachKeptSiteAliveAndConnected) {
  // Two branches; what is kept of one that loses its reader becomes an output.
  const Splicer splicer = splicer_of(program_from(R"IR(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::erf(%x)
  %b : Tensor = aten::sin(%a)
  %c : Tensor = aten::cos(%x)
  %d : Tensor = aten::add(%c, %b, %one)
  %e : Tensor = aten::neg(%d)
  return (%e))IR",
                                                  {at::ones({2, 2})}));
  ASSERT_EQ(splicer.sites(), 5);
  EXPECT_EQ(splicer.ends(), (IndexSet{0, 2, 4}));
  EXPECT_EQ(splicer.keep({0, 4}).graph->toString(false), R"IR(graph(%x : Tensor):
  %2 : Tensor = aten::erf(%x)
  %6 : Tensor = aten::neg(%2)
  return (%6)
)IR");
  EXPECT_EQ(splicer.keep({0, 2, 4}).graph->outputs().size(), 2u);
  EXPECT_EQ(splicer.keep({}).graph->outputs().size(), 0u);
}

} // namespace
} // namespace repro_minify
