// The pages that people open in a browser: one file each, that needs no network and no script to be read.
#pragma once

#include "core/json.h"
#include "core/number_text.h"
#include "repro_minify/analysis.h"
#include "repro_minify/reducer.h"
#include "repro_minify/repro.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace repro_minify {

// Plots of the pages: the frame that all have, and how the errors of both sides against float64 grow along a graph.

namespace plot {

/// The frame, in units of its SVG.
inline constexpr double width = 640, height = 180, left = 46, right = 12, top = 10, bottom = 26;

/// Returns the values of the frame for a template of a plot: its size, its edges, and where the text below it stands.
inline json frame() {
  return {{"width", fixed_text(width, 1)},
          {"height", fixed_text(height, 1)},
          {"left", fixed_text(left, 1)},
          {"right", fixed_text(width - right, 1)},
          {"text_y", fixed_text(height - 8, 1)}};
}

} // namespace plot

/// Returns the values for error_curve.svg.tpl: the root mean square error of eager and of the optimised side at each
/// value that has both, in dataflow order; null where fewer than two values have them. Rounding grows from value to
/// value in both curves; a wrong value is a step in one of them.
json error_curve_json(const std::vector<AnalysisRow> &rows);

// How large the best program was after how many checks, as the search went on, and as a plot.

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

// The pages.

/// The contents of report.html: the facts that every report has, and what this page alone shows.
struct ReportPage {
  const Program &program; ///< what is left
  const ReproFacts &facts;
  std::shared_ptr<const Recording> original =
      {};                              ///< of the flat program that the search began with; null: there is none
  std::optional<Program> passing = {}; ///< the closest program that passes
  Course course = {};
  Limits limits = {};   ///< of one check
  bool may_run = false; ///< run both sides once more, to have their values
  std::function<bool()> interrupted = {};
  std::shared_ptr<Analyzer> original_analysis = {}; ///< from begin_original()
};

/// For the page's picture of the original, whose Verdict this is: runs it beside other work. Null where nothing is to
/// be run.
std::shared_ptr<Analyzer> begin_original(const ReportPage &page, const Verdict &verdict);

/// Writes report.html into the folder. Throws UserError when it cannot be written; what a backend or Graphviz does only
/// leaves something out, and the page says what and why.
void write_report_page(const ReportPage &page, const std::string &folder);

/// Writes analysis.html into the folder; the same holds. `model`: its file's name.
void write_analysis_page(const Analysis &analysis, const std::string &model, const std::string &backend,
                         const std::string &folder);

} // namespace repro_minify
