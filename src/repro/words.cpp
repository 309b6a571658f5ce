// The words of an analysis for people, the same on the terminal, on the pages and in the picture.
#include "repro_minify/analysis.h"

namespace repro_minify {

std::string word_of(const AnalysisRow &row) {
  using State = AnalysisRow::State;
  using Part = AnalysisRow::Part;
  const bool fails = row.state == State::Fails;
  if (row.part == Part::Cause)
    return fails ? "fails here" : "cause";
  if (row.part == Part::Carrier)
    return fails ? "not reached" : "carrier";
  if (row.state == State::Differs)
    return "differs";
  return fails ? "fails" : row.state == State::Same ? "agrees" : "not compared";
}

std::string sentence_on_way(const Analysis &analysis) {
  if (analysis.way == Analysis::Way::Prefixes)
    return "Each value was had from a program that ends there: " + analysis.why + ".";
  return analysis.checks <= 1
             ? "Every value was returned by one program."
             : "Every value was returned by one program; what differed there was asked again in a program that ends "
               "there.";
}

std::string name_of(const AnalysisRow &row) {
  return row.op + ", " + (row.source.empty() ? row.value : row.source);
}

} // namespace repro_minify
