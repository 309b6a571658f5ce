// A runtime of another project, by a recipe: it is given the program that torch.export makes.
#include "backends/backend_registry.h"
#include "backends/in_python.h"
#include "backends/inductor/inductor_wire.h"
#include "backends/inductor/worker_backend.h"
#include "core/files.h"
#include "core/programs.h"
#include "core/text.h"
#include "repro_minify/program.h"

#include <algorithm>
#include <filesystem>

namespace repro_minify {
namespace {

fs::path folder_of_recipes() {
  return fs::path(inductor_worker_script()).parent_path() / "recipes";
}

class ExportBackend : public WorkerBackend, public OwnBisector, public OwnTracker {
public:
  ExportBackend(const std::string &recipe, const BackendOptions &options)
      : WorkerBackend("export:" + recipe, options, with_backend_options({"recipe=" + importable(recipe)}, options)),
        recipe_(recipe) {}

  std::string summary() const override { return export_row().summary; }
  std::string title() const override { return recipe().is_null() ? name() : recipe().at("title").get<std::string>(); }
  std::string needs() const override { return "Python with torch, and that runtime"; }

  /// One of ours says which packages it needs, and whether they are there is seen without importing them.
  std::string unusable_because() const override {
    if (const std::string problem = WorkerBackend::unusable_because(); !problem.empty())
      return problem;
    const std::string script = (fs::path(inductor_worker_script()).parent_path() / "needs.py").string();
    const fs::path file = is_python_file(recipe_) ? fs::path(recipe_) : folder_of_recipes() / (recipe_ + ".py");
    const TemporaryFolder folder;
    const std::string answer = folder / "missing";
    wait_for_program(
        start_program({.words = {python(), "-B", script, file.string()}, .output = answer, .own_group = true}));
    std::string missing = read_file(answer);
    if (missing.ends_with('\n'))
      missing.pop_back();
    return missing.empty() ? "" : "its Python, " + python() + ", lacks what the recipe needs: pip install " + missing;
  }

  Identity identity() const override {
    Identity identity = WorkerBackend::identity();
    if (is_python_file(recipe_))
      identity.add_file("the recipe", recipe_);
    if (!recipe().is_null())
      for (const auto &pair : recipe().at("versions"))
        identity.add(pair.at(0).get<std::string>() + " of " + name(), pair.at(1).get<std::string>());
    return identity;
  }

  std::vector<std::string> what_can_go() const override { return recipe().at("steps"); }

  bool is_chain() const override { return true; }

  /// There are few steps, and each takes those before it: the first beginning that is wrong ends with the guilty one.
  std::optional<OwnBisector::Finding> bisect(const Fails &fails) const override {
    const auto steps = what_can_go();
    for (size_t count = 1; count <= steps.size(); ++count) {
      const std::vector<std::string> taken(steps.begin(), steps.begin() + static_cast<long>(count));
      if (fails(with(taken), words_of(count)))
        return OwnBisector::Finding{
            .guilty = taken.back(), .pass = taken.back(), .confirmed = true, .note = note_of(count)};
    }
    return std::nullopt;
  }

  const json &tracker() const override { return recipe(); }

  std::vector<std::pair<std::string, std::string>> artefacts(const Program &program) const override {
    const InductorMessage answer = ask_about("artefact", program, json::object());
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto &name : answer.header.at("names"))
      files.emplace_back(name.get<std::string>(), string_of(answer.blobs.at(files.size())));
    return files;
  }

  Compiled compile(torch::jit::Module module) const override {
    if (at::GradMode::is_enabled())
      throw UserError("--backend " + name() + ": a program that torch.export made has no gradients; leave --grad out");
    return WorkerBackend::compile(std::move(module));
  }

  BackendTraits traits() const override {
    BackendTraits traits = WorkerBackend::traits();
    traits.gradients = Gradients::IfItHasAny;
    traits.runs_the_module = false; // a runtime is given values, and may leave something else in them
    traits.boxed_call = true;
    return traits;
  }

  BackendParts parts() const override {
    BackendParts parts = WorkerBackend::parts();
    parts.bisector = this;
    parts.tracker = this;
    return parts;
  }

private:
  std::shared_ptr<const Backend> with(const std::vector<std::string> &steps) const {
    auto backend = std::make_shared<ExportBackend>(*this);
    backend->entries_of_checks_ = {"steps=" + json(steps).dump()};
    return backend;
  }

  std::string step(size_t count) const { return what_can_go().at(count - 1); }

  /// The name of a recipe's converter, what runs its result, and where its failures belong; all empty where the recipe
  /// has none.
  struct Converter {
    std::string name, runner, component;
  };
  Converter converter() const {
    const json &given = recipe().at("converter");
    return given.is_null() ? Converter{} : Converter{given.at(0), given.at(1), given.at(2)};
  }

  /// Returns what computes where the first `count` steps are taken.
  std::string words_of(size_t count) const {
    if (count == 1)
      return "the exported program, run by eager PyTorch";
    if (const Converter one = converter(); step(count) == one.name)
      return "what " + one.name + " makes of it, run by " + one.runner;
    if (step(count) == recipe().at("name"))
      return title() + (step(count) == what_can_go().back() ? "" : ", with all switched off that can be");
    return title() + ", up to " + step(count);
  }

  std::string note_of(size_t count) const {
    const std::string right = "The exported program is right where eager PyTorch runs it; ";
    if (count == 1)
      return "torch.export cannot export the program, or what it makes is wrong where eager PyTorch runs it: the fault "
             "is torch.export's, not " +
             title() + "'s.";
    if (const Converter one = converter(); step(count) == one.name)
      return right + words_of(count) + ", fails before " + title() + " runs it (" + one.component + ").";
    if (step(count) != recipe().at("name"))
      return "Without " + step(count) + " the result is right.";
    const std::string words = words_of(count); // with a clause between commas, or without one
    return right + words + (words == title() ? " fails." : ", fails.");
  }

  std::string recipe_;
};

} // namespace

NamedRow export_row() {
  return {"export:NAME|FILE.py", "a runtime that is given what torch.export makes, by a recipe"};
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto &entry : fs::directory_iterator(folder_of_recipes(), none))
    if (entry.path().extension() == ".py")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::unique_ptr<Backend> make_export_backend(const std::string &recipe, const BackendOptions &options) {
  const auto names = recipe_names();
  if (is_python_file(recipe)) {
    if (!fs::is_regular_file(recipe))
      throw UserError("--backend export:" + recipe + ": there is no such file");
  } else if (std::find(names.begin(), names.end(), recipe) == names.end()) {
    auto known = names;
    known.emplace_back("and a FILE.py of your own");
    throw UserError("--backend export:" + recipe + ": unknown recipe; known are " + joined(known) +
                    did_you_mean(recipe, names));
  }
  return std::make_unique<ExportBackend>(recipe, options);
}

} // namespace repro_minify
