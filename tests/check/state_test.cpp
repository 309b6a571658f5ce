// State that neither side wrote to is neither copied nor compared; a write is found out, whatever way it takes.
#include "check/initial_state.h"
#include "check/test_backend.h"
#include "core/files.h"
#include "program/fixture.h"
#include "program/shared_pages.h"
#include "program/values.h"
#include "repro_minify/archive.h"
#include "repro_minify/check.h"
#include "repro_minify/sandbox.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using Meddling = std::function<void(torch::jit::Module &, std::vector<c10::IValue> &)>;

/// A backend that runs the module before something of the test's choice.
std::shared_ptr<const Backend> backend_that_meddles(const Meddling &meddling) {
  return testing_support::backend_that(
      [meddling](torch::jit::Module module) -> Compiled {
        return [module, meddling](std::vector<c10::IValue> arguments) mutable {
          c10::IValue result = module.forward(arguments);
          meddling(module, arguments);
          return result;
        };
      },
      {.runs_the_module = true});
}

/// Parameters of `width` squared, with shared pages where that is large.
ModuleFactory subject_of_width(int64_t width, const std::string &forward = "return torch.linear(x, self.weight)") {
  const at::Tensor weight = at::arange(width * width, at::kFloat).view({width, width}) / 1e4;
  const at::Tensor buffer = at::ones({width, width});
  share_pages(weight);
  share_pages(buffer);
  return [=](const InstantiateOptions &options) {
    SharedCloner cloner({.double_precision = options.double_precision});
    torch::jit::Module module("__torch__.Wide");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.register_parameter("weight", cloner.clone(weight), false);
    module.register_buffer("buffer", cloner.clone(buffer));
    module.define("def forward(self, x: Tensor):\n  " + forward + "\n");
    return Instance{module, {cloner.clone(at::ones({2, width}))}};
  };
}

Verdict checked(const ModuleFactory &factory, const Meddling &meddling) {
  return check(factory, backend_that_meddles(meddling), {}, testing_support::test_limits());
}

/// Returns the path of the first state that is not what it should be; empty if there is none.
std::string wrong_state(const Verdict &verdict) {
  for (const LeafReport &leaf : verdict.state)
    if (!leaf.same)
      return leaf.path;
  return "";
}

class State : public testing::TestWithParam<int> {};

TEST_P(State, ThatIsNotWrittenToPasses) {
  const Verdict verdict = checked(subject_of_width(GetParam()), [](auto &, auto &) {});
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::Pass) << verdict.message;
  ASSERT_EQ(verdict.state.size(), 2u); // the buffer and the input: a parameter that was not written to is no news
  EXPECT_EQ(verdict.state[0].path, "buffer buffer");
  EXPECT_TRUE(verdict.state[0].same);
}

TEST_P(State, AWriteThroughAPointerIsFound) {
  for (const char *name : {"weight", "buffer"}) {
    const Verdict verdict = checked(subject_of_width(GetParam()), [name](auto &module, auto &) {
      module.attr(name).toTensor().template mutable_data_ptr<float>()[1] = 1e6;
    });
    ASSERT_EQ(verdict.outcome, Verdict::Outcome::Fail) << name;
    EXPECT_EQ(verdict.signatures.front().where, "state") << name;
    EXPECT_NE(wrong_state(verdict).find(name), std::string::npos) << verdict.message;
  }
}

TEST_P(State, AParameterWithAnotherStorageIsFound) {
  const Verdict verdict = checked(subject_of_width(GetParam()), [](auto &module, auto &) {
    at::Tensor weight = module.attr("weight").toTensor();
    weight.set_data(weight + 1);
  });
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Fail);
  EXPECT_EQ(verdict.signatures.front().where, "state");
}

TEST_P(State, AWriteThatOnlyEagerMakesIsFound) {
  const ModuleFactory factory =
      subject_of_width(GetParam(), "self.buffer.fill_(3)\n  return torch.linear(x, self.weight)");
  const Verdict wrong = checked(factory, [](auto &module, auto &) { module.attr("buffer").toTensor().fill_(1); });
  ASSERT_EQ(wrong.outcome, Verdict::Outcome::Fail) << wrong.message;
  EXPECT_EQ(wrong.signatures.front().where, "state");
  EXPECT_EQ(checked(factory, [](auto &, auto &) {}).outcome, Verdict::Outcome::Pass);
}

TEST_P(State, AnArgumentThatIsWrittenToIsFound) {
  const Verdict verdict = checked(subject_of_width(GetParam()), [](auto &, auto &arguments) {
    arguments[0].toTensor().template mutable_data_ptr<float>()[0] = -1e6;
  });
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::Fail);
  EXPECT_NE(wrong_state(verdict).find("input 0"), std::string::npos) << verdict.message;
}

INSTANTIATE_TEST_SUITE_P(OfWidth, State, testing::Values(4, 256));

// ---------------------------------------------------------------------------------------------------------------------
// Memory

std::string saved_layers(const TemporaryFolder &folder, int64_t width, int layers) {
  torch::jit::Module module("__torch__.Layers");
  module.register_attribute("training", c10::BoolType::get(), false);
  std::string forward = "def forward(self, x: Tensor):\n";
  for (int i = 0; i < layers; ++i) {
    const std::string name = "w" + std::to_string(i);
    module.register_parameter(name, at::ones({width, width}) / static_cast<double>(width), false);
    forward += "  x = torch.relu(torch.linear(x, self." + name + "))\n";
  }
  module.define(forward + "  return x\n");
  std::string path = folder / ("layers" + std::to_string(width) + ".pt");
  module.save(path);
  let_children_read(path);
  return path;
}

std::uint64_t peak_of_check(const std::string &path, int64_t width, const std::string &backend) {
  Archive archive{path, {at::ones({1, width})}};
  archive.loaded = torch::jit::load(path);
  share_pages(*archive.loaded);
  const ModuleFactory factory = [&](const InstantiateOptions &options) { return instantiate(archive, options); };
  const JobEnd job_end = run_in_sandbox(check_job(factory, make_backend(backend), {}), testing_support::test_limits());
  EXPECT_EQ(verdict_of(job_end).outcome, Verdict::Outcome::Pass) << verdict_of(job_end).message;
  return job_end.peak_rss_bytes;
}

/// 64 MB in four parameters. What a check of next to nothing takes is LibTorch.
TEST(MemoryOfACheck, IsAtMostThreeTimesTheArchive) {
  const TemporaryFolder folder;
  const std::string small = saved_layers(folder, 8, 4), large = saved_layers(folder, 2048, 4);
  const auto bytes = static_cast<double>(std::filesystem::file_size(large));
  for (const char *backend : {"freeze", "jit", "static-runtime", "inductor-like"}) {
    const double added = static_cast<double>(peak_of_check(large, 2048, backend)) -
                         static_cast<double>(peak_of_check(small, 8, backend));
    EXPECT_LT(added, 3 * bytes) << backend << ": " << added / bytes << " times the archive";
  }
}

} // namespace
} // namespace repro_minify
