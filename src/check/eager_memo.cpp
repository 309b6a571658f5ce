#include "check/eager_memo.h"

#include "repro_minify/confinement.h"

#include <atomic>
#include <system_error>

#include <unistd.h>

namespace repro_minify {
namespace {

/// Everything about a backend that its eager side depends on (CheckContext); the options are the same for all.
std::string settings_of(const Backend &backend, const CheckOptions &options) {
  const bool all_gradients = !options.grad || backend.traits().gradients == Gradients::All;
  return std::string(run_settings(backend, options).autocast ? "autocast" : "") + "," +
         (all_gradients ? "all gradients" : "");
}

} // namespace

EagerMemo::EagerMemo() : owner_(getpid()) {
  static std::atomic<int> number = 0;
  folder_ = private_folder_of_children() / ("eager-" + std::to_string(++number));
  std::filesystem::create_directory(folder_);
}

EagerMemo::~EagerMemo() {
  std::error_code error;
  if (getpid() == owner_)
    std::filesystem::remove_all(folder_, error);
}

std::string EagerMemo::file_for(const std::string &program, const Backend &backend, const CheckOptions &options) {
  const auto [known, is_new] = files_.try_emplace(program + "," + settings_of(backend, options));
  if (is_new)
    known->second = folder_ / std::to_string(files_.size());
  return known->second;
}

} // namespace repro_minify
