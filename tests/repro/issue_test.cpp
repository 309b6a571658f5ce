// issue.md: its first line, its one block of code, and what it says where something is not known.
#include "core/files.h"
#include "repro/small_program.h"
#include "repro/triage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace repro_minify {
namespace {

using testing_support::facts_of;
using testing_support::small_program;

constexpr const char *script = "import torch\nassert False, 'it differs'\n",
                     *heading = "# jit: add is wrong\n# and so on\n";

ReproFacts verified() {
  ReproFacts facts = facts_of(FailureKind::Accuracy, false, false);
  facts.model_path = "secret/place/model.pt";
  facts.verified = true;
  facts.script = {true, "run, and fails the same way", 2};
  facts.reduced.message = "off by 7";
  return facts;
}

std::string issue_of(const ReproFacts &facts, bool has_script = true) {
  const TemporaryFolder folder;
  std::ofstream(folder / "repro.cpp") << "int main() { return 17; }\n";
  if (has_script)
    std::ofstream(folder / "repro.py") << heading << script;
  write_issue(small_program(), facts, folder.path());
  return read_file(folder / "issue.md");
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Issue, HoldsTheScriptWordForWord) {
  const std::string issue = issue_of(verified());
  EXPECT_TRUE(has(issue, std::string("```python\n") + script + "```")) << issue;
  EXPECT_FALSE(has(issue, "int main")) << issue;
  EXPECT_FALSE(has(issue, heading)) << issue;
  EXPECT_TRUE(has(issue, "off by 7")) << issue;
  EXPECT_TRUE(issue.starts_with("TorchScript's profiling executor: add is wrong\n")) << issue;
  EXPECT_FALSE(has(issue, "NOT VERIFIED")) << issue;
  EXPECT_FALSE(has(issue, "secret/place")) << issue;
  EXPECT_TRUE(has(issue, "from the model model:")) << issue;
}

/// Such a value was not replaced by 0 or 1, so that the failure depends on it.
TEST(Title, HasTheValuesOfSmallInputsThatAreParticular) {
  ReproFacts facts = verified();
  facts.script.statement = "x.argmax()";
  LeafReport leaf;
  leaf.same = false;
  leaf.ref_form = leaf.res_form = TensorForm{at::kLong, {}, {}};
  leaf.ref_at_worst = 1;
  leaf.res_at_worst = 0;
  facts.reduced.outcome = Verdict::Outcome::Fail;
  leaf.kinds = {FailureKind::Accuracy};
  facts.reduced.outputs = {leaf};
  const auto title_for = [&](const at::Tensor &x) {
    Program program;
    program.graph = std::make_shared<torch::jit::Graph>();
    InputBuilder builder(program);
    program.graph->registerOutput(
        program.graph->insert(torch::jit::aten::argmax, {builder.add_tensor(x, Role::Input, "x")}));
    return headline(program, facts);
  };
  const std::string backend = "TorchScript's profiling executor: ";
  EXPECT_EQ(title_for(at::tensor({0., NAN})), backend + "`x.argmax()` gives 0, expected 1 for x = [0, nan]");
  EXPECT_EQ(title_for(at::tensor({-0.})), backend + "`x.argmax()` gives 0, expected 1 for x = -0");
  facts.script.statement = "y.argmax()"; // as repro.py may name it
  EXPECT_EQ(title_for(at::tensor({NAN})), backend + "`y.argmax()` gives 0, expected 1 where its input is nan");
  facts.script.statement = "x.argmax()";
  EXPECT_EQ(title_for(at::tensor({0., 1.})), backend + "`x.argmax()` gives 0, expected 1");
  EXPECT_EQ(title_for(at::tensor({2., 3., 4., 5.})), backend + "`x.argmax()` gives 0, expected 1");
}

/// Without the file that registers an operator the script runs on no other machine.
TEST(Issue, HoldsTheFilesThatTheScriptImports) {
  const TemporaryFolder folder;
  for (const char *name : {"repro.py", "test_repro.py", "my_ops.py"})
    std::ofstream(folder / name) << "# " << name << "\nimport torch\n";
  write_issue(small_program(), verified(), folder.path());
  const std::string issue = read_file(folder / "issue.md");
  EXPECT_TRUE(has(issue, "```\n\nmy_ops.py, which it imports:\n\n```python\n# my_ops.py\nimport torch\n```\n"))
      << issue;
  EXPECT_FALSE(has(issue, "# test_repro.py")) << issue;
}

TEST(Issue, HoldsTheCppWhereThereIsNoScript) {
  ReproFacts facts = verified();
  facts.script = {std::nullopt, "Python does not reach it"};
  const std::string issue = issue_of(facts, /*has_script=*/false);
  EXPECT_TRUE(has(issue, "There is no Python for it (Python does not reach it); in C++:")) << issue;
  EXPECT_TRUE(has(issue, "```cpp\nint main() { return 17; }\n```")) << issue;
}

/// After an interruption neither is there.
TEST(Issue, HasNoEmptyBlockOfCode) {
  ReproFacts facts = verified();
  facts.interrupted = true;
  facts.script = {};
  facts.verified.reset();
  const TemporaryFolder folder;
  write_issue(small_program(), facts, folder.path());
  const std::string issue = read_file(folder / "issue.md");
  EXPECT_FALSE(has(issue, "```cpp")) << issue;
  EXPECT_FALSE(has(issue, "in C++:")) << issue;
  EXPECT_TRUE(has(issue, "There is no code for it yet")) << issue;
}

/// The labels that it proposes fit to the reasons for which it may be closed.
TEST(Issue, DoesNotContradictItself) {
  ReproFacts facts = verified();
  for (const char *backend : {"jit", "freeze", "nnc", "pass:peephole"}) {
    facts.backend = make_backend(backend);
    const std::string issue = issue_of(facts);
    EXPECT_TRUE(has(issue, "Likely to be closed, because TorchScript is in maintenance mode")) << issue;
  }
  facts.ablation = {{ablation_names::inductor, "fails in the same way", true}};
  const std::string issue = issue_of(facts);
  EXPECT_FALSE(has(issue, "Likely to be closed")) << issue;
}

TEST(Issue, SaysFirstWhatWasNotVerified) {
  ReproFacts facts = verified();
  facts.verified = false;
  facts.script = {false, "passes"};
  facts.verify_message = "it passes";
  EXPECT_TRUE(issue_of(facts).starts_with("NOT VERIFIED: "));
  EXPECT_TRUE(has(issue_of(facts), "> **The repro did not verify: it passes**"));
  facts.verified.reset();
  facts.script.verified.reset();
  EXPECT_TRUE(has(issue_of(facts), "> **The repro was not verified: it passes**"));
  facts.interrupted = true;
  EXPECT_TRUE(issue_of(facts).starts_with("INTERRUPTED, NOT VERIFIED: "));
  facts.script.verified = true;
  EXPECT_TRUE(issue_of(facts).starts_with("INTERRUPTED: "));
  EXPECT_TRUE(has(issue_of(facts), "The script was run and fails as is said; repro.cpp was not verified."));
}

TEST(Issue, HasOneLineAsItsTitle) {
  ReproFacts facts = facts_of(FailureKind::Exception, false, false);
  facts.verified = true;
  facts.signature.detail = "`a`\n<b>" + std::string(400, 'x');
  facts.reduced.message = "raised " + facts.signature.detail;
  const std::string issue = issue_of(facts), title = issue.substr(0, issue.find('\n'));
  EXPECT_LE(title.size(), 256);
  EXPECT_EQ(title.find_first_of("`<"), std::string::npos) << title; // of a message
  EXPECT_TRUE(has(issue, "Eager runs the same program without an exception.")) << issue;
}

/// "gives float32[2, 2], expected float32[2, 2]" says nothing.
TEST(Issue, SaysInItsTitleWhatIsWrongAboutATensorOfTheRightType) {
  ReproFacts facts = facts_of(FailureKind::Structure, false, false);
  facts.verified = true;
  LeafReport leaf;
  leaf.same = false;
  leaf.kinds = {FailureKind::Structure};
  leaf.ref_type = leaf.res_type = "float32[2, 2]";
  leaf.ref_form = TensorForm{.sizes = {2, 2}, .strides = {1, 2}};
  leaf.res_form = TensorForm{.sizes = {2, 2}, .strides = {2, 1}};
  facts.reduced.outputs = {leaf};
  EXPECT_TRUE(has(issue_of(facts), "gives strides [2, 1], expected strides [1, 2]")) << issue_of(facts);
  facts.signature.kind = FailureKind::Nan;
  facts.reduced.outputs[0].kinds = {FailureKind::Nan};
  facts.reduced.outputs[0].special_index = 1;
  facts.reduced.outputs[0].ref_special = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(has(issue_of(facts), "gives 0 at [0, 1], expected nan")) << issue_of(facts);
  facts.reduced.outputs[0].ref_form->sizes = {1, 1};
  facts.reduced.outputs[0].ref_special = -(facts.reduced.outputs[0].res_special = INFINITY);
  EXPECT_TRUE(has(issue_of(facts), "gives inf, expected -inf")) << issue_of(facts);
}

TEST(Issue, SaysWhyEagerIsRight) {
  ReproFacts facts = verified();
  LeafReport leaf;
  leaf.same = false;
  leaf.ref_error = 0.25;
  leaf.res_error = 8;
  facts.reduced.outputs = {leaf};
  EXPECT_TRUE(has(issue_of(facts), "RMSE of eager 0.25, of TorchScript's profiling executor 8.")) << issue_of(facts);
  facts.reduced.outputs.at(0).ref_error = facts.reduced.outputs.at(0).res_error = 0; // NaN on one side: nothing is left
  EXPECT_FALSE(has(issue_of(facts), "RMSE of eager")) << issue_of(facts);
  facts.reduced.outputs.front().res_error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(has(issue_of(facts), "profiling executor no number.")) << issue_of(facts);
}

TEST(Issue, SaysOfInductorWhatIsKnown) {
  ReproFacts facts = verified();
  EXPECT_TRUE(has(issue_of(facts), "- Other settings were not tried."));
  facts.ablation = {{"jit, without gradients", "fails in the same way", true}};
  EXPECT_TRUE(has(issue_of(facts), "- Not asked: inductor\n"));
  facts.ablation.push_back({ablation_names::inductor, "not asked: there is no Python", std::nullopt});
  EXPECT_FALSE(has(issue_of(facts), "- Not asked: inductor\n"));
  EXPECT_TRUE(has(issue_of(facts), "- Not asked: there is no Python: inductor\n"));
  EXPECT_TRUE(has(issue_of(facts), "whether inductor is too is not known"));
  facts.ablation.back() = {ablation_names::inductor, "passes", false};
  EXPECT_TRUE(has(issue_of(facts), "only TorchScript is wrong"));
}

TEST(Issue, SaysNothingOfTheModelWhereThatIsAsked) {
  ReproFacts facts = verified();
  facts.anonymous = true;
  EXPECT_FALSE(has(issue_of(facts), "from the model"));
  EXPECT_TRUE(has(issue_of(facts), "PyTorch version: 2.0 (LibTorch)"));
  facts.environment = "what collect_env says";
  EXPECT_TRUE(has(issue_of(facts), "what collect_env says"));
}

TEST(Issue, FoldsTheProcessorAndLeavesOutItsVulnerabilities) {
  ReproFacts facts = verified();
  facts.environment =
      "PyTorch version: 2.0\n\nCPU:\nVendor ID: x\nVulnerability Mds: no\n\nVersions of relevant libraries:\nnumpy";
  const std::string issue = issue_of(facts);
  EXPECT_TRUE(has(issue, "```\nCPU:\nVendor ID: x\n```\n\n</details>")) << issue;
  EXPECT_TRUE(has(issue, "```\nPyTorch version: 2.0\n\n\nVersions of relevant libraries:\nnumpy\n```")) << issue;
  EXPECT_FALSE(has(issue, "Vulnerability")) << issue;
}

TEST(Issue, BeginsWithWhatIsWrongAndWhoseFaultItIs) {
  ReproFacts facts = verified();
  LeafReport leaf;
  leaf.same = false;
  leaf.kinds = {FailureKind::Accuracy};
  leaf.ref_form = leaf.res_form = TensorForm{at::kFloat, {2, 3}, {3, 1}};
  leaf.worst_index = 4;
  leaf.ref_at_worst = 1;
  leaf.res_at_worst = -0.29340001;
  facts.reduced.outputs = {leaf};
  facts.script.statement = "x._f(y[`a`])";
  facts.bisection.emplace().guilty = "inductor/lowerings#2";
  facts.bisection->message = "wrong after inductor/lowerings#2";
  facts.bisection->kind = StepKind::Lowering;
  facts.bisection->name = "gt";
  const std::string issue = issue_of(facts);
  EXPECT_TRUE(
      issue.starts_with("TorchScript's profiling executor: `x._f(y[`a`])` gives -0.2934 at [1, 1], expected 1\n"))
      << issue;
  EXPECT_TRUE(has(issue, " Wrong after inductor/lowerings#2")) << issue;
  facts.reads_unwritten = true;
  EXPECT_TRUE(issue_of(facts).starts_with(
      "TorchScript's profiling executor: `x._f(y[`a`])` gives what lay in memory, expected 1\n"))
      << issue_of(facts);
  facts.reads_unwritten = false;
  facts.bisection.reset();
  EXPECT_TRUE(has(issue_of(facts), "Under TorchScript's profiling executor, `` x._f(y[`a`]) `` gives `-0.2934` at "
                                   "`[1, 1]`, expected `1`."))
      << issue_of(facts);
  facts.reduced.outputs[0].res_at_worst = 1.0000001; // with as many digits as show a difference
  EXPECT_TRUE(has(issue_of(facts), "gives `1.0000001` at `[1, 1]`, expected `1`")) << issue_of(facts);
  facts.reduced.outputs[0].ref_at_worst = 1.0000002;
  EXPECT_TRUE(has(issue_of(facts), "gives `1.0000001` at `[1, 1]`, expected `1.0000002`")) << issue_of(facts);
}

/// The rungs of torch.compile, from the first to the last.
std::vector<AblationRow> ladder(bool dynamo, bool aot_eager, bool partitioned) {
  return {{"inductor, without gradients", "fails in the same way", true},
          {ablation_names::dynamo, "", dynamo},
          {ablation_names::aot_eager, "", aot_eager},
          {ablation_names::partitioned, "", partitioned}};
}

TEST(Issue, BeginsWithWhereItFailsAndWithoutWhatItIsRight) {
  ReproFacts facts = verified();
  facts.backend = make_backend("inductor");
  facts.ablation = ladder(false, false, false);
  facts.bisection.emplace().guilty = "inductor/post_grad_passes#12";
  facts.bisection->name = "reinplace_inplaceable_ops";
  facts.bisection->confirmed = true;
  facts.ablation.push_back({"inductor, dynamic=True", "passes", false, "dynamic=True"});
  facts.ablation.push_back({"inductor, cpp.simdlen=1", "fails in the same way", true, "cpp.simdlen=1"});
  EXPECT_TRUE(has(issue_of(facts),
                  " `backend=\"aot_eager_decomp_partition\"` is right, so the fault is in TorchInductor. "
                  "With `dynamic=True` it is right. Without `reinplace_inplaceable_ops` it is right.\n"))
      << issue_of(facts);
  facts.bisection->guilty = "inductor/lowerings#2";
  facts.bisection->kind = StepKind::Lowering;
  facts.bisection->name = "gt";
  EXPECT_TRUE(has(issue_of(facts), "A fallback in place of TorchInductor's lowering of `gt`")) << issue_of(facts);
  facts.explanation = {"in", "ids + 1", "torch.int64"};
  EXPECT_FALSE(has(issue_of(facts), "A fallback in place")) << "it may be the lowering of another's operator";
  EXPECT_TRUE(issue_of(facts).starts_with("torch.compile: `ids + 1` is computed and kept in int64; "))
      << issue_of(facts);
  EXPECT_TRUE(
      has(issue_of(facts), "\n\nEager gives the same wrong result if `ids + 1` is computed and kept in int64. "));
  facts.explanation.reset();
  facts.bisection->guilty = "inductor/inductor_layout_optimization";
  facts.bisection->kind = StepKind::Setting;
  facts.bisection->name = "layout_optimization";
  facts.bisection->setting = "layout_optimization=False";
  EXPECT_TRUE(has(issue_of(facts), " With `layout_optimization=False` it is "
                                   "right."))
      << issue_of(facts);
  facts.ablation = ladder(false, true, true);
  facts.ablation.push_back({ablation_names::functionalized, "", true});
  facts.bisection->guilty = "aot_eager";
  facts.bisection->kind = StepKind::Compiler;
  EXPECT_TRUE(has(issue_of(facts), " It fails with `backend=\"aot_eager\"` too, and under "
                                   "`torch.func.functionalize` alone; `backend=\"eager\"` is right.\n"))
      << issue_of(facts);
}

/// The title and the log have its message.
TEST(Issue, DoesNotRepeatAnException) {
  ReproFacts facts = facts_of(FailureKind::Exception, false, false);
  facts.backend = make_backend("inductor");
  facts.ablation = ladder(false, false, false);
  EXPECT_TRUE(
      has(issue_of(facts), "\n\n`backend=\"aot_eager_decomp_partition\"` passes, so the fault is in TorchInductor."))
      << issue_of(facts);
}

/// repro.py is written before the parts of AOTAutograd are asked, and its heading contradicts no title.
TEST(Issue, NamesThePartOfAotAutogradWhereThatIsKnown) {
  ReproFacts facts = verified();
  facts.backend = make_backend("inductor");
  facts.bisection.emplace().guilty = "aot_eager";
  facts.bisection->kind = StepKind::Compiler;
  const Program program = small_program();
  EXPECT_FALSE(has(headline(program, facts, ""), "(")) << headline(program, facts, "");
  facts.ablation = {{ablation_names::functionalized, "", false}, {ablation_names::decomposed, "", false}};
  EXPECT_TRUE(headline(program, facts, "").ends_with(" (AOTAutograd)")) << headline(program, facts, "");
  facts.ablation.front().fails = true;
  EXPECT_TRUE(headline(program, facts, "").ends_with(" (functionalization)")) << headline(program, facts, "");
}

TEST(Title, HasNoHalfOfARemark) {
  ReproFacts facts = facts_of(FailureKind::Exception, false, false);
  facts.backend = make_backend("inductor");
  const std::string begin = "view size is not compatible with input tensor's size and stride";
  facts.reduced.message = begin + " (at least one dimension spans across two contiguous subspaces)";
  const std::string title = headline(small_program(), facts, "");
  EXPECT_TRUE(has(title, begin + " ...")) << title;
}

TEST(Issue, NamesTheExceptionThatIsRaised) {
  ReproFacts facts = verified();
  facts.backend = make_backend("inductor");
  facts.signature = {FailureKind::Exception, "", ""};
  facts.reduced.message = "view size is not compatible with the input: use reshape. And more";
  EXPECT_TRUE(headline(small_program(), facts, "")
                  .ends_with(" raises RuntimeError: view size is not compatible with the input: use reshape"));
  facts.reduced.message = "ValueError: 'nan' is not comparable";
  EXPECT_TRUE(headline(small_program(), facts, "").ends_with(" raises ValueError: 'nan' is not comparable"));
  facts.reduced.message = "C++ compile error: use of undeclared identifier";
  EXPECT_TRUE(
      headline(small_program(), facts, "").ends_with(" raises C++ compile error: use of undeclared identifier"));
  facts.reduced.message = "DispatchError: nothing for <OpOverload(op='aten.median')> -> Tensor, a < b";
  EXPECT_TRUE(headline(small_program(), facts, "")
                  .ends_with(" raises DispatchError: nothing for OpOverload(op='aten.median') -> Tensor, a   b"));
}

} // namespace
} // namespace repro_minify
