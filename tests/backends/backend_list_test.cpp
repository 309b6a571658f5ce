#include "backends/backend_registry.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using Names = std::vector<std::string>;

TEST(BackendList, OneOrSeveral) {
  EXPECT_EQ(split_backend_names({"freeze"}), Names{"freeze"});
  EXPECT_EQ(split_backend_names({"freeze,jit"}), (Names{"freeze", "jit"}));
  EXPECT_EQ(split_backend_names({"freeze", "nnc,jit"}), (Names{"freeze", "nnc", "jit"}));
}

TEST(BackendList, PassesBelongToTheirPass) {
  EXPECT_EQ(split_backend_names({"pass:peephole,cse"}), Names{"pass:peephole,cse"});
  EXPECT_EQ(split_backend_names({"pass:fuse_add_relu,cse,optimize_for_inference,jit"}),
            (Names{"pass:fuse_add_relu,cse", "optimize_for_inference", "jit"}));
  EXPECT_EQ(split_backend_names({"pass:cse,pass:dce,cse"}), (Names{"pass:cse", "pass:dce,cse"}));
  EXPECT_EQ(split_backend_names({"pass:cse", "dce"}), (Names{"pass:cse", "dce"}));
}

/// It is told that no such pass is known, not that no such backend is.
TEST(BackendList, AMisspeltPassIsOne) {
  EXPECT_EQ(split_backend_names({"pass:cse,peepole"}), Names{"pass:cse,peepole"});
}

TEST(BackendList, PathsAndCommandsKeepTheirCommas) {
  EXPECT_EQ(split_backend_names({"jit,plugin:a,b.so"}), (Names{"jit", "plugin:a,b.so"}));
  EXPECT_EQ(split_backend_names({"command:run --with a,jit", "freeze"}), (Names{"command:run --with a,jit", "freeze"}));
  EXPECT_EQ(split_backend_names({"pass:cse,command:run"}), (Names{"pass:cse", "command:run"}));
}

TEST(BackendList, NothingIsAName) {
  EXPECT_EQ(split_backend_names({"freeze,"}), (Names{"freeze", ""}));
  EXPECT_EQ(split_backend_names({""}), Names{""});
}

TEST(BackendList, OfSeveralAllHaveToRunCallsOfPython) {
  EXPECT_TRUE(run_calls_of_python({"inductor"}));
  EXPECT_FALSE(run_calls_of_python({"inductor", "jit"}));
  EXPECT_FALSE(run_calls_of_python({"inductor-like"}));
  EXPECT_FALSE(run_calls_of_python({}));
}

} // namespace
} // namespace repro_minify
