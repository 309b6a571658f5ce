#include "tasks/crash_frames.h"

#include "tasks/shared_area.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

namespace repro_minify {
namespace {

constexpr std::array fatal_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
/// A handler that is not done by then waits for a lock, of the loader for instance, that the crash left taken.
constexpr unsigned patience_seconds = 2;
/// More than are kept: those of the handler itself come first.
constexpr std::size_t frames_walked = 64;

// For the handlers, which take no argument. A sandbox inside a sandbox sets them anew.
SharedArea *area_for_crashes = nullptr;
const void *end_of_the_job = nullptr;
pid_t process_of_the_job = 0;
unsigned long long libraries_of_the_parent = 0;
std::atomic<pid_t> first_thread = 0; ///< that crashed
std::atomic<int> first_signal = 0;
alignas(std::max_align_t) std::array<std::byte, 64u << 10> handler_stack; // costs nothing until it is used

/// Grows with each library, also with one that replaces another.
unsigned long long libraries_ever_loaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, std::size_t, void *result) {
        *static_cast<unsigned long long *>(result) = info->dlpi_adds;
        return 1; // every entry has the same number
      },
      &count);
  return count;
}

void unblock(int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

/// Ends the process by the signal: the parent sees the same as without a handler.
[[noreturn]] void die_of(int signal) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
  unblock(signal);
  raise(signal);
  _exit(128 + signal);
}

void die_when_patience_ends() {
  struct sigaction action {};
  action.sa_handler = [](int) { die_of(first_signal); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &action, nullptr);
  unblock(SIGALRM);
  alarm(patience_seconds);
}

// instruction() returns the address of the instruction that a signal interrupted; 0 on machines that have no case here.
// go_back_to_the_call() is for a jump to nowhere, through a null pointer for instance: it makes the context that of the
// caller, from which the stack can be unwound.
#if defined(__x86_64__)
std::uintptr_t instruction(const ucontext_t &context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}
void go_back_to_the_call(ucontext_t &context) {
  auto &registers = context.uc_mcontext.gregs;
  registers[REG_RIP] = *std::bit_cast<const greg_t *>(registers[REG_RSP]) - 1;
  registers[REG_RSP] += static_cast<greg_t>(sizeof(greg_t));
}
#elif defined(__aarch64__)
std::uintptr_t instruction(const ucontext_t &context) {
  return context.uc_mcontext.pc;
}
void go_back_to_the_call(ucontext_t &context) {
  context.uc_mcontext.pc = context.uc_mcontext.regs[30] - 1;
}
#else
std::uintptr_t instruction(const ucontext_t &) {
  return 0;
}
void go_back_to_the_call(ucontext_t &) {}
#endif

bool leads_nowhere(int signal, const siginfo_t &info, std::uintptr_t at) {
  return (signal == SIGSEGV || signal == SIGBUS) && info.si_code > 0 &&
         reinterpret_cast<std::uintptr_t>(info.si_addr) == at;
}

/// The addresses go to the parent at once: whatever goes wrong later, they are there.
class Frames {
public:
  explicit Frames(SharedArea &area) : area_(area) { area_.clear_frames(); }
  void add(std::uintptr_t address);
  void add_callers_of(std::uintptr_t innermost);
  void name_if_the_parent_cannot();

private:
  SharedArea &area_;
  std::array<const void *, SharedArea::most_frames> addresses_{};
  std::size_t count_ = 0;
};

void Frames::add(std::uintptr_t address) {
  if (count_ == addresses_.size())
    return;
  addresses_[count_] = std::bit_cast<const void *>(address);
  area_.add_frame(addresses_[count_++]);
}

/// Finds the callers by backtrace(), because it is a part of glibc, and so no dependency; it reads the tables that
/// exceptions need, and so needs no frame pointers and goes through the frame of the signal.
void Frames::add_callers_of(std::uintptr_t innermost) {
  std::array<void *, frames_walked> all{};
  const auto end = all.begin() + backtrace(all.data(), static_cast<int>(all.size()));
  auto end_of_job = std::find(all.begin(), end, end_of_the_job);
  if (end_of_job != end)
    --end_of_job; // the function that calls the job
  auto at = std::find(all.begin(), end_of_job, std::bit_cast<void *>(innermost));
  if (at != end_of_job)
    ++at;
  for (; at != end_of_job; ++at)
    add(reinterpret_cast<std::uintptr_t>(*at) - 1); // where a call returns to may be another function already
}

/// dladdr() takes locks, and a millisecond for each address in a library of LibTorch's size.
void Frames::name_if_the_parent_cannot() {
  if (libraries_ever_loaded() == libraries_of_the_parent)
    return;
  for (std::size_t i = 0; i < count_; ++i) {
    Dl_info info{};
    if (dladdr(addresses_[i], &info) != 0 && info.dli_sname)
      area_.name_frame(i, info.dli_sname);
  }
}

void leave_frames(int signal, const siginfo_t &info, ucontext_t &context) {
  Frames frames(*area_for_crashes);
  std::uintptr_t innermost = instruction(context);
  frames.add(innermost);
  if (leads_nowhere(signal, info, innermost)) {
    go_back_to_the_call(context);
    innermost = instruction(context);
    frames.add(innermost);
  }
  frames.add_callers_of(innermost);
  frames.name_if_the_parent_cannot();
}

/// A second fault, in here, ends the process by the first signal; so does the alarm.
void on_crash(int signal, siginfo_t *info, void *context) {
  if (getpid() != process_of_the_job) // a copy that the job made of itself has no say
    die_of(signal);
  pid_t first = 0;
  if (first_thread.compare_exchange_strong(first, gettid())) {
    first_signal = signal;
    die_when_patience_ends();
    area_for_crashes->note_end();
    leave_frames(signal, *info, *static_cast<ucontext_t *>(context));
  } else if (first != gettid()) {
    for (;;) // until the first has left its frames
      pause();
  }
  die_of(first_signal);
}

} // namespace

void prepare_crash_handler() {
  [[maybe_unused]] static const bool done = [] {
    std::array<void *, 1> frame{};
    Dl_info info{};
    return backtrace(frame.data(), 1) == 1 && dladdr(frame[0], &info) != 0 && libraries_ever_loaded() != 0;
  }();
}

void install_crash_handler(SharedArea &area, const void *end_of_job) {
  area_for_crashes = &area;
  end_of_the_job = end_of_job;
  process_of_the_job = getpid();
  libraries_of_the_parent = libraries_ever_loaded();
  first_thread = 0;
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr); // a stack that has overflowed has no room for a handler
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  // NODEFER: a fault of the handler ends the process too, instead of being blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : fatal_signals)
    sigaction(signal, &action, nullptr);
}

} // namespace repro_minify
