#include "core/origins.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

const std::vector<OperatorPlace> original = {{"aten::relu", "a", "m.py:1"},
                                             {"aten::tanh", "b", "m.py:2"},
                                             {"aten::tanh", "c", "m.py:3"},
                                             {"aten::mul", "d", ""}};

TEST(FindOrigins, GoesByNameThenBySource) {
  EXPECT_EQ(find_origins({{"aten::tanh", "new", "m.py:2"}, {"aten::mul", "d", ""}}, original),
            (std::vector<int>{1, 3}));
}

TEST(FindOrigins, ANameGoesBeforeTheSourceOfAnother) {
  EXPECT_EQ(find_origins({{"aten::tanh", "new", "m.py:3"}, {"aten::tanh", "c", "m.py:3"}}, original),
            (std::vector<int>{-1, 2}));
}

TEST(FindOrigins, OperatorsAloneTellOnlyWhereThatIsWanted) {
  const std::vector<OperatorPlace> reduced = {{"aten::tanh", "new", ""}, {"aten::tanh", "newer", ""}};
  EXPECT_EQ(find_origins(reduced, original), (std::vector<int>{-1, -1}));
  EXPECT_EQ(find_origins(reduced, original, /*or_operator=*/true), (std::vector<int>{1, 2}));
}

} // namespace
} // namespace repro_minify
