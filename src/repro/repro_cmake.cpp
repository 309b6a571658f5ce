#include "repro/repro_py.h"

#include "core/programs.h"
#include "repro/render.h"

#include <filesystem>

namespace repro_minify {

std::string repro_cmake_lists(const std::vector<std::string> &libraries, bool has_operators) {
  const bool cuda = std::filesystem::exists(torch_prefix_in_use(REPRO_MINIFY_TORCH_PREFIX) + "/lib/libtorch_cuda.so");
  return render("CMakeLists.txt.tpl",
                {{"cuda", cuda}, {"cpu", !cuda}, {"libraries", libraries}, {"has_operators", has_operators}});
}

std::string runner_cmake_lists() {
  return render("CMakeLists.txt.tpl", {{"runs_python", true}});
}

} // namespace repro_minify
