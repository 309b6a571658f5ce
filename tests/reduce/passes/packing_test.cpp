#include "reduce/passes/golden.h"

#include <gtest/gtest.h>

namespace repro_minify {
namespace {

using namespace testing_support;

TEST(Packing, IsReadDirectly) {
  const auto result = run_pass("packing",
                               program_from(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %last : int = prim::Constant[value=-1]()
  %key : str = prim::Constant[value="k"]()
  %a : Tensor = aten::relu(%x)
  %t : (Tensor, Tensor) = prim::TupleConstruct(%x, %a)
  %b : Tensor, %c : Tensor = prim::TupleUnpack(%t)
  %l : Tensor[] = prim::ListConstruct(%b, %c)
  %d : Tensor = aten::__getitem__(%l, %last)
  %m : Dict(str, Tensor) = prim::DictConstruct(%key, %d)
  %e : Tensor = aten::__getitem__(%m, %key)
  %f : Tensor = prim::unchecked_cast(%e)
  %g : Tensor = aten::neg(%f)
  %o : (Tensor, Tensor) = prim::TupleConstruct(%g, %b)
  return (%o))IR",
                                            {at::ones({2, 3})}),
                               [](const Program &candidate) { return count(candidate, "aten::neg") == 1; });
  EXPECT_EQ(result.graph, R"IR(graph(%x : Tensor):
  %4 : Tensor = aten::relu(%x)
  %13 : Tensor = aten::neg(%4)
  return (%13, %x)
)IR");
  EXPECT_EQ(result.checks, 1);
}

TEST(Packing, OfAListThatIsFilledLaterStays) {
  const auto result = run_pass("packing",
                               program_from(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %l : Tensor[] = prim::ListConstruct(%x)
  %m : Tensor[] = aten::append(%l, %x)
  %d : Tensor = aten::__getitem__(%l, %zero)
  return (%d))IR",
                                            {at::ones({2, 3})}),
                               [](const Program &) { return true; });
  EXPECT_EQ(result.checks, 0);
}

} // namespace
} // namespace repro_minify
