// Models that are more than a graph of operators (fixtures/constructs) are reduced like others.
#include "all_tests.h"
#include "program.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace repro_minify::end_to_end {
namespace {

namespace fs = std::filesystem;

const fs::path constructs = fs::path(test_paths::fixtures) / "constructs";

std::string model(const std::string &name) {
  return constructs / name / "failing.pt";
}

/// Whatever comes before what is wrong goes.
TEST(Constructs, LeaveNothingOfThemselves) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  for (const std::string name : nlohmann::json::parse(read_text(constructs / "expected.json"))) {
    const fs::path out = folder / name;
    const Finished reduced =
        run_tool({model(name), "--backend", "freeze", "--quiet", "--no-verify", "--no-bisect", "-o", out});
    ASSERT_EQ(reduced.exit_code, 0) << name << describe(reduced);
    const auto report = nlohmann::json::parse(read_text(out / "report.json"));
    EXPECT_EQ(report.at("after").at("operators"), 2) << name; // linear, batch_norm
    EXPECT_EQ(report.at("after").at("inputs"), 1) << name;
    EXPECT_TRUE(report.at("one_minimal")) << name;
  }
}

/// The repro loads what it cannot write out: with no pass that takes anything away, the packed weights stay.
TEST(Constructs, TravelInTheFile) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  for (const std::string name : {"quantised_lstm", "attention"}) {
    const fs::path out = folder / name;
    const Finished reduced = run_tool(
        {model(name), "--backend", "freeze", "--quiet", "--no-bisect", "--passes", "outputs", "-o", out, verify});
    ASSERT_EQ(reduced.exit_code, 0) << name << describe(reduced); // built, run, and failing
    const std::string kept = name == "attention" ? "_native_multi_head_attention" : "quantized_lstm";
    EXPECT_NE(read_text(out / "repro.cpp").find(kept), std::string::npos) << name;
  }
}

/// The operator itself is what is looked for: an oracle asks for its name in the code.
TEST(Constructs, AreWhatIsLeftWhereTheyAreLookedFor) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const fs::path oracle = folder / "oracle.sh";
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"warns", "torch.warn("},
      {"attention", "_native_multi_head_attention"},
      {"no_grad", "set_grad_enabled"},
      {"quantised_dynamically", "linear_dynamic"},
      {"quantised_statically", "quantized.linear"},
      {"quantised_lstm", "quantized_lstm"},
  };
  for (const auto &[name, text] : wanted) {
    std::ofstream(oracle) << "#!/usr/bin/env python3\nimport sys, zipfile\narchive = zipfile.ZipFile(sys.argv[1])\n"
                          << "code = [archive.read(name) for name in archive.namelist() if name.endswith('.py')]\n"
                          << "sys.exit(b'" << text << "' not in b''.join(code))\n";
    fs::permissions(oracle, fs::perms::owner_all);
    const fs::path out = folder / name;
    const Finished reduced = run_tool({model(name), "--oracle", oracle, "--quiet", "-o", out});
    ASSERT_EQ(reduced.exit_code, 0) << name << describe(reduced);
    const auto report = nlohmann::json::parse(read_text(out / "report.json"));
    EXPECT_EQ(report.at("after").at("operators"), 1) << name;
  }
}

} // namespace
} // namespace repro_minify::end_to_end
