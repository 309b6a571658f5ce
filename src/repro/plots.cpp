#include "core/text.h"
#include "repro/page.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace repro_minify {
namespace {

using namespace plot;
constexpr int colours = 8; ///< p0 to p7 of page.css

/// Checks from left to right, operators upwards by their logarithm: from 1,000 to 500 is as much as from 2 to 1.
class Axes {
public:
  Axes(int checks, int operators) : checks_(std::max(1, checks)), largest_(std::log2(std::max(2, operators + 1))) {}
  double x(int checks) const { return left + (width - left - right) * checks / checks_; }
  double y(int operators) const { return height - bottom - (height - top - bottom) * share(operators); }

private:
  double share(int operators) const { return std::log2(operators + 1.0) / largest_; }
  int checks_;
  double largest_;
};

/// The numbers beside the axis: what it began and ended with, and powers of ten that are not too near to them.
json marks(const Axes &axes, int before, int after) {
  json list = json::array();
  std::vector<double> taken;
  const auto add = [&](int operators) {
    const double y = axes.y(operators);
    if (std::any_of(taken.begin(), taken.end(), [&](double other) { return std::abs(other - y) < 14; }))
      return;
    taken.push_back(y);
    list.push_back({{"mark_y", fixed_text(y, 1)}, {"text_y", fixed_text(y + 4, 1)}, {"operators", operators}});
  };
  add(before);
  add(after);
  for (int power = 1; power < before; power *= 10)
    add(power);
  return list;
}

bool is_same(const CoursePoint &one, const CoursePoint &other) {
  return one.operators == other.operators && one.pass == other.pass;
}

/// Values from left to right, powers of ten upwards. No error at all stands on the floor, a power below the least.
class ErrorAxes {
public:
  explicit ErrorAxes(const std::vector<const AnalysisRow *> &rows) : count_(static_cast<double>(rows.size())) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const AnalysisRow *row : rows)
      for (const double error : {row->report.ref_error, row->report.res_error}) {
        least = error > 0 ? std::min(least, error) : least;
        most = std::max(most, error);
      }
    low_ = most > 0 ? static_cast<int>(std::floor(std::log10(least))) - 1 : -1;
    high_ = most > 0 ? static_cast<int>(std::ceil(std::log10(most))) : 0;
  }
  int low() const { return low_; }
  int high() const { return high_; }
  double x(double index) const { return left + (width - left - right) * index / (count_ - 1); }
  double at_power(double power) const {
    return height - bottom - (height - top - bottom) * (power - low_) / std::max(1, high_ - low_);
  }
  double y(double error) const { return at_power(error > 0 ? std::log10(error) : low_); }

private:
  double count_;
  int low_ = -1, high_ = 0;
};

json curve(const char *side, int colour, const std::vector<const AnalysisRow *> &rows, const ErrorAxes &axes,
           double LeafReport::*error) {
  std::string path;
  json points = json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    const double value = rows[i]->report.*error;
    const std::string x = fixed_text(axes.x(static_cast<double>(i)), 1), y = fixed_text(axes.y(value), 1);
    path += (i == 0 ? "M" : "L") + x + "," + y;
    points.push_back({{"x", x}, {"y", y}, {"what", rows[i]->op + ", " + side + ": " + rounded_text(value, 3)}});
  }
  return {{"side", side}, {"colour", colour}, {"path", path}, {"points", points}};
}

} // namespace

void note_progress(Course &course, const Progress &now) {
  CoursePoint point{now.checks, now.operators, now.pass};
  const size_t count = course.size();
  if (count >= 2 && is_same(course[count - 1], point) && is_same(course[count - 2], point))
    course.back().checks = point.checks;
  else
    course.push_back(std::move(point));
}

json course_json(const Course &course, int before) {
  if (course.empty() || course.back().checks < 1)
    return nullptr;
  const int last = course.back().checks;
  const Axes axes(last, before);
  std::map<std::string, int> numbers;
  json steps = json::array(), passes = json::array();
  int from = 0, operators = before;
  for (const auto &point : course) {
    const auto [entry, is_new] = numbers.emplace(point.pass, static_cast<int>(numbers.size()) % colours);
    if (is_new)
      passes.push_back({{"pass", point.pass}, {"colour", entry->second}});
    steps.push_back(
        {{"path", "M" + fixed_text(axes.x(from), 1) + "," + fixed_text(axes.y(operators), 1) + "H" +
                      fixed_text(axes.x(point.checks), 1) + "V" + fixed_text(axes.y(point.operators), 1)},
         {"what", point.pass + ": check " + std::to_string(point.checks) + ", " + counted(point.operators, "operator")},
         {"colour", entry->second}});
    from = point.checks;
    operators = point.operators;
  }
  json values = frame();
  values.update({{"checks", last},
                 {"before", before},
                 {"after", operators},
                 {"marks", marks(axes, before, operators)},
                 {"steps", steps},
                 {"passes", passes}});
  return values;
}

json error_curve_json(const std::vector<AnalysisRow> &rows) {
  std::vector<const AnalysisRow *> compared;
  for (const AnalysisRow &row : rows)
    if (row.report.ref_form && std::isfinite(row.report.ref_error) && std::isfinite(row.report.res_error))
      compared.push_back(&row);
  if (compared.size() < 2)
    return nullptr;
  const ErrorAxes axes(compared);
  json marks = json::array();
  const int step = std::max(1, (axes.high() - axes.low()) / 6);
  for (int power = axes.high(); power > axes.low(); power -= step) {
    const double y = axes.at_power(power);
    marks.push_back(
        {{"mark_y", fixed_text(y, 1)}, {"text_y", fixed_text(y + 4, 1)}, {"error", "1e" + std::to_string(power)}});
  }
  json values = frame();
  values.update({{"values", compared.size()},
                 {"marks", marks},
                 {"curves",
                  {curve("eager", 0, compared, axes, &LeafReport::ref_error),
                   curve("optimised", 1, compared, axes, &LeafReport::res_error)}}});
  return values;
}

} // namespace repro_minify
