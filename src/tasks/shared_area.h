// The memory that one child and its parent share. It outlives the child's death and needs no file descriptor.
#pragma once
#include "repro_minify/sandbox.h"
#include "tasks/time_limit.h"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace repro_minify {

/// The child writes, the parent reads once the child has ended, or waits for the next question. A child that runs wild
/// may have written anything here, so the parent trusts no size and no ending that it finds.
class SharedArea {
public:
  /// One frame of the stack of a thread that crashed.
  struct Frame {
    const void *address; ///< of an instruction within the call
    std::string symbol;  ///< as the linker knows it; empty = the parent has to look the address up
  };
  static constexpr std::size_t most_frames = 24;

  /// Throws std::system_error or std::length_error.
  explicit SharedArea(std::size_t reply_capacity);
  ~SharedArea();
  SharedArea(const SharedArea &) = delete;
  SharedArea &operator=(const SharedArea &) = delete;

  /// Keeps this area out of the processes that are forked from now on: they could scribble on it, and would keep its
  /// pages in use.
  void hide_from_later_children();

  // The child's side.
  void set_stage(std::string_view name);
  void set_deadline(std::chrono::milliseconds from_now);
  void set_helper(pid_t helper);
  void append_reply(std::string_view bytes);
  void set_message(std::string_view text);
  /// Remembered until the stage changes or the process ends.
  void note_failed_allocation();
  // For signal handlers: no lock, no allocation. Frames come innermost first; those that are too many are left out.
  void clear_frames();
  void add_frame(const void *address);
  void name_frame(std::size_t index, const char *symbol); ///< of one that was added
  /// Remembers when, and how much of a processor later, the process ends; from a signal handler too.
  void note_end();
  /// Marks the reply as complete, as the child's last write; without it there is no reply. `ending`: Replied, Threw,
  /// OutOfMemory or TimedOut.
  void finish(Ending ending);
  /// Does what finish(Ending::Replied) does, in a process that then waits for the next question.
  void finish_and_go_on();
  /// Takes the question that the parent has put here, and the time that it may take (0: no limit).
  std::string take_question(std::chrono::nanoseconds &limit);

  // The parent's side.
  bool finished() const;
  bool goes_on() const; ///< valid when finished()
  /// Makes the area as new for the child, which waits, and puts a question there. False where it does not fit.
  bool put_question(std::string_view question, std::chrono::nanoseconds limit);
  Ending ending() const; ///< valid when finished()
  bool allocation_failed() const;
  std::int64_t stage_began_ns() const; ///< steady clock; 0: no stage
  /// The most memory that the child had taken when its stage began, since its first one did.
  std::uint64_t bytes_before_stage() const;
  /// The limit that the child has set itself, for its stage.
  std::optional<TimeLimit> own_limit() const;
  pid_t helper() const;                 ///< see is_helped_by(); 0: none
  std::int64_t ended_at_ns() const;     ///< steady clock, which is the same in every process; 0: not known
  ProcessorUse use_at_end() const;      ///< as the child saw it when it ended
  std::uint64_t peak_rss_bytes() const; ///< as the child saw it when it finished
  std::string stage() const;
  std::string message() const;
  std::vector<Frame> frames() const;
  /// Gives each page back to the system as soon as it is copied: a large reply does not need its memory twice.
  std::string take_reply();

private:
  struct Header;
  Header &header() const;
  char *reply_begin() const;

  std::size_t capacity_;
  std::size_t mapped_bytes_ = 0;
  void *mapping_ = nullptr;
};

} // namespace repro_minify
