// All failures of a model: one after the other, each in what the ones before it have left; and the page of them.
#include "core/files.h"
#include "core/text.h"
#include "pipeline/open_model.h"
#include "repro/render.h"
#include "repro/reported.h"
#include "repro/results_folder.h"
#include "repro/triage.h"
#include "repro_minify/minify.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace repro_minify {
namespace {

constexpr int most_failures = 100; ///< a model that has more has another problem

/// Returns repro.py, or the program alone where this run has written none.
std::string code_of(const Result &failure) {
  const std::string script = failure.folder + "/repro.py";
  return is_of_this_run(script) ? read_file(script) : program_text(*failure.program);
}

json failure_json(const Result &failure) {
  const ReproFacts &facts = failure.facts;
  return {{"headline", headline(*failure.program, facts)},
          {"folder", fs::path(failure.folder).filename().string()},
          {"kind", to_string(facts.signature.kind)},
          {"guilty", facts.bisection && facts.bisection->guilty ? json(*facts.bisection->guilty) : json(nullptr)},
          {"places", failure.places},
          {"operators_before", facts.before.operators},
          {"operators_after", facts.after.operators},
          {"checks", facts.checks},
          {"verified", is_verified(facts)}};
}

json files_of(const Result &failure) {
  json files = json::array();
  for (const char *name : {"report.html", "issue.md", "repro.py", "test_repro.py", "repro.cpp"})
    if (is_of_this_run(failure.folder + "/" + name))
      files.push_back({{"name", name}, {"link", fs::path(failure.folder).filename().string() + "/" + name}});
  return files;
}

/// Writes index.html and failures.json into the folder. `model`: its path, or nothing. Throws UserError where they
/// cannot be written.
void write_failures(const AllFailures &found, const std::string &model, const std::string &folder) {
  json list = json::array(), entries = json::array();
  for (const Result &failure : found.failures) {
    list.push_back(failure_json(failure));
    json entry = list.back();
    entry["code"] = code_of(failure);
    entry["files"] = files_of(failure);
    entry["places_in_words"] = counted(static_cast<size_t>(failure.places), "place");
    entry["guilty"] = list.back().at("guilty").is_null() ? "" : list.back().at("guilty");
    entries.push_back(std::move(entry));
  }
  const json facts = {{"model", model}, {"passes", found.passes}, {"why", found.why}, {"failures", list}};
  write_atomically(folder + "/failures.json", facts.dump(2, ' ', true, json::error_handler_t::replace) + "\n");
  json values = {{"heading", counted(found.failures.size(), "failure") +
                                 (model.empty() ? "" : " of " + fs::path(model).filename().string())},
                 {"outcome", found.passes ? "Without what they need, the model passes."
                                          : "Whether there are more is not known: " + found.why + "."},
                 {"entries", entries}};
  values.update(head_json());
  write_atomically(folder + "/index.html", render("failures.html.tpl", values));
}

class Series {
public:
  Series(const std::string &model_path, const MinifyOptions &options)
      : next_model_(model_path), options_(options), begin_(std::chrono::steady_clock::now()) {}

  AllFailures all() && {
    while (found_.why.empty() && !found_.passes)
      find_next();
    if (!found_.failures.empty() && has_repro(found_.failures.front()))
      write_what_was_found();
    return std::move(found_);
  }

private:
  /// Returns the options of the next reduction. Those on how to read the model are for the first only: the file with
  /// the rest of a model is flat, in eval mode, and has its inputs inside.
  MinifyOptions next_options() const {
    MinifyOptions options = options_;
    options.folder = options_.folder + "/" + std::to_string(reductions_ + 1); // a resumed run finds it under that
    options.rest = options_.folder + "/rest_" + std::to_string(reductions_ + 1) + ".pt";
    if (options_.time_budget_seconds > 0)
      options.time_budget_seconds = std::max(0.001, options_.time_budget_seconds - seconds_so_far());
    SettingsChanges changes = {{"all", std::nullopt}, {"output", {{absolute(options.folder)}}}};
    if (reductions_ > 0) {
      take_the_rest(options);
      for (const char *name : {"graph", "inputs", "input", "method", "train"})
        changes[name] = std::nullopt;
      changes["model"] = {absolute(next_model_)};
    }
    if (options_.settings)
      options.settings = [given = options_.settings, changes](const SettingsChanges &) { return given(changes); };
    return options;
  }

  static std::string absolute(const std::string &path) { return fs::absolute(path).lexically_normal().string(); }

  static void take_the_rest(MinifyOptions &options) {
    options.graph = 0;
    options.conversion = nullptr;
    options.method = "forward";
    options.inputs.reset();
    options.input_specs.clear();
    options.train = false;
  }

  void find_next() {
    const MinifyOptions options = next_options();
    std::error_code unknown;
    const bool is_ours = options.resume || !fs::exists(options.folder, unknown);
    Result result;
    try {
      result = minify(next_model_, options);
    } catch (const UserError &error) {
      if (reductions_ == 0)
        throw;
      found_.why = "what is left cannot be checked: " + std::string(error.what());
      return;
    }
    ++reductions_;
    if (!has_repro(result))
      return end_with(std::move(result));
    const std::optional<std::string> rest = result.rest;
    const bool is_interrupted = result.facts.interrupted, is_out_of_time = result.facts.out_of_time;
    keep(std::move(result), is_ours);
    if (is_interrupted || is_out_of_time)
      found_.why = is_interrupted ? "it was interrupted" : "the time budget was spent";
    else if (!rest)
      found_.why = "what the last one needs cannot be taken out of the model";
    else if (reductions_ == most_failures)
      found_.why = "after " + std::to_string(most_failures) + " reductions no more are begun";
    else
      next_model_ = *rest;
  }

  /// Takes a reduction that found no failure.
  void end_with(Result result) {
    found_.passes = result.ending == Result::Ending::DoesNotFail && !found_.failures.empty();
    if (found_.passes)
      return;
    found_.why = result.ending == Result::Ending::Interrupted ? "it was interrupted" : result.why;
    if (found_.failures.empty())
      found_.failures.push_back(std::move(result));
  }

  /// Takes a reduction. If its bug is known only the number of its places is news, and its folder goes if it is ours.
  void keep(Result result, bool is_ours) {
    std::string key = to_string(bug_key(*result.program, result.facts), result.facts);
    const auto known = std::find(keys_.begin(), keys_.end(), key);
    if (known == keys_.end()) {
      keys_.push_back(std::move(key));
      found_.failures.push_back(std::move(result));
      return;
    }
    found_.failures[static_cast<size_t>(known - keys_.begin())].places += result.places;
    std::error_code ignored;
    if (is_ours)
      fs::remove_all(result.folder, ignored);
  }

  void write_what_was_found() const {
    if (options_.settings)
      write_atomically(options_.folder + "/config.toml", options_.settings({}));
    write_failures(found_, options_.anonymous ? "" : found_.failures.front().facts.model_path, options_.folder);
  }

  double seconds_so_far() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  std::string next_model_;
  const MinifyOptions &options_;
  const std::chrono::steady_clock::time_point begin_;
  int reductions_ = 0;
  AllFailures found_;
  std::vector<std::string> keys_; ///< of found_.failures
};

} // namespace

AllFailures minify_all(const std::string &model_path, const MinifyOptions &options) {
  if (options.folder.empty())
    throw UserError("MinifyOptions::folder: names no folder to write the repros into");
  const bool resumes = options.resume && fs::exists(options.folder + "/1/journal.jsonl");
  require_free(options.folder, options.force || resumes);
  return Series(model_path, options).all();
}

} // namespace repro_minify
