// Anybody's backend as a shared library with the functions of repro_minify/backend_plugin.h.
#include "repro_minify/backend_plugin.h"

#include "backends/backend_parts.h"
#include "backends/backend_registry.h"
#include "backends/external/command_server.h"
#include "core/escape.h"
#include "program/compute.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/program.h"
#include "tasks/sandbox.h"

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>

#include <dlfcn.h>

#include <filesystem>
#include <type_traits>

namespace repro_minify {
namespace {

#include "backends/external/embedded/plugin_program.inc"

static_assert(REPRO_MINIFY_BACKEND_ABI == 1, "as the embedded text says");
static_assert(std::is_same_v<decltype(Plugin::name), decltype(&repro_minify_backend_name)>);
static_assert(std::is_same_v<decltype(Plugin::version), decltype(&repro_minify_backend_version)>);
static_assert(std::is_same_v<decltype(Plugin::last_error), decltype(&repro_minify_backend_last_error)>);
static_assert(std::is_same_v<decltype(Plugin::compile), decltype(&repro_minify_backend_compile)>);
static_assert(std::is_same_v<decltype(Plugin::run), decltype(&repro_minify_backend_run)>);
static_assert(std::is_same_v<decltype(Plugin::free), decltype(&repro_minify_backend_free)>);

/// Loaded only where it may crash: in a child. What it calls itself; empty if it takes the child with it, which is for
/// the check to find.
std::string ask_for_name(const std::string &path) {
  Limits limits;
  limits.timeout = std::chrono::minutes(1);
  const JobEnd job_end = run_until_answered(
      [&](Child &child) {
        const Plugin plugin(path);
        child.reply(std::string(plugin.name()) + " " + plugin.version());
      },
      limits);
  if (job_end.ending == Ending::Threw)
    throw UserError("--backend plugin:" + path + ": cannot be used: " + job_end.message);
  if (job_end.ending == Ending::Killed)
    throw std::runtime_error("--backend plugin:" + path + ": what asked for its name was killed; try again");
  return job_end.reply;
}

std::string require_library(const std::string &given) {
  std::error_code error;
  const auto path = std::filesystem::absolute(given, error).lexically_normal();
  if (given.empty() || !std::filesystem::is_regular_file(path, error))
    throw UserError("--backend plugin:" + given + ": no such file; give the path of a shared library");
  return path.string();
}

class PluginBackend final : public Backend, public Surroundings {
public:
  explicit PluginBackend(const std::string &given)
      : given_(given), path_(require_library(given)), calls_itself_(ask_for_name(path_)) {}

  std::string name() const override { return "plugin:" + given_; }
  std::string summary() const override { return plugin_row().summary; }
  std::string title() const override {
    const std::string file = std::filesystem::path(path_).filename().string();
    return "the plugin " + file + (calls_itself_.empty() ? "" : " (" + calls_itself_ + ")");
  }
  std::string needs() const override { return "the library " + path_; }
  /// The user's own.
  Confinement confinement() const override { return {.none = true}; }
  Identity identity() const override {
    Identity identity;
    identity.add("the plugin's path", path_);
    identity.add("the plugin's name", calls_itself_);
    identity.add_file("the plugin", path_);
    return identity;
  }
  /// Every argument of a flat graph is a tensor, and hardly anything else is returned.
  BackendTraits traits() const override { return {.needs_flat_graph = true, .loads_what_was_saved = true}; }
  BackendParts parts() const override { return {.surroundings = this}; }

  Compiled compile(torch::jit::Module module) const override {
    if (at::GradMode::is_enabled())
      throw UserError("--backend " + name() + ": a plugin computes no gradients; leave --grad out");
    try {
      return [program = std::make_shared<PluginProgram>(path_, module)](std::vector<c10::IValue> arguments) {
        try {
          return (*program)(arguments);
        } catch (const CannotCross &error) {
          throw CannotCompile(std::string("a tensor cannot be handed over as DLPack: ") + first_sentence(error.what()));
        }
      };
    } catch (const std::invalid_argument &error) {
      throw UserError("--backend " + name() + ": " + error.what());
    }
  }

  BackendSource source() const override {
    return {.includes = {"ATen/DLConvertor.h", "cstdlib", "dlfcn.h", "memory", "sstream", "stdexcept"},
            .prepare = "  const char* other = std::getenv(\"REPRO_PLUGIN\");\n"
                       "  PluginProgram call(other ? other : plugin_path, module);\n",
            .file_scope = "// The environment variable REPRO_PLUGIN names it elsewhere.\n"
                          "static const char* const plugin_path = " +
                          cpp_string(path_) + ";\n\nstruct repro_minify_compiled;\n\n" + plugin_program_text,
            .libraries = {"${CMAKE_DL_LIBS}"}};
  }

private:
  const std::string given_, path_, calls_itself_;
};

} // namespace

std::unique_ptr<Backend> make_plugin_backend(const std::string &path) {
  return std::make_unique<PluginBackend>(path);
}

NamedRow plugin_row() {
  return {"plugin:PATH.so", "a shared library of your own: docs/backends.md"};
}

} // namespace repro_minify
