// Tests that what a backend switches on in the executor does not outlive its run, however that ends.
#include "repro_minify/run_settings.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/codegen/fuser/interface.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/tensorexpr/kernel.h>

#include <stdexcept>

namespace repro_minify {
namespace {

namespace jit = torch::jit;

std::vector<bool> switches() {
  return {jit::getGraphExecutorOptimize(), jit::getProfilingMode(),    jit::getExecutorMode(),
          jit::tensorExprFuserEnabled(),   jit::canFuseOnCPU(),        jit::tensorexpr::getTEMustUseLLVMOnCPU(),
          jit::autocastEnabled(),          at::GradMode::is_enabled(), at::autocast::is_autocast_enabled(at::kCPU)};
}

void switch_everything_and_throw() {
  const RunScope scope({.grad = true, .autocast = true});
  scope.begin_run();
  EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
  jit::setGraphExecutorOptimize(!jit::getGraphExecutorOptimize());
  jit::getProfilingMode() = !jit::getProfilingMode();
  jit::setTensorExprFuserEnabled(!jit::tensorExprFuserEnabled());
  jit::overrideCanFuseOnCPU(!jit::canFuseOnCPU());
  jit::tensorexpr::getTEMustUseLLVMOnCPU() = !jit::tensorexpr::getTEMustUseLLVMOnCPU();
  jit::setAutocastMode(!jit::autocastEnabled());
  throw std::runtime_error("as a backend does");
}

TEST(RunScope, LeavesTheExecutorAsItWasWhenItIsLeftByAnException) {
  const auto before = switches();
  const auto dtype = at::autocast::get_autocast_dtype(at::kCPU);
  EXPECT_THROW(switch_everything_and_throw(), std::runtime_error);
  EXPECT_EQ(switches(), before);
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), dtype);
}

} // namespace
} // namespace repro_minify
