#include "repro/page.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace repro_minify {
namespace {

AnalysisRow row(double of_eager, double of_optimised) {
  AnalysisRow result;
  result.op = "aten::<add>";
  result.report.ref_form.emplace();
  result.report.ref_error = of_eager;
  result.report.res_error = of_optimised;
  return result;
}

TEST(ErrorCurve, RisesWhereTheErrorOfASideDoes) {
  AnalysisRow whole_numbers;
  const auto plot = error_curve_json({row(1e-7, 1e-7), whole_numbers, row(1e-7, 1e-2), row(0, 1e-2)});
  EXPECT_EQ(plot.at("values"), 3);
  const auto &eager = plot.at("curves").at(0).at("points"), &optimised = plot.at("curves").at(1).at("points");
  EXPECT_EQ(eager.at(0), nlohmann::json({{"x", "46.0"}, {"y", eager.at(1).at("y")}, {"what", eager.at(0).at("what")}}));
  EXPECT_EQ(eager.at(2).at("y"), "154.0") << "no error at all";
  const auto height = [](const nlohmann::json &point) { return std::stod(point.at("y").get<std::string>()); };
  EXPECT_LT(height(optimised.at(1)), height(optimised.at(0)) - 50);
  EXPECT_EQ(optimised.at(2).at("x"), "628.0");
  EXPECT_EQ(optimised.at(1).at("what"), "aten::<add>, optimised: 0.01");
}

TEST(ErrorCurve, TakesTwoValues) {
  EXPECT_TRUE(error_curve_json({}).is_null());
  EXPECT_TRUE(error_curve_json({row(1, 1)}).is_null());
  EXPECT_FALSE(error_curve_json({row(0, 0), row(0, 0)}).is_null());
}

} // namespace
} // namespace repro_minify
