#include "tasks/child_process.h"

#include "core/no_answer.h"
#include "repro_minify/sandbox.h"
#include "tasks/crash_frames.h"
#include "tasks/descendants.h"
#include "tasks/limits.h"
#include "tasks/shared_area.h"
#include "tasks/time_limit.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace repro_minify {
namespace {

void flush_output() {
  std::cout.flush();
  std::fflush(stdout);
  std::fflush(stderr);
}

[[noreturn]] void leave(SharedArea &area, Ending ending) {
  flush_output();
  area.finish(ending);
  // Tells the parent at once: the kernel closes descriptors only after it has taken the memory back, which takes as
  // long as a small check.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  // The parent wakes on this processor where the others are busy, and kills this process once it has the answer. To end
  // at once would keep it waiting until the kernel is done.
  constexpr timespec while_parent_takes_over{0, 10'000'000};
  nanosleep(&while_parent_takes_over, nullptr);
  _exit(0);
}

class SandboxedChild final : public Child {
public:
  SandboxedChild(SharedArea &area, const Limits &limits, TimeLimit::Clock::time_point forked)
      : area_(area), limit_{forked, forked + limits.timeout}, has_limit_(limits.timeout.count() > 0),
        allow_for_load_(limits.allow_for_load) {}
  /// Begins the time of another question.
  void begin(std::chrono::nanoseconds limit) {
    const auto now = TimeLimit::Clock::now();
    limit_ = {now, now + limit, use_of_this_process()};
    has_limit_ = limit.count() > 0;
  }
  void stage(std::string_view name) override {
    leave_if_late();
    area_.set_stage(name);
  }
  void allow(std::chrono::milliseconds time) override {
    leave_if_late();
    area_.set_deadline(time);
  }
  void reply(std::string_view bytes) override { area_.append_reply(bytes); }
  /// Once: another question finds the process confined.
  void confine(const Confinement &confinement) override {
    if (!std::exchange(is_confined_, true))
      repro_minify::confine(confinement);
  }

private:
  /// A stage that took too long is the last one, also where the parent has not looked since.
  void leave_if_late() {
    const auto now = TimeLimit::Clock::now();
    const auto own = area_.own_limit();
    const bool late = (has_limit_ && limit_.is_over(now, allow_for_load_, use_of_this_process)) ||
                      (own && own->is_over(now, allow_for_load_, use_of_this_process));
    if (late && getpid() == self_) // a copy that the job made of itself has no say
      leave(area_, Ending::TimedOut);
  }

  SharedArea &area_;
  TimeLimit limit_;
  bool has_limit_, is_confined_ = false;
  const bool allow_for_load_;
  const pid_t self_ = getpid();
};

/// For the handlers below, which take no argument. A sandbox inside a sandbox sets it anew.
SharedArea *area_of_this_process = nullptr;
bool memory_is_limited = false;

/// Called while an exception is being handled. Copies its text straight into the area: there may be no memory left for
/// a string.
Ending describe_current_exception(SharedArea &area) {
  try {
    throw;
  } catch (const std::bad_alloc &error) {
    area.set_message(error.what());
    return Ending::OutOfMemory;
  } catch (const std::exception &error) {
    area.set_message(error.what());
    return memory_is_limited && is_out_of_memory(error.what()) ? Ending::OutOfMemory : Ending::Threw;
  } catch (...) {
    area.set_message("unknown exception");
    return Ending::Threw;
  }
}

/// An exception that leaves a thread or a destructor ends the process by abort(); this keeps what it said.
[[noreturn]] void describe_and_abort() {
  static bool already_here = false; // what() itself may call std::terminate
  if (!already_here && std::current_exception()) {
    already_here = true;
    if (describe_current_exception(*area_of_this_process) == Ending::OutOfMemory)
      area_of_this_process->note_failed_allocation();
  }
  std::abort();
}

[[noreturn]] void refuse_allocation() {
  area_of_this_process->note_failed_allocation();
  throw std::bad_alloc();
}

/// A job that calls exit() would run the handlers and destructors that its parent has registered, and write its
/// parent's buffers a second time. Registered last, this runs first, and nothing runs after it.
void leave_at_once(int status, void *) {
  flush_output();
  area_of_this_process->note_end();
  _exit(status);
}

/// Whatever the parent handles or ignores, the child meets with the default: a crash has to look like one.
void restore_default_signals() {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal)
    sigaction(signal, &plain, nullptr);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void die_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it died before the line above
    _exit(1);
}

void redirect_standard_streams(int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  for (const int spare : {output, nothing})
    if (spare > STDERR_FILENO)
      close(spare);
  // The parent's unwritten output is the parent's to write. By line, so that a crash loses no whole line.
  __fpurge(stdout);
  // A buffer of its own: glibc does not take a change of mode alone seriously once something has been printed.
  static std::array<char, BUFSIZ> buffer;
  setvbuf(stdout, buffer.data(), _IOLBF, buffer.size());
}

void set_up(const Limits &limits, SharedArea &area, const ChildEnds &ends) {
  setpgid(0, 0);
  die_with_parent(ends.parent);
  if (limits.niceness > 0)
    setpriority(PRIO_PROCESS, 0, limits.niceness);
  mark_as_check();
  redirect_standard_streams(ends.output);
  prepare_processor_use();
  area_of_this_process = &area;
  memory_is_limited = limits.memory_bytes != 0;
  std::set_terminate(describe_and_abort);
  std::set_new_handler(refuse_allocation);
  on_exit(leave_at_once, nullptr);
  volunteer_for_out_of_memory_killer();
  forbid_core_dumps();
  if (memory_is_limited)
    limit_added_memory(limits.memory_bytes);
  restore_default_signals();
}

/// Not inlined: its return address tells where the frames of the job end and those of the sandbox begin.
[[gnu::noinline]] Ending run_job(const Job &job, SharedArea &area, SandboxedChild &child) {
  install_crash_handler(area, __builtin_return_address(0));
  const pid_t self = getpid();
  // A job may fork and let its child return as well: that one has no say.
  const auto leave_if_a_copy = [self] {
    if (getpid() != self)
      _exit(0);
  };
  Ending ending = Ending::Replied;
  try {
    job(child);
  } catch (...) {
    leave_if_a_copy();
    ending = describe_current_exception(area);
  }
  leave_if_a_copy();
  return ending;
}

/// True if nothing is left in the process that another answer of the service could depend on.
bool is_as_before(const Job &job) {
  try {
    return job.service()->is_as_before();
  } catch (...) {
    return false;
  }
}

/// Tells the parent that the answer is there, and waits for the next question. False where none will come.
bool waits_for_question(SharedArea &area, const ChildEnds &ends) {
  flush_output();
  area.finish_and_go_on();
  char byte = 0;
  pollfd entry{ends.questions, POLLIN, 0};
  return write(ends.end, &byte, 1) == 1 && poll(&entry, 1, -1) == 1 && read(ends.questions, &byte, 1) == 1;
}

} // namespace

void is_helped_by(pid_t helper) {
  if (area_of_this_process)
    area_of_this_process->set_helper(helper);
}

void run_child(const Job &job, const Limits &limits, SharedArea &area, const ChildEnds &ends) noexcept {
  set_up(limits, area, ends);
  SandboxedChild child(area, limits, ends.forked);
  Ending ending = run_job(job, area, child);
  bool as_before = job.service() && ending == Ending::Replied && is_as_before(job);
  for (int answered = 1; as_before && answered < job.service()->most_questions; ++answered) {
    if (!waits_for_question(area, ends))
      _exit(0);
    std::chrono::nanoseconds limit{};
    const std::string question = area.take_question(limit);
    child.begin(limit);
    ending = run_job([&](Child &self) { job.service()->answer(self, question); }, area, child);
    as_before = ending == Ending::Replied && is_as_before(job);
    if (ending == Ending::Replied && !as_before)
      ending = Ending::Threw; // what spoilt the process may have come before: the answer counts for nothing
  }
  leave(area, ending);
}

} // namespace repro_minify
