// repro.cpp as text: what goes into the file, what goes beside it, and that a model's text cannot break out.
#include "program/fixture.h"
#include "repro/small_program.h"
#include "repro/torchscript_source.h"
#include "repro_minify/repro.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace repro_minify {
namespace {

using testing_support::write;
using testing_support::Written;

ReproFacts facts_for(const std::string &backend, Signature signature, std::string message) {
  ReproFacts facts;
  facts.version = "test";
  facts.torch_version = "test";
  facts.backend = make_backend(backend);
  facts.signature = std::move(signature);
  facts.reduced.message = std::move(message);
  return facts;
}

Program program_of(const std::string &name) {
  const auto loaded = testing_support::load_case(name);
  return flatten_calls(loaded.model, loaded.inputs.values);
}

TEST(ReproCpp, ASmallProgramIsOneFile) {
  const Written written =
      write(program_of("static_int_div_exc"), facts_for("static-runtime", {FailureKind::Exception, "", ""}, "m"));
  EXPECT_FALSE(written.files.inputs_from_file);
  EXPECT_FALSE(written.files.module_from_file);
  EXPECT_NE(written.source.find("torch::tensor({1, 2, 3, 4, 5, 6}, at::kLong)"), std::string::npos) << written.source;
  EXPECT_NE(written.source.find("torch.div("), std::string::npos) << written.source;
  EXPECT_NE(written.source.find("torch::jit::StaticModule"), std::string::npos);
}

TEST(ReproCpp, OneOperatorTakesFortyLines) {
  Program program;
  program.graph = std::make_shared<torch::jit::Graph>();
  InputBuilder builder(program);
  torch::jit::Value *input = builder.add_tensor(at::ones({2}), Role::Input, "x", Formula{.kind = Formula::Kind::Ones});
  program.graph->registerOutput(program.graph->insert(torch::jit::aten::relu, {input}));
  const Written written = write(program, facts_for("freeze", {FailureKind::Accuracy, "output", ""}, "m"));
  EXPECT_LE(std::count(written.source.begin(), written.source.end(), '\n'), 40) << written.source;
  EXPECT_NE(written.source.find("const bool same = at::allclose("), std::string::npos) << written.source;
}

TEST(ReproCpp, LargeDataTravelsBesideIt) {
  const Written written = write(program_of("big_ofi_clamp_min"),
                                facts_for("optimize-for-inference", {FailureKind::Exception, "", ""}, "m"));
  EXPECT_TRUE(written.files.inputs_from_file);
  EXPECT_TRUE(written.files.module_from_file);
  EXPECT_LT(written.source.size(), 64u * 1024u);
  EXPECT_NE(written.source.find("beside(\"reduced.pt\")"), std::string::npos);
  EXPECT_NE(written.source.find("beside(\"inputs.pt\")"), std::string::npos);
}

TEST(ReproCpp, ValuesAreExact) {
  Program program = program_of("static_int_div_exc");
  program.inputs[0].value = at::tensor({0.1f, INFINITY, -INFINITY, NAN, 1e-45f, 16777216.0f});
  const Written written = write(program, facts_for("eager", {FailureKind::Accuracy, "output", ""}, "m"));
  EXPECT_NE(written.source.find("std::vector<double>{0.1, INFINITY, -INFINITY, NAN, 1e-45, 16777216.0}"),
            std::string::npos)
      << written.source;
}

TEST(ReproCpp, StridesAreKept) {
  Program program = program_of("static_int_div_exc");
  program.inputs[0].value = at::arange(6, at::kLong).reshape({2, 3}).t();
  const Written written = write(program, facts_for("eager", {FailureKind::Accuracy, "output", ""}, "m"));
  EXPECT_NE(written.source.find(".as_strided({3, 2}, {1, 3}, 0)"), std::string::npos) << written.source;
}

TEST(ReproCpp, OfASparseTensorSaysWhereItsValuesAre) {
  Program program = program_of("static_int_div_exc");
  program.inputs[0].value = at::tensor({0.0F, 2.0F, 0.0F, 3.0F}).reshape({2, 2}).to_sparse();
  const Written written = write(program, facts_for("eager", {FailureKind::Accuracy, "output", ""}, "m"));
  EXPECT_FALSE(written.files.inputs_from_file);
  EXPECT_NE(written.source.find("at::sparse_coo_tensor(torch::tensor({0, 1, 1, 1}, at::kLong).reshape({2, 2}), "
                                "torch::tensor({2.0, 3.0}, at::kFloat), {2, 2})._coalesced_(true)"),
            std::string::npos)
      << written.source;
}

TEST(ReproCpp, AMessageStaysInItsComment) {
  const Written written =
      write(program_of("static_int_div_exc"),
            facts_for("static-runtime", {FailureKind::Exception, "", ""}, "evil\nint main() { return 0; }\\\n*/ \x01"));
  EXPECT_EQ(written.source.find("\nint main() { return 0; }"), std::string::npos);
  EXPECT_NE(written.source.find("// int main() { return 0; }"), std::string::npos);
}

TEST(ReproCpp, ACrashIsGivenAProcessOfItsOwn) {
  const Written written =
      write(program_of("static_int_div_exc"), facts_for("jit", {FailureKind::Crash, "", "signal 11", 11}, "m"));
  EXPECT_NE(written.source.find("fork()"), std::string::npos);
  EXPECT_NE(written.source.find("WIFSIGNALED"), std::string::npos);
}

TEST(TorchscriptSource, NumbersAreShortAndNamesAreReadable) {
  const std::string source = torchscript_source(program_of("freeze_linear_bn_3d"));
  EXPECT_EQ(source.find("0.10000000000000001"), std::string::npos) << source;
  EXPECT_NE(source.find("self.fc_weight"), std::string::npos) << source;
}

TEST(TorchscriptSource, AHiddenAliasIsAMethodOfItsOwn) {
  const auto loaded = testing_support::load_case("jit_type_as_dce");
  const Recording recording =
      record(flatten_calls(loaded.model, loaded.inputs.values), {}, testing_support::test_limits());
  const std::string source = torchscript_source(recording.program);
  EXPECT_NE(source.find("def call_type_as(self"), std::string::npos) << source;
  EXPECT_TRUE(source_is_faithful(recording.program, source));
}

} // namespace
} // namespace repro_minify
