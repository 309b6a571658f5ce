// The programs that run_fx_minifier.py exported.
#pragma once
#include "structural_oracle.h"

#include <string>
#include <vector>

namespace repro_minify::bench {

struct PlantedProgram {
  std::string name;
  std::string model, inputs; ///< paths
  StructuralOracle oracle;
  int needed = 0;          ///< size of the smallest program that fails, in `unit`
  std::string unit, shape; ///< "operators" or "nodes"; "one", "adjacent", "scattered", "path"
};

/// Returns the programs that folder/programs.json lists. Throws UserError if it cannot be read.
std::vector<PlantedProgram> planted_programs(const std::string &folder);

Program load(const PlantedProgram &planted);

/// Operators; or, as FX counts, operators, inputs and one for the output.
int size_in(const std::string &unit, const Program &program);

} // namespace repro_minify::bench
