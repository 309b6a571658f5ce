// The table of backends: one row each, made in the backend's own file.
#pragma once

#include "repro_minify/backend.h"

#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

/// People write fuse_add_relu as often as fuse-add-relu.
std::string with_hyphens(std::string name);

std::unique_ptr<Backend> make_eager_backend(const BackendOptions &options);
std::unique_ptr<Backend> make_jit_backend(const BackendOptions &options);
std::unique_ptr<Backend> make_nnc_backend(const BackendOptions &options);
std::unique_ptr<Backend> make_freeze_backend(const BackendOptions &options);
std::unique_ptr<Backend> make_optimize_for_inference_backend(const BackendOptions &options);
std::unique_ptr<Backend> make_static_runtime_backend(const BackendOptions &options);
std::unique_ptr<Backend> make_autocast_backend(const BackendOptions &options);
std::unique_ptr<Backend> make_inductor_like_backend(const BackendOptions &options);
std::unique_ptr<Backend> make_inductor_backend(const BackendOptions &options);
/// `names` are pass names, each of list_passes().
std::unique_ptr<Backend> make_pass_backend(const std::vector<std::string> &names);
std::vector<NamedRow> list_passes();
/// Throws UserError for what is no plugin: a missing file, another version, functions that are not there.
std::unique_ptr<Backend> make_plugin_backend(const std::string &path);
NamedRow plugin_row();
/// `line` is split as split_words() does. Throws UserError for one without words.
std::unique_ptr<Backend> make_command_backend(const std::string &line, const BackendOptions &options);
NamedRow command_row();
/// `name`: as torch.compile knows it, or MODULE:FUNCTION. Throws UserError for an empty one.
std::unique_ptr<Backend> make_torch_compile_backend(const std::string &name, const BackendOptions &options);
NamedRow torch_compile_row();
/// The names that torch.compile knows in this Python; empty where there is none with torch. Imports torch for seconds.
std::vector<std::string> dynamo_backends(const std::string &python);
/// `recipe`: one of recipe_names(), or a FILE.py. Throws UserError for what is neither.
std::unique_ptr<Backend> make_export_backend(const std::string &recipe, const BackendOptions &options);
NamedRow export_row();
/// Those of this installation.
std::vector<std::string> recipe_names();

// The names of backends as --backend takes them: one or several.

/// Splits each text at its commas. What follows `pass:` and is no backend's name is another pass of it
/// ("pass:cse,dce,jit" is `pass:cse,dce` and `jit`); what begins with `plugin:` or `command:` goes to the end of its
/// text, commas included.
std::vector<std::string> split_backend_names(const std::vector<std::string> &texts);

/// Throws UserError for a name that no backend has, and starts nothing: what a plugin or a program is, is not known
/// yet.
void require_known_backends(const std::vector<std::string> &names);

/// True if all of these run calls of torch.fx, and so take a program of such calls as it is.
bool run_calls_of_python(const std::vector<std::string> &names);
/// True if the first is given a whole module: it computes with weights that it knows. The others are given a graph of
/// Dynamo's, which has them among its inputs.
bool take_weights_inside(const std::vector<std::string> &names);

} // namespace repro_minify
