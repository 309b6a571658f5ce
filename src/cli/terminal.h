// Standard error as a terminal on which a few lines can be drawn again and again. What moves its cursor is asked of
// terminfo (ncurses), which knows the terminal.
#pragma once

#include <string>
#include <vector>

namespace repro_minify {

class Terminal {
public:
  Terminal();
  /// False where standard error is no terminal, or one that cannot move its cursor up: nothing is drawn there.
  bool can_redraw() const { return can_redraw_; }
  /// Columns as of now: windows change their size.
  int width() const;
  /// In the place of what was drawn last. No line may be wider than width().
  void draw(const std::vector<std::string> &block);
  /// Erases what was drawn last, so that something else can be printed.
  void erase();
  /// Returns the text in bold, or as it is if NO_COLOR is set.
  std::string bold(const std::string &text) const;

private:
  std::string up(int rows) const;

  bool can_redraw_ = false;
  int drawn_ = 0; ///< lines that are on the screen
  std::string erase_below_, cut_lines_, break_lines_, bold_, plain_;
};

} // namespace repro_minify
