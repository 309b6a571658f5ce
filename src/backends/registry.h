// The table of backends: one row each, made in the backend's own file.
#pragma once
#include "repro_minify/backend.h"

#include <memory>
#include <string>
#include <vector>

namespace repro_minify {

std::unique_ptr<Backend> make_eager_backend();
std::unique_ptr<Backend> make_jit_backend();
std::unique_ptr<Backend> make_nnc_backend();
std::unique_ptr<Backend> make_freeze_backend();
std::unique_ptr<Backend> make_optimize_for_inference_backend();
std::unique_ptr<Backend> make_static_runtime_backend();
std::unique_ptr<Backend> make_autocast_backend();
/// `names` are pass names, each of list_passes().
std::unique_ptr<Backend> make_pass_backend(const std::vector<std::string> &names);
std::vector<BackendRow> list_passes();

} // namespace repro_minify
