#include "repro/page.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace repro_minify {
namespace {

Progress at_check(int checks, int operators, const std::string &pass) {
  Progress progress;
  progress.checks = checks;
  progress.operators = operators;
  progress.pass = pass;
  return progress;
}

TEST(Course, OfATimeWithoutProgressKeepsBothEnds) {
  Course course;
  for (int check = 1; check <= 100; ++check)
    note_progress(course, at_check(check, check < 60 ? 40 : 2, "cut"));
  ASSERT_EQ(course.size(), 4u);
  EXPECT_EQ(course[0].checks, 1);
  EXPECT_EQ(course[1].checks, 59);
  EXPECT_EQ(course[2].checks, 60);
  EXPECT_EQ(course[3].checks, 100);
}

TEST(Course, APlotEndsWhereTheSearchDid) {
  Course course;
  note_progress(course, at_check(1, 50, "cut"));
  note_progress(course, at_check(7, 3, "<inputs>"));
  const auto plot = course_json(course, 100);
  EXPECT_EQ(plot.at("checks"), 7);
  EXPECT_EQ(plot.at("before"), 100);
  EXPECT_EQ(plot.at("after"), 3);
  EXPECT_EQ(plot.at("steps").size(), 2u);
  EXPECT_EQ(plot.at("passes").at(1).at("pass"), "<inputs>");
}

TEST(Course, ThereMayBeNothingToPlot) {
  EXPECT_TRUE(course_json({}, 10).is_null());
}

} // namespace
} // namespace repro_minify
