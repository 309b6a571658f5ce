#include "cli/terminal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

// Last, and in a file of its own: its macros have the names of variables.
#include <curses.h>
#include <term.h>

namespace repro_minify {
namespace {

/// Empty where this terminal cannot do it.
std::string capability(const char *name) {
  const char *text = tigetstr(name);
  return text && text != reinterpret_cast<char *>(-1) ? text : "";
}

/// https://no-color.org
bool wants_colour() {
  const char *no = std::getenv("NO_COLOR");
  return !no || !*no;
}

void print(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

} // namespace

Terminal::Terminal() {
  int problem = 0;
  if (isatty(STDERR_FILENO) == 0 || setupterm(nullptr, STDERR_FILENO, &problem) != OK)
    return;
  erase_below_ = capability("ed");
  can_redraw_ = !erase_below_.empty() && !capability("cuu1").empty();
  if (!capability("smam").empty() && !capability("rmam").empty()) {
    cut_lines_ = capability("rmam");
    break_lines_ = capability("smam");
  }
  if (wants_colour()) {
    bold_ = capability("bold");
    plain_ = capability("sgr0");
  }
}

int Terminal::width() const {
  winsize size{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

std::string Terminal::up(int rows) const {
  std::string text;
  for (int row = 0; row < rows; ++row)
    text += capability("cuu1");
  return text;
}

// The cursor rests at the begin of the last line. Where the window has become narrower some terminals break lines that
// were drawn: what is above our own number of lines is left alone, since it might not be ours. A window that becomes
// narrower between the width asked and the lines shown must not break them either: they are cut there.
void Terminal::draw(const std::vector<std::string> &block) {
  std::string text = "\r" + up(std::max(0, drawn_ - 1)) + erase_below_ + cut_lines_;
  for (size_t i = 0; i < block.size(); ++i)
    text += (i ? "\n" : "") + block[i];
  print(text + "\r" + break_lines_);
  drawn_ = static_cast<int>(block.size());
}

void Terminal::erase() {
  if (drawn_ > 0)
    print("\r" + up(drawn_ - 1) + erase_below_);
  drawn_ = 0;
}

std::string Terminal::bold(const std::string &text) const {
  return bold_.empty() || plain_.empty() ? text : bold_ + text + plain_;
}

} // namespace repro_minify
