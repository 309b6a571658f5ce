// The end of what a child writes.
#pragma once
#include <string>

namespace repro_minify {

/// A pipe rather than a file: a child that writes for ever waits for its reader, and fills neither disk nor memory.
class OutputTail {
public:
  /// Throws std::system_error.
  OutputTail();
  ~OutputTail();
  OutputTail(const OutputTail &) = delete;
  OutputTail &operator=(const OutputTail &) = delete;

  int write_end() const { return write_end_; }
  int read_end() const { return read_end_; } ///< -1 when every writer has gone
  /// The child has its own by now.
  void close_write_end();
  /// Reads what is there, some megabytes at most, so that other children do not have to wait for long.
  void drain();
  const std::string &text() const { return text_; }
  /// Forgets what was written so far.
  void restart() {
    drain();
    text_.clear();
  }

private:
  int read_end_ = -1;
  int write_end_ = -1;
  std::string text_;
};

/// Both ends close on exec; the parent's end never blocks. Throws std::system_error.
void make_pipe(int &read_end, int &write_end);
/// Closes it unless it is -1, and sets it to -1.
void close_descriptor(int &descriptor);

} // namespace repro_minify
