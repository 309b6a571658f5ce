#include "cli/terminal/live_block.h"

#include "core/number_text.h"
#include "core/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
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

std::vector<std::string> search_lines(const LiveState &state, int width, bool plain) {
  const Progress &progress = state.progress;
  const int before = std::max(state.operators_before, progress.operators);
  const std::string sizes = std::to_string(before) + " -> " + std::to_string(progress.operators) + " operators ";
  const std::string time = std::to_string(progress.checks) + " checks" + rate_text(progress);
  const int room = std::min(24, width - static_cast<int>(sizes.size()) - 2);
  return {clipped("  " + sizes, width) + (room > 4 ? small_curve(state.sizes, room, plain) : ""),
          clipped("  " + time, width), clipped("  now " + progress.pass + summary_of(progress.pass), width)};
}

} // namespace

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

std::vector<std::string> live_lines(const LiveState &state, int width, bool plain) {
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

} // namespace repro_minify
