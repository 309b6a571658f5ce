#include "cli/listening.h"

#include "cli/interruption.h"
#include "core/joined.h"
#include "core/log.h"

#include <filesystem>

namespace repro_minify {
namespace {

void write_to_log(Severity severity, const std::string &text) {
  switch (severity) {
  case Severity::Detail:
    return log::debug(text);
  case Severity::Info:
    return log::info(text);
  case Severity::Warning:
    return log::warning(text);
  case Severity::Error:
    return log::error(text);
  }
}

} // namespace

MinifyOptions minify_options(const Options &options, ProgressPrinter &progress) {
  MinifyOptions how = minify_options(options);
  Listener &listener = how.listener;
  listener.message = [&progress](Severity severity, const std::string &text) {
    progress.hide();
    write_to_log(severity, text);
  };
  listener.progress = [&progress](const Progress &now) { progress.show(now); };
  listener.count = [&progress](const std::string &what, int done, int of) { progress.show_count(what, done, of); };
  listener.finished = [&progress] { progress.finish(); };
  listener.phase = [&progress](const std::string &phase) { progress.enter(phase); };
  listener.begun = [&progress](const ProgramSize &size) { progress.begin(size); };
  listener.interrupted = [&progress] {
    progress.tick();
    return stop_requested();
  };
  return how;
}

std::string factory_of(const Options &options) {
  const std::string backends = joined(options.backends, ",");
  const std::string model = std::filesystem::path(options.model).filename().string();
  return backends.empty() ? model : model + " under " + backends;
}

} // namespace repro_minify
