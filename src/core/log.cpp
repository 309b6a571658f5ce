#include "core/log.h"

#include "core/escape.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace repro_minify::log {
namespace {

spdlog::logger &logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = spdlog::stderr_color_st("repro-minify");
    made->set_pattern("%^%l%$: %v");
    return made;
  }();
  return *instance;
}

} // namespace

void set_level(Level level) {
  static constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                         spdlog::level::err, spdlog::level::off};
  logger().set_level(levels[static_cast<int>(level)]);
}
// The message is an argument, never the format, and is shown, never obeyed: it may hold text from a model.
void debug(const std::string &message) {
  logger().debug("{}", visible_text(message));
}
void info(const std::string &message) {
  logger().info("{}", visible_text(message));
}
void warning(const std::string &message) {
  logger().warn("{}", visible_text(message));
}
void error(const std::string &message) {
  logger().error("{}", visible_text(message));
}

} // namespace repro_minify::log
