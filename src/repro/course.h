// How large the best program was after how many checks, as the search went on, and as a plot.
#pragma once

#include "core/json.h"
#include "repro_minify/reducer.h"

#include <string>
#include <vector>

namespace repro_minify {

/// One moment of the search.
struct CoursePoint {
  int checks = 0;
  int operators = 0; ///< of the best so far
  std::string pass;
};
using Course = std::vector<CoursePoint>;

/// Adds a moment. A time in which nothing changed is kept as its begin and its end.
void note_progress(Course &course, const Progress &now);

/// For course.svg.tpl; null where there is nothing to plot. `before`: operators of the program that it began with.
json course_json(const Course &course, int before);

} // namespace repro_minify
