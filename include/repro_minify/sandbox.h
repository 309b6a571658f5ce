// One forked child that runs one job under a time and a memory limit. A crash of the child is a JobEnd, not an
// accident. No LibTorch here: a job is a function that writes bytes.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace repro_minify {

// Limits what a child may reach once it runs untrusted code: it reads what LibTorch and a compiler need, writes into
// one private folder, and has no network. None of it needs root.

/// True if this machine has NVIDIA's devices.
bool has_cuda_devices();

struct Confinement {
  bool none = false;                      ///< a program of the user's own: it may do what its user may
  std::vector<std::string> writable = {}; ///< files and folders beside the private folder
  std::vector<std::string> readable = {}; ///< beside the system's and what let_children_read() was told
  bool unix_sockets = false;              ///< may connect to a helper process
  /// May do what CUDA's driver does as it starts: it names its threads in /proc/self/task, and makes a Unix socket.
  bool cuda = has_cuda_devices();
};

/// From now on every confined child may read this file, or all of this folder. Called by the code that opens a path
/// which the user named. One list for the process, as its children have one private folder.
void let_children_read(const std::string &path);

/// The private folder, made once and removed when this process ends; confined children have it as TMPDIR. Throws
/// std::system_error.
const std::filesystem::path &private_folder_of_children();

/// In a child, before it runs anything of a model: what it gives up is given up for ever, by all that it starts too.
/// Throws std::system_error where this kernel has the means and they fail.
void confine(const Confinement &confinement);
/// The parent's part, before each fork: what can be found out once for all.
void prepare_confinement();

/// Returns in one sentence what this machine cannot keep a child from; empty: nothing. Finds it out once.
const std::string &missing_confinement();

/// Thrown by what was interrupted before it had anything to hand back.
struct Interrupted {};

struct Limits {
  std::chrono::milliseconds timeout{0}; ///< wall clock, from the fork on; 0 = no limit
  /// A child that a busy machine keeps from a processor has longer, up to ten times: a limit is over once most of that
  /// time was spent on a processor, or hardly any of it was spent on one or in waiting for one, as then the child waits
  /// for something else. For limits that decide what counts as a hang; a limit given in seconds means the clock.
  bool allow_for_load = false;
  std::uint64_t memory_bytes = 0;        ///< private memory the child may add to what it inherited; 0 = no limit
  std::size_t reply_capacity = 1u << 28; ///< most bytes the reply may have; pages are used only when written
  int niceness = 0;                      ///< more than the parent's leaves the processors to others: see setpriority(2)
  std::function<bool()> interrupted{};   ///< polled by run_in_sandbox(): true kills the child, which is then Cancelled
};

/// Limits for work that has no natural bound: ten minutes, the memory that fits, a reply as large as memory allows.
Limits generous_limits();

/// The interface of a job, in the child, to its parent. The reply lives in memory shared with the parent, so a job that
/// closes every file descriptor still answers. One thread of the job at a time may use it.
class Child {
public:
  virtual ~Child() = default;
  /// Names what is being done; the last name survives a crash or a kill (at most 63 bytes are kept).
  virtual void stage(std::string_view name) = 0;
  /// From now on it may take that long; it is never given more than Limits::timeout.
  virtual void allow(std::chrono::milliseconds) {}
  /// Appends to the reply. Throws std::length_error past Limits::reply_capacity.
  virtual void reply(std::string_view bytes) = 0;
  /// Before anything of a model runs: see repro_minify::confine().
  virtual void confine(const Confinement &) {}
};

/// Answers questions, one after the other, in a process that is kept: for answers that are cheap in a process that was
/// dear to set up, as one that holds a device.
struct Service {
  /// Called in the child, for each question.
  std::function<void(Child &, const std::string &question)> answer;
  /// Called in the child after each answer. False: something is left that another answer could depend on, and the
  /// process ends. What it throws means the same.
  std::function<bool()> is_as_before;
  int most_questions = 200; ///< a process answers no more than that
};

/// Runs in a child, with default signal handlers (a crash leaves its frames first), no input, and standard output and
/// error going to JobEnd::output_tail. It must not count on threads of the parent: fork() copies only the one that
/// calls it.
///
/// A job of a Service goes to a process that has answered an earlier question of the same service, if one is free.
/// There an end other than Ending::Replied has no meaning, nor has an answer after which the process is not as before,
/// as what came earlier may be the cause: a TaskGroup then asks again in a fresh process, and gives the outcome of
/// that.
class Job {
public:
  Job() = default;
  template <typename Run>
  requires std::is_invocable_v<Run &, Child &> Job(Run run) : run_(std::move(run)) {}
  /// `make_question` is called in the parent for a process that is kept, and in the child for a fresh one.
  Job(std::shared_ptr<const Service> service, std::function<std::string()> make_question)
      : run_([service, make_question](Child &child) { service->answer(child, make_question()); }),
        service_(std::move(service)), make_question_(std::move(make_question)) {}

  explicit operator bool() const { return static_cast<bool>(run_); }
  void operator()(Child &child) const { run_(child); }
  const std::shared_ptr<const Service> &service() const { return service_; } ///< null: the job has a process of its own
  std::string question() const { return make_question_(); }

private:
  std::function<void(Child &)> run_;
  std::shared_ptr<const Service> service_;
  std::function<std::string()> make_question_;
};

enum class Ending {
  Replied,     ///< the job returned; `reply` is whole
  Threw,       ///< the job let an exception out (any type); `message` has what is known of it
  Exited,      ///< the process ended by itself before the job returned; see exit_code (-1: it never started)
  Crashed,     ///< ended by a signal of its own making (SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, ...); see signal
  TimedOut,    ///< killed by us at the time limit
  OutOfMemory, ///< the memory limit was hit (std::bad_alloc left the job, or `new` failed in the stage that crashed)
  Killed,      ///< SIGKILL, SIGTERM, SIGINT or SIGHUP that we did not send
  Cancelled,   ///< killed by us because the answer is no longer needed
};
const char *to_string(Ending ending);

struct JobEnd {
  Ending ending = Ending::Exited;
  int exit_code = 0;
  int signal = 0;
  std::string stage;       ///< the last Child::stage
  std::string reply;       ///< empty unless `ending` is Replied: half a reply is none
  std::string message;     ///< of an exception that left the job or a thread of it, or why it could not start
  std::string output_tail; ///< the last 4 KiB the child wrote to standard output and standard error
  /// Where it crashed: up to 8 functions of the thread that did, innermost first, each as symbol_name() has it or "?";
  /// the same for the same crash. Empty unless `ending` is Crashed, and when no handler could run.
  std::vector<std::string> frames;
  std::chrono::microseconds wall{0};
  std::chrono::microseconds before_stage{0}; ///< what of it had passed when the last stage began
  std::uint64_t bytes_before_stage = 0;      ///< the most memory it had taken until then, since its first stage began
  std::uint64_t peak_rss_bytes = 0;          ///< what it inherited included
};

class TaskList;

/// Several children at a time, and for each at most one that waits for the next question of a Service. Not thread-safe:
/// one thread owns it, in the process that made it. Whatever function of a group is called looks at the children of
/// every group of the thread: it reaps those that have ended, kills those whose time is over, takes in what they print
/// and starts what is queued. A child that prints more than a pipe holds waits until then. Children die with the parent
/// (PR_SET_PDEATHSIG) and are in process groups of their own, so that Ctrl-C reaches the parent alone and grandchildren
/// are killed with the child, also those that have left the group: the parent becomes a subreaper
/// (PR_SET_CHILD_SUBREAPER). "With the parent" means with the thread that forked them: it has to live as long as its
/// children.
class TaskGroup {
public:
  using Ticket = std::uint64_t;

  /// At most that many of its jobs run at a time.
  explicit TaskGroup(int workers);
  ~TaskGroup(); ///< kills what is still running
  TaskGroup(const TaskGroup &) = delete;
  TaskGroup &operator=(const TaskGroup &) = delete;

  int workers() const;
  /// Jobs that were submitted and neither taken by wait() nor cancelled: queued, running, or ended.
  int pending() const;
  /// True if submit() would fork now. Reaps; never blocks.
  bool has_free_worker() const;
  /// Forks now if a worker is free, else queues. Jobs start in the order of submission.
  Ticket submit(Job job, Limits limits);
  /// Blocks until the job's JobEnd is there; other children are reaped meanwhile and kept for their own wait().
  /// `interrupted` is polled at least every 100 ms; when it answers true, returns nullopt and the job goes on. An
  /// JobEnd is taken once: throws std::invalid_argument for a ticket that was taken or never given out. A cancelled
  /// one is Ending::Cancelled.
  std::optional<JobEnd> wait(Ticket ticket, const std::function<bool()> &interrupted = {});
  /// True when wait(ticket) would not block. Reaps; never blocks.
  bool ready(Ticket ticket);
  /// Kills or dequeues it, without waiting for its death. Nothing but Ending::Cancelled comes from its ticket
  /// afterwards.
  void cancel(Ticket ticket);

private:
  std::unique_ptr<TaskList> list_;
};

/// One job, now; returns when it has ended.
JobEnd run_in_sandbox(const Job &job, const Limits &limits);

} // namespace repro_minify
