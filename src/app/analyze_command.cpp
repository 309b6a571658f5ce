#include "app/options.h"
namespace repro_minify {
int analyze_command(const Options &) {
  return 0;
}
} // namespace repro_minify
