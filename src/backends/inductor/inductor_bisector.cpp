#include "backends/inductor/inductor_worker.h"

namespace repro_minify {
namespace {

std::string text_of(const json &answer, const char *key) {
  const json &value = answer.at(key);
  return value.is_string() ? value.get<std::string>() : "";
}

/// "torch.compile without inductor/lowerings".
std::string in_words(const json &state) {
  const std::string backend = text_of(state, "backend"), subsystem = text_of(state, "subsystem");
  if (subsystem.empty())
    return "torch.compile(backend=\"" + backend + "\")";
  if (const std::string change = text_of(state, "switch"); !change.empty())
    return "with " + change;
  const std::string part = backend + "/" + subsystem, run = text_of(state, "state");
  if (run == "test_disable")
    return "without " + part;
  if (run == "bisect")
    return "up to " + part + "#" + std::to_string(state.at("applied").get<int>());
  return "all of " + part + ", counted";
}

StepKind kind_of(const std::string &subsystem) {
  return subsystem == "lowerings"       ? StepKind::Lowering
         : subsystem == "decomposition" ? StepKind::Decomposition
                                        : StepKind::Pass;
}

/// The bisector counts applications from 0; people count from 1.
OwnBisector::Finding finding_of(const json &found) {
  const std::string backend = text_of(found, "backend"), subsystem = text_of(found, "subsystem");
  if (subsystem.empty())
    return {.guilty = backend,
            .pass = backend,
            .kind = StepKind::Compiler,
            .note = "None of its parts that can be switched off makes it right. "};
  const std::string part = backend + "/" + subsystem, detail = text_of(found, "debug_info");
  if (const std::string change = text_of(found, "switch"); !change.empty())
    return {.guilty = part,
            .pass = part,
            .kind = StepKind::Setting,
            .name = text_of(found, "setting"),
            .setting = change,
            .confirmed = true,
            .note = "With " + change + " the result is right."};
  const int last = found.at("bisect_number").get<int>();
  std::string note = detail.empty() ? "" : "That is " + detail + ". ";
  note += "Without " + part + " the result is right";
  if (last > 0)
    note += ", and also with the " + std::to_string(last) + (last > 1 ? " applications" : " application") +
            " before that one";
  note += ".";
  return {.guilty = part + "#" + std::to_string(last + 1),
          .pass = part,
          .kind = kind_of(subsystem),
          .name = detail,
          .confirmed = true,
          .note = note};
}

} // namespace

std::vector<std::string> inductor_parts(const std::string &address) {
  InductorConnection connection(address);
  return connection.exchange({{{"do", "parts"}}, {}}).header.at("parts").get<std::vector<std::string>>();
}

std::optional<OwnBisector::Finding> bisect_inductor(const std::string &address, const InductorVariant &variant,
                                                    const OwnBisector::Fails &fails) {
  InductorConnection connection(address);
  json request = {{"do", "bisect"}};
  while (true) {
    const json answer = connection.exchange({request, {}}).header;
    if (!answer.contains("try"))
      return answer.at("found").is_null() ? std::nullopt : std::optional(finding_of(answer.at("found")));
    const json &state = answer.at("try");
    request = {{"right", !fails(variant(state), in_words(state))}};
  }
}

} // namespace repro_minify
