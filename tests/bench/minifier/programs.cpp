#include "programs.h"

#include "program/flat_graph.h"
#include "repro_minify/load.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace repro_minify::bench {

std::vector<PlantedProgram> planted_programs(const std::string &folder) {
  std::ifstream file(folder + "/programs.json");
  if (!file)
    throw UserError(folder + "/programs.json: cannot be read");
  std::vector<PlantedProgram> programs;
  for (const auto &row : nlohmann::json::parse(file)) {
    StructuralOracle oracle{kind_from(row.at("oracle").at("kind")), {}, row.at("oracle").at("least")};
    for (const std::string name : row.at("oracle").at("operators"))
      oracle.operators.push_back(c10::Symbol::fromQualString(name));
    programs.push_back({row.at("name"), folder + "/" + row.at("model").get<std::string>(),
                        folder + "/" + row.at("inputs").get<std::string>(), std::move(oracle), row.at("needed"),
                        row.at("unit"), row.at("shape")});
  }
  return programs;
}

Program load(const PlantedProgram &planted) {
  const LoadedModel model = load_model(planted.model, "forward", 0, false);
  InputSource source;
  source.inputs_path = planted.inputs;
  return flatten_calls(model, load_inputs(model, source).values);
}

int size_in(const std::string &unit, const Program &program) {
  const int operators = size_of(program).operators;
  const auto inputs = std::count_if(program.inputs.begin(), program.inputs.end(),
                                    [](const ProgramInput &input) { return input.role != Role::Constant; });
  return unit == "operators" ? operators : operators + static_cast<int>(inputs) + 1;
}

} // namespace repro_minify::bench
