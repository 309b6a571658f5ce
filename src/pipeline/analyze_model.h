// Where eager and optimised part, of a model.
#pragma once

#include "repro_minify/analysis.h"
#include "repro_minify/session.h"

#include <string>

namespace repro_minify {

/// analyze() of the model of a Session, flattened as far as its failure allows, with the Session's settings and
/// Listener. `original`: the Verdict on it. Throws UserError, Interrupted.
Analysis analyze_model(Session &session, const Verdict &original);
/// analysis.html, analysis.json, analysis.dot, and analysis.svg where Graphviz is installed. The folder exists.
void write_analysis(const Analysis &analysis, const Session &session, const std::string &folder);

} // namespace repro_minify
