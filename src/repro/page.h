// The pages that people open in a browser: one file each, that needs no network and no script to be read.
#pragma once

#include "repro/course.h"
#include "repro_minify/analysis.h"
#include "repro_minify/repro.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace repro_minify {

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
