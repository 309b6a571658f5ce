#include "cli/progress_printer.h"

#include "cli/interruption.h"
#include "core/log.h"
#include "core/number_text.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace repro_minify {
namespace {

/// A line that is longer is broken when the window becomes narrower, and then cannot be taken back.
constexpr int widest = 64;

const std::map<std::string, std::string> &doing() {
  static const std::map<std::string, std::string> words = {{"load", "loading"},
                                                           {"original check", "checking as it is"},
                                                           {"flatten", "flattening"},
                                                           {"record", "recording its values of"},
                                                           {"flat check", "checking the flat program of"},
                                                           {"emit", "writing what is left of"},
                                                           {"bisect", "looking for the guilty step in"},
                                                           {"confirm", "loading again what is left of"},
                                                           {"verify", "building and running the repro of"},
                                                           {"workaround", "looking for a workaround for"},
                                                           {"versions", "asking other versions of PyTorch about"},
                                                           {"rest", "saving the rest of"},
                                                           {"other backends", "asking other backends about"},
                                                           {"page", "drawing the page of"}};
  return words;
}

/// How many columns a character takes: names may be of any script, and two are never too few.
int columns_of(unsigned char first) {
  const bool is_continuation = (first & 0xc0) == 0x80;
  return is_continuation ? 0 : first < 0x80 ? 1 : 2;
}

std::string clipped(const std::string &text, int width) {
  int columns = 0;
  size_t end = 0;
  for (; end < text.size(); ++end) {
    columns += columns_of(static_cast<unsigned char>(text[end]));
    if (columns > width)
      break;
  }
  return text.substr(0, end);
}

std::string seconds_text(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 60)
    return std::to_string(whole) + " s";
  return std::to_string(whole / 60) + ":" + padded_text(static_cast<std::uint64_t>(whole % 60), 2) + " min";
}

std::string rate_text(const Progress &progress) {
  if (progress.elapsed_seconds < 0.2)
    return "";
  const double rate = progress.checks / progress.elapsed_seconds;
  return ", " + fixed_text(rate, rate < 10 ? 1 : 0) + " a second";
}

/// Returns the first words of the pass's summary, after ": "; empty if there is no such pass.
std::string summary_of(const std::string &pass) {
  for (const auto &row : list_reduction_passes())
    if (row.name == pass)
      return ": " + row.summary.substr(0, row.summary.find(';'));
  return "";
}

/// Sizes as a row of bars, `width` characters at most, the first and the last included.
std::string small_curve(const std::vector<int> &sizes, int width, bool plain) {
  static constexpr std::array<const char *, 8> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<const char *, 8> letters = {".", ":", "-", "=", "+", "*", "#", "@"};
  const auto &bars = plain ? letters : blocks;
  if (sizes.empty() || width < 1)
    return "";
  const double largest = std::log2(1.0 + *std::max_element(sizes.begin(), sizes.end()));
  const size_t count = std::min(sizes.size(), static_cast<size_t>(width));
  std::string curve;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = count == 1 ? sizes.size() - 1 : i * (sizes.size() - 1) / (count - 1);
    const double share = largest > 0 ? std::log2(1.0 + sizes[at]) / largest : 0;
    curve += bars[static_cast<size_t>(std::clamp(std::lround(share * 7), 0L, 7L))];
  }
  return curve;
}

std::vector<std::string> search_lines(const ProgressPrinter::State &state, int width, bool plain) {
  const Progress &progress = state.progress;
  const int before = std::max(state.operators_before, progress.operators);
  const std::string sizes = std::to_string(before) + " -> " + counted(progress.operators, "operator") + " ";
  const std::string time = counted(progress.checks, "check") + rate_text(progress);
  const int room = std::min(24, width - static_cast<int>(sizes.size()) - 2);
  return {clipped("  " + sizes, width) + (room > 4 ? small_curve(state.sizes, room, plain) : ""),
          clipped("  " + time, width), clipped("  now " + progress.pass + summary_of(progress.pass), width)};
}

using std::chrono::milliseconds;

/// True if the locale is UTF-8. As in the C library, the first of these variables that is not empty decides.
bool locale_is_utf8() {
  for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char *value = std::getenv(name); value && *value) {
      const std::string locale = value;
      return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
  return false;
}

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

/// The lines, the first of them a heading, none of them wider than `width` columns. `plain`: in ASCII.
std::vector<std::string> live_lines(const ProgressPrinter::State &state, int width, bool plain) {
  const int room = std::max(1, std::min(width - 1, widest));
  const auto known = doing().find(state.phase);
  const std::string heading = (known == doing().end() ? "reducing" : known->second) + " " + clean(state.subject);
  const std::string time = " (" + seconds_text(state.seconds) + ")";
  std::vector<std::string> lines = {
      clipped(clipped(heading, std::max(1, room - static_cast<int>(time.size()))) + time, room)};
  if (state.progress.checks > 0)
    for (auto &line : search_lines(state, room, plain))
      lines.push_back(std::move(line));
  if (known != doing().end() && lines.size() > 3)
    lines.resize(2); // the search is over: how far it came is all that is left to say of it
  if (!state.count.empty())
    lines.push_back(clipped("  " + state.count, room));
  return lines;
}

} // namespace

ProgressPrinter::ProgressPrinter(bool quiet, std::string subject) : quiet_(quiet), plain_(!locale_is_utf8()) {
  state_.subject = std::move(subject);
  state_.phase = "load";
}
ProgressPrinter::~ProgressPrinter() {
  finish();
}

bool ProgressPrinter::is_time(milliseconds pause) {
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ || now - last_ < pause)
    return false;
  last_ = now;
  return true;
}

void ProgressPrinter::draw() {
  state_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  std::vector<std::string> lines = live_lines(state_, terminal_.width(), plain_);
  lines.front() = terminal_.bold(lines.front());
  terminal_.draw(lines);
}

void ProgressPrinter::print_line(const std::string &text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
}

/// Ten times a second: it goes on turning while one check takes its time.
void ProgressPrinter::tick() {
  if (terminal_.can_redraw() && is_time(milliseconds(100)))
    draw();
}

void ProgressPrinter::enter(const std::string &phase) {
  state_.phase = phase;
  state_.count.clear();
  tick();
}

void ProgressPrinter::begin(const ProgramSize &size) {
  state_.operators_before = size.operators;
  state_.sizes.assign(1, size.operators);
}

/// Where nothing can be drawn again a line for each step forward, but not for each of many at once, and one now and
/// then.
void ProgressPrinter::show(const Progress &progress) {
  state_.progress = progress;
  state_.sizes.push_back(progress.operators);
  if (terminal_.can_redraw())
    return tick();
  if (!is_time(milliseconds(progress.operators != last_operators_ ? 200 : 2000)))
    return;
  last_operators_ = progress.operators;
  print_line(progress.pass + ": " + counted(progress.checks, "check") + ", best so far " +
             counted(progress.operators, "operator") + " (" + counted(progress.nodes, "node") + "), " +
             fixed_text(progress.elapsed_seconds, 1) + " s");
}

void ProgressPrinter::show_count(const std::string &what, int done, int of) {
  state_.count = what + ": " + (of > 0 ? std::to_string(done) + " of " + std::to_string(of) : counted(done, "check"));
  if (terminal_.can_redraw())
    tick();
  else if (is_time(milliseconds(2000)))
    print_line(state_.count);
}

void ProgressPrinter::hide() {
  terminal_.erase();
}

void ProgressPrinter::finish() {
  state_.count.clear();
  hide();
}

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
