// The Verdict of our check under the rule PyTorch against torch._dynamo.debug_utils.same_two_models, on the models of
// fixtures/cases and on random programs. two_models_oracle.py draws the programs, has PyTorch answer, and says what it
// takes to make PyTorch's answer ours where they differ.
#include "all_tests.h"
#include "backends/libtorch/simple_backend.h"
#include "check/oracle.h"
#include "core/files.h"
#include "program/flat_graph.h"
#include "repro_minify/archive.h"
#include "repro_minify/check.h"
#include "repro_minify/load.h"
#include "test_paths.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace repro_minify {
namespace {

using c10::IValue;

IValue read_pickle(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return torch::jit::pickle_load(bytes);
}

// ---------------------------------------------------------------------------------------------------------------------
// The backend "noise": eager, and then something wrong. Noise of two_models_programs.py does the same.

class Noise {
public:
  Noise(torch::jit::Module module, c10::impl::GenericDict settings)
      : module_(std::move(module)), settings_(std::move(settings)) {}

  IValue operator()(std::vector<IValue> arguments) {
    IValue output = module_.forward(arguments);
    if (++calls_ < settings_.at("from_call").toInt())
      return output;
    if (settings_.at("raises").toBool())
      throw std::runtime_error("the backend raises");
    leaf_ = 0;
    output = changed(output);
    overwrite(arguments);
    const std::string structure = settings_.at("structure").toStringRef();
    if (structure == "twice")
      return c10::ivalue::Tuple::create(output, output);
    return structure == "none" ? IValue() : output;
  }

private:
  /// Behind autograd's back, as tensor.data.copy_ in Python.
  void overwrite(const std::vector<IValue> &arguments) const {
    const auto &buffer = settings_.at("buffer").toTupleRef().elements();
    if (!buffer.empty())
      for (const auto &named : module_.named_buffers())
        if (named.name == buffer[0].toStringRef())
          named.value.variable_data().copy_(buffer[1].toTensor());
    const auto &input = settings_.at("input").toTupleRef().elements();
    if (!input.empty())
      arguments.at(static_cast<std::size_t>(input[0].toInt())).toTensor().variable_data().copy_(input[1].toTensor());
  }

  IValue changed(const IValue &value) {
    if (value.isTensor())
      return changed(value.toTensor());
    if (value.isTuple()) {
      std::vector<IValue> parts;
      for (const IValue &part : value.toTupleRef().elements())
        parts.push_back(changed(part));
      return c10::ivalue::Tuple::create(std::move(parts));
    }
    if (value.isList()) {
      c10::impl::GenericList parts(c10::AnyType::get());
      for (const IValue &part : value.toListRef())
        parts.push_back(changed(part));
      return parts;
    }
    if (!value.isGenericDict())
      return value;
    c10::impl::GenericDict parts(c10::AnyType::get(), c10::AnyType::get());
    for (const auto &entry : value.toGenericDict())
      parts.insert(entry.key(), changed(entry.value()));
    return parts;
  }

  at::Tensor changed(const at::Tensor &value) {
    const auto leaves = settings_.at("leaves").toGenericDict();
    const auto found = leaves.find(leaf_++);
    if (found == leaves.end())
      return value;
    const auto &change = found->value().toTupleRef().elements();
    const std::string action = change[0].toStringRef();
    const at::Tensor tensor = change[1].toTensor();
    if (action == "add")
      return value + tensor;
    if (action == "dtype")
      return value.to(tensor.scalar_type());
    if (action == "gradient")
      return value + (value - value.detach()) * tensor;
    return tensor.clone();
  }

  torch::jit::Module module_;
  c10::impl::GenericDict settings_;
  std::int64_t calls_ = 0;
  std::int64_t leaf_ = 0;
};

std::shared_ptr<const Backend> noise_backend(const IValue &settings) {
  return make_simple_backend(
      {.name = "noise",
       .summary = "",
       .title = "",
       .compile = [settings](torch::jit::Module module) { return Noise(std::move(module), settings.toGenericDict()); },
       .source = {},
       .traits = {.runs_the_module = true}});
}

// ---------------------------------------------------------------------------------------------------------------------
// What two_models_oracle.py says, and what we say

/// A row of programs.pt.
struct Row {
  std::string name;
  std::string path;
  std::string backend;
  CheckOptions options;
  std::string pytorch;        ///< "same", "different", "raises" or "crashes" (its process died)
  std::string extended;       ///< the same with PyTorch's functions extended to what our check does
  std::string extended_where; ///< where that was decided: "eager run", "optimised run", "comparison"
  int extended_call = 0;
  bool extended_fp64 = false; ///< there was an fp64 reference
  std::string reason;         ///< what it took to get from the one to the other
  std::string message;        ///< what PyTorch raised
};

std::vector<Row> read_rows(const std::string &path) {
  std::vector<Row> rows;
  const IValue all = read_pickle(path);
  for (const IValue &value : all.toListRef()) {
    const auto dict = value.toGenericDict();
    const auto text = [&](const char *key) { return dict.contains(key) ? dict.at(key).toStringRef() : ""; };
    Row row;
    row.name = text("name");
    row.path = text("path");
    row.backend = text("backend");
    row.pytorch = text("pytorch");
    row.extended = text("extended");
    row.extended_where = text("extended_where");
    row.reason = text("reason");
    row.message = text("message");
    if (!row.name.empty()) {
      row.options.grad = dict.at("grad").toBool();
      row.options.only_forward = dict.at("only_forward").toBool();
      row.options.compare.rule = CompareRule::PyTorch;
      row.options.compare.ignore_non_fp = dict.at("ignore_non_fp").toBool();
      row.options.compare.tol = dict.at("tol").toDouble();
    }
    row.extended_call = static_cast<int>(dict.at("extended_call").toInt());
    row.extended_fp64 = dict.at("extended_fp64").toBool();
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The archive as it is; passes are for flat graphs.
ModuleFactory factory_for(const Row &row, const LoadedModel &model, const std::vector<IValue> &inputs) {
  if (row.backend.rfind("pass:", 0) == 0)
    return factory_of(std::make_shared<Program>(flatten_calls(model, inputs)));
  return [archive = Archive{row.path, inputs}](const InstantiateOptions &options) {
    return instantiate(archive, options);
  };
}

std::vector<Verdict> check_all(const std::vector<Row> &rows, const std::filesystem::path &folder) {
  at::set_num_threads(1); // a process that forks must never have entered an OpenMP region
  Limits limits;
  limits.timeout = std::chrono::minutes(2);
  TaskGroup pool(2);
  std::vector<TaskGroup::Ticket> tickets;
  for (const Row &row : rows) {
    const LoadedModel model = load_model(row.path, "forward", 0, false);
    InputSource source;
    source.inputs_path = folder / (row.name + ".inputs.pt");
    const std::vector<IValue> inputs = load_inputs(model, source).values;
    const std::shared_ptr<const Backend> backend = row.backend == "noise"
                                                       ? noise_backend(read_pickle(folder / (row.name + ".noise.pt")))
                                                       : std::shared_ptr<const Backend>(make_backend(row.backend));
    tickets.push_back(pool.submit(check_job(factory_for(row, model, inputs), backend, row.options), limits));
  }
  std::vector<Verdict> verdicts;
  for (const auto ticket : tickets)
    verdicts.push_back(verdict_of(*pool.wait(ticket)));
  return verdicts;
}

std::string answer_of(const Verdict &verdict) {
  switch (verdict.outcome) {
  case Verdict::Outcome::Pass:
    return "same";
  case Verdict::Outcome::Fail:
    return verdict.signatures.front().kind == FailureKind::Crash ? "crashes" : "different";
  case Verdict::Outcome::Unresolved:
    break;
  }
  return verdict.eager_raises ? "raises" : "unresolved";
}

std::string shown(const Row &row, const Verdict &verdict) {
  std::string text = row.name + " (" + row.backend + (row.options.grad ? ", gradients" : "") + "): PyTorch says " +
                     row.pytorch + ", extended " + row.extended + " " + row.extended_where + " of call " +
                     std::to_string(row.extended_call) + " " + row.message + "\n  reason: " + row.reason +
                     "\n  we: " + answer_of(verdict) + ", call " + std::to_string(verdict.failing_call) + ", " +
                     verdict.message + "; no fp64 because: " + verdict.no_fp64_because;
  for (const Signature &signature : verdict.signatures)
    text += "\n    " + to_string(signature);
  return text;
}

/// Not only the answer: what it was found by, too.
void expect_equal(const Row &row, const Verdict &verdict) {
  SCOPED_TRACE(shown(row, verdict));
  if (!verdict.left_out.empty()) {
    EXPECT_EQ(row.backend + (row.options.grad ? ", gradients" : ""), "freeze, gradients");
    return;
  }
  EXPECT_EQ(answer_of(verdict), row.extended);
  if (row.extended == "raises" || row.extended == "crashes")
    return;
  const bool raised =
      verdict.outcome == Verdict::Outcome::Fail && verdict.signatures.front().kind == FailureKind::Exception;
  const bool asked = verdict.has_fp64_reference || !verdict.no_fp64_because.empty();
  EXPECT_TRUE(asked || raised || verdict.outcome == Verdict::Outcome::Pass); // a difference is never found without
  if (asked) {
    EXPECT_EQ(verdict.has_fp64_reference, row.extended_fp64);
  }
  if (verdict.outcome != Verdict::Outcome::Fail)
    return;
  EXPECT_EQ(raised ? "optimised run" : "comparison", row.extended_where);
  EXPECT_EQ(verdict.failing_call, raised ? 0 : row.extended_call);
}

void print_table(const std::vector<Row> &rows, const std::vector<Verdict> &verdicts) {
  std::map<std::string, int> both;                         // "same / same" -> how often
  std::map<std::string, std::map<std::string, int>> kinds; // reason -> "same / different" -> how often
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string answers = rows[i].pytorch + " / " + answer_of(verdicts[i]);
    if (rows[i].pytorch == answer_of(verdicts[i]))
      ++both[answers];
    else
      ++kinds[verdicts[i].left_out.empty()
                  ? rows[i].reason
                  : "what is frozen is a constant (PyTorch takes it to have zeros for gradients)"][answers];
  }
  std::printf("%zu programs\nPyTorch / we agree\n", rows.size());
  for (const auto &[answers, count] : both)
    std::printf("  %-24s %5d\n", answers.c_str(), count);
  std::printf("PyTorch / we differ, and why\n");
  for (const auto &[reason, counts] : kinds)
    for (const auto &[answers, count] : counts)
      std::printf("  %-24s %5d  %s\n", answers.c_str(), count, reason.empty() ? "UNEXPLAINED" : reason.c_str());
}

TEST(TwoModels, AreTheSameToUsAsToPyTorchButForKnownReasons) {
  SKIP_UNLESS_EVERYTHING_IS_ASKED_FOR();
  const TemporaryFolder folder;
  const std::string python = test_paths::python;
  if (python.empty())
    GTEST_SKIP() << "no Python with torch was given to the build";
  const std::string script =
      std::filesystem::path(test_paths::fixtures).parent_path() / "tests/check/two_models_oracle.py";
  const int count = how_many(12, 220);
  const auto [output, status] = run_shell("'" + python + "' -B '" + script + "' '" + folder.path().string() + "' " +
                                          std::to_string(count) + " 1 '" + test_paths::fixtures + "/cases'");
  if (status == 77 || status == 127)
    GTEST_SKIP() << output;
  ASSERT_EQ(status, 0) << output;
  const std::vector<Row> rows = read_rows(folder.path() / "programs.pt");
  ASSERT_GT(rows.size(), static_cast<std::size_t>(count)); // the fixtures, too
  for (const Row &row : rows)
    ASSERT_NE(row.name, "") << "a program could not be drawn\n" << output;
  const std::vector<Verdict> verdicts = check_all(rows, folder.path());
  for (std::size_t i = 0; i < rows.size(); ++i)
    expect_equal(rows[i], verdicts[i]);
  print_table(rows, verdicts);
}

} // namespace
} // namespace repro_minify
