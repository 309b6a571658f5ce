#include "reduce/search/expectation.h"

#include <cstdlib>
#include <numeric>

namespace repro_minify {
namespace {

double par(const char *n, double d) { const char *v = std::getenv(n); return v ? std::atof(v) : d; }

/// Adds `share`, divided among lengths 1..n in proportion to `density(length)`.
template <typename Density> void add_share(std::vector<double> &mass, double share, Density density) {
  double total = 0;
  for (std::size_t length = 1; length < mass.size(); ++length)
    total += density(length);
  if (total > 0)
    for (std::size_t length = 1; length < mass.size(); ++length)
      mass[length] += share * density(length) / total;
}

double evenly(std::size_t) {
  return 1;
}

/// A length of n is the shortest failing one where its last node is needed.
bool add_suspicion(std::vector<double> &mass, double share, const std::vector<double> &weights) {
  if (weights.empty() || std::accumulate(weights.begin(), weights.end(), 0.0) <= 0)
    return false;
  add_share(mass, share, [&](std::size_t length) { return weights[length - 1]; });
  return true;
}

} // namespace

std::vector<double> expected_first(std::size_t nodes, const std::vector<double> &weights) {
  static const double EARLY=par("EARLY",.05), HINT1=par("HINT1",.5);
  std::vector<double> mass(nodes + 1, 0);
  add_share(mass, 1 - EARLY, evenly);
  // What fails in every block of a repetitive model fails in the first already.
  add_share(mass, EARLY, [](std::size_t length) { return 1.0 / static_cast<double>(length); });
  add_suspicion(mass, HINT1/(1-HINT1), weights);
  return mass;
}

std::vector<double> expected_next(std::size_t nodes, std::size_t anchors, bool near,
                                  const std::vector<double> &weights) {
  static const double STOP1=par("STOP1",.5), STOP=par("STOP",.3), NEAR=par("NEAR",.7), FARNEAR=par("FARNEAR",.2),LOGU=par("LOGU",0.1),OFF=par("OFF",1),HINT2=par("HINT2",.5);
  std::vector<double> mass(nodes + 1, 0);
  const double share_near = near ? NEAR : FARNEAR;
  add_share(mass, share_near, [](std::size_t length) {
    const double l = static_cast<double>(length) + OFF;
    return 1 / (l * (l + 1));
  });
  add_share(mass, LOGU, [](std::size_t length) { return 1.0 / static_cast<double>(length); });
  add_share(mass, 1 - share_near-LOGU, evenly);
  const double hint= add_suspicion(mass, HINT2/(1-HINT2), weights)? 1/(1-HINT2):1;
  const double stop= anchors==1? STOP1:STOP;
  mass[0]= hint*stop/(1-stop);
  return mass;
}

} // namespace repro_minify
