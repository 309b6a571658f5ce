// Every repro.cpp that can be written compiles: all of them in one file, so that LibTorch's headers are read once.
#include "all_tests.h"
#include "check/oracle.h"
#include "core/files.h"
#include "program/fixture.h"
#include "program/formula.h"
#include "program/hostile_names.h"
#include "program/materialise.h"
#include "repro/small_program.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/repro.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace repro_minify {
namespace {

/// Each file in a namespace of its own, main() included, behind the #include lines of all.
class OneFile {
public:
  void add(const std::string &repro) {
    std::istringstream lines(repro);
    body_ << "namespace repro_" << count_++ << " {\n";
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("#include ") || line.starts_with("namespace torch::")) // what LibTorch declares, in effect
        includes_.insert(line);
      else
        body_ << line << "\n";
    body_ << "}\n\n";
  }

  int count() const { return count_; }

  /// Returns the compiler's messages and exit status, or an empty string if everything compiles.
  std::string complaints() const {
    const TemporaryFolder folder;
    const std::string file = folder / "repros.cpp";
    std::ofstream text(file);
    for (const auto &line : includes_)
      text << line << "\n";
    text << body_.str();
    text.close();
    const auto [output, status] =
        run_shell(std::string(test_paths::cxx) + " -std=gnu++20 -fsyntax-only -Wall -Werror -Wno-unused-function " +
                  test_paths::torch_flags + " '" + file + "'");
    return status == 0 ? "" : output.substr(0, 4000) + "\nexit status " + std::to_string(status);
  }

private:
  std::set<std::string> includes_;
  std::ostringstream body_;
  int count_ = 0;
};

using testing_support::facts_of;
using testing_support::small_program;
using testing_support::write;
using testing_support::Written;
constexpr auto &kinds = testing_support::all_kinds;

/// Every rule that a comparison may have been made under; the first two for each kind of run.
std::vector<CompareOptions> rules() {
  std::vector<CompareOptions> result;
  for (const auto rule :
       {CompareRule::Default, CompareRule::Strict, CompareRule::PyTorch, CompareRule::Close, CompareRule::Exact}) {
    result.push_back(accuracy_check_options());
    result.back().rule = rule;
    result.back().tol_by_dtype = rule == CompareRule::Close;
    result.back().tol = rule == CompareRule::Strict ? 1e-6 : result.back().tol;
  }
  return result;
}

void add_every_kind(OneFile &all, const Program &program) {
  for (const FailureKind kind : kinds)
    for (const bool grad : {false, true})
      for (const bool autocast : {false, true})
        for (const auto &rule : rules()) {
          const bool usual = rule.rule == CompareRule::Default || rule.rule == CompareRule::Strict;
          if (!usual && (grad || autocast || !is_comparison(kind)))
            continue;
          if (grad != autocast && !everything_is_asked_for())
            continue;
          ReproFacts facts = facts_of(kind, grad, autocast);
          facts.check.compare = rule;
          all.add(write(program, facts).source);
        }
}

/// Adds, for each kind, sources with the other facts that the text depends on.
void add_variants(OneFile &all, const Program &program) {
  for (const FailureKind kind : kinds) {
    ReproFacts facts = facts_of(kind, true, false);
    facts.signature.where = is_comparison(kind) ? "state" : "";
    facts.reduced.stateful = true;
    facts.reduced.failing_call = 3;
    facts.needs_determinism = true;
    facts.original_runs = 5;
    facts.reads_unwritten = true;
    all.add(write(program, facts).source);
    facts.check.device = at::Device("cuda:0");
    facts.check.autocast = true;
    facts.check.autocast_dtype = at::kHalf;
    all.add(write(program, facts).source);
  }
}

/// All passes have one text but for the name: a few of them are compiled where not everything is asked for.
void add_backends(OneFile &all, const Program &program) {
  int passes = 0;
  for (const auto &row : list_backends())
    if (row.name != "inductor" && row.name.find_first_of("<:PC") == std::string::npos)
      all.add(write(program, facts_of(FailureKind::Accuracy, false, false, row.name)).source);
    else if (row.name.starts_with("pass:") && (passes++ < 4 || everything_is_asked_for()))
      all.add(write(program, facts_of(FailureKind::Accuracy, false, false, row.name)).source);
}

/// Data of every dtype, shared and strided memory, what travels in files.
void add_values(OneFile &all) {
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kBool, at::kByte, at::kChar,
                           at::kShort, at::kInt, at::kLong, at::kComplexFloat, at::kComplexDouble}) {
    Program program = small_program(dtype);
    for (auto &input : program.inputs)
      input.formula.reset();
    const at::Tensor memory = at::arange(24, at::kLong).to(dtype).reshape({4, 6});
    program.inputs[0].value = memory.narrow(0, 1, 2);
    program.inputs[1].value = memory.t();
    program.inputs[2].value = at::ones({6}, dtype);
    program.inputs[3].value = program.inputs[2].value.toTensor().narrow(0, 2, 3);
    program.inputs[4].value = at::zeros({0}, dtype);
    all.add(write(program, facts_of(FailureKind::Accuracy, true, false)).source);
  }
  Program large = small_program();
  large.inputs[0].value = at::arange(40000, at::kFloat) / 7;
  large.inputs[0].formula.reset();
  large.inputs[2].value = large.inputs[0].value;
  for (const FailureKind kind : kinds) {
    const Written written = write(large, facts_of(kind, true, true));
    EXPECT_TRUE(written.files.inputs_from_file && written.files.module_from_file);
    all.add(written.source);
  }
}

/// Returns a program that adds up one input for each hostile name in every role.
Program program_with_names() {
  Program program;
  program.graph = std::make_shared<torch::jit::Graph>();
  InputBuilder builder(program);
  torch::jit::Value *sum = nullptr;
  int number = 0;
  for (const auto role : {Role::Input, Role::Parameter, Role::Buffer})
    for (const auto &name : testing_support::hostile_names()) {
      const double value = ++number % 7;
      torch::jit::Value *next = builder.add_tensor(at::full({1}, value), role, name, full_formula(value));
      sum = sum ? program.graph->insert(torch::jit::aten::add, {sum, next}) : next;
    }
  program.graph->registerOutput(sum);
  return program;
}

/// A program that returns a tensor, a whole number and a list of numbers.
Program program_with_numbers() {
  Program program = small_program();
  torch::jit::Graph &graph = *program.graph;
  graph.registerOutput(graph.insert(torch::jit::aten::dim, {graph.outputs()[0]}));
  graph.registerOutput(graph.insert(torch::jit::aten::size, {graph.outputs()[0]}));
  return program;
}

/// Adds what takes a statement for each side, for every backend and every kind that has such a form.
void add_plain(OneFile &all) {
  Program program = small_program();
  for (auto &input : program.inputs)
    input.role = input.role == Role::Constant ? Role::Buffer : input.role;
  for (const auto &row : list_backends())
    if (row.name != "inductor" && row.name.find_first_of("<:PC") == std::string::npos)
      for (const FailureKind kind :
           {FailureKind::Accuracy, FailureKind::Nan, FailureKind::Dtype, FailureKind::Shape, FailureKind::Exception}) {
        ReproFacts facts = facts_of(kind, false, false, row.name);
        LeafReport &leaf = facts.reduced.outputs.emplace_back();
        leaf.same = false;
        leaf.kinds = {kind};
        leaf.ref_form = leaf.res_form = TensorForm{at::kFloat, {2}, {1}};
        leaf.ref_inf = leaf.res_inf = 0;
        facts.reduced.failing_call = kind == FailureKind::Accuracy ? 3 : 1;
        const std::string source = write(program, facts).source;
        const bool has_own_code = facts.backend->parts().generated || !facts.backend->source().file_scope.empty();
        EXPECT_EQ(source.find("static bool fails(") == std::string::npos, !has_own_code) << row.name << source;
        all.add(source);
      }
}

TEST(EmittedCpp, CompilesWhateverTheFailure) {
  OneFile all;
  const Program program = small_program();
  add_every_kind(all, program);
  add_variants(all, program);
  add_backends(all, program);
  add_values(all);
  add_plain(all);
  for (const FailureKind kind : kinds)
    all.add(write(program_with_numbers(), facts_of(kind, false, false)).source);
  const Program names = program_with_names();
  const Written with_names = write(names, facts_of(FailureKind::Accuracy, true, false));
  EXPECT_FALSE(with_names.files.module_from_file) << "TorchScript does not take the names";
  EXPECT_FALSE(with_names.files.inputs_from_file);
  all.add(with_names.source);
  EXPECT_GT(all.count(), everything_is_asked_for() ? 120 : 80);
  EXPECT_EQ(all.complaints(), "");
}

TEST(EmittedCpp, TheTestSeesWhatDoesNotCompile) {
  OneFile fine, wrong;
  fine.add("int f(int new_0) { return new_0; }\n");
  EXPECT_EQ(fine.complaints(), "");
  wrong.add("int f(int new) { return new; }\n");
  EXPECT_NE(wrong.complaints(), "");
}

TEST(EmittedPython, TakesTheSameNames) {
  if (std::string(test_paths::python).empty())
    GTEST_SKIP() << "no Python with torch here";
  const TemporaryFolder folder;
  save_program(program_with_names(), folder.path(), false);
  const auto root = std::filesystem::path(test_paths::fixtures).parent_path();
  const auto [output, status] =
      run_shell(std::string(test_paths::python) + " -B '" + (root / "tests/repro/names_in_python.py").string() + "' '" +
                (root / "src/backends/inductor").string() + "' '" + folder.path().string() + "'");
  EXPECT_EQ(status, 0) << output;
}

} // namespace
} // namespace repro_minify
