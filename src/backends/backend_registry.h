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
std::vector<BackendRow> list_passes();
/// Throws UserError for what is no plugin: a missing file, another version, functions that are not there.
std::unique_ptr<Backend> make_plugin_backend(const std::string &path);
BackendRow plugin_row();
/// `line` is split as split_words() does. Throws UserError for one without words.
std::unique_ptr<Backend> make_command_backend(const std::string &line, const BackendOptions &options);
BackendRow command_row();

} // namespace repro_minify
