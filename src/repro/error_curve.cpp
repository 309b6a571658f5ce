#include "repro/page.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace repro_minify {
namespace {

using namespace plot;

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
