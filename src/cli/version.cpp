#include "cli/options.h"

#include "program/operator_libraries.h"
#include "repro_minify_commit.h" // src/commit.cmake writes it at each build

namespace repro_minify {
namespace {

#ifdef __clang__
constexpr const char *compiler = __VERSION__; // "Debian Clang 14.0.6": it names itself
#else
constexpr const char *compiler = "GCC " __VERSION__;
#endif

} // namespace

std::string version_text() {
  return "repro-minify " REPRO_MINIFY_VERSION "\ntorch " + libtorch_version() +
         "\ncommit " REPRO_MINIFY_COMMIT "\ncompiler " + compiler;
}

} // namespace repro_minify
