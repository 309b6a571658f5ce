
#include "core/text.h"
#include "repro/page.h"

#include <algorithm>
#include <cmath>
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

} // namespace repro_minify
