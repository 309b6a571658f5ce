// The Python process behind the `inductor` backend: it imports torch once and forks a child for each connection.
#pragma once
#include "backends/inductor/inductor_wire.h"
#include "core/files.h"
#include "repro_minify/backend_parts.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace repro_minify {

/// worker.py of this installation, or of the source tree.
std::string inductor_worker_script();
/// Returns the files and folders that the worker has to read: the interpreter's folders, worker.py's, and the paths
/// that `entries`, KEY=VALUE of torch._inductor.config, name, such as a compiler of the user's own.
std::vector<std::string> what_worker_reads(const std::string &python, const std::vector<std::string> &entries);

/// The worker's process, which ends, and removes what it wrote, when this object goes or the process that made it ends.
class InductorWorker {
public:
  /// Starts the worker. `backend`: the name that error messages begin with. `entries` are KEY=VALUE, as entries.py
  /// reads them. Throws UserError.
  InductorWorker(std::string backend, const std::string &python, const std::vector<std::string> &entries);
  ~InductorWorker();
  InductorWorker(const InductorWorker &) = delete;
  InductorWorker &operator=(const InductorWorker &) = delete;

  /// Returns once it is ready. Throws UserError with what the worker says when it cannot start, and Interrupted when
  /// `interrupted` returns true.
  void await(const std::function<bool()> &interrupted = {});
  /// Known once it is ready, as the three that follow.
  const std::string &torch_version() const { return torch_version_; }
  const std::string &python_version() const { return python_version_; }
  /// entries.call_of_its_user(); null where there is none.
  const json &call() const { return call_; }
  /// Recipe.facts() of recipe.py; null where it has none.
  const json &recipe() const { return recipe_; }
  /// False once its process has ended.
  bool lives();
  /// The path of the worker's socket.
  const std::string &address() const { return address_; }

private:
  [[noreturn]] void give_up(const std::string &problem);
  void end();

  TemporaryFolder temporary_;
  std::string backend_, folder_, address_, torch_version_, python_version_;
  json call_, recipe_;
  pid_t pid_ = -1, owner_ = -1;
  int alive_ = -1;
  int report_ = -1; ///< closed once it has been read
};

/// One candidate's child of the worker.
class InductorConnection {
public:
  /// Throws NoAnswer when the worker is gone, or has no room for another child. In a check's process: tells the sandbox
  /// which process works for it.
  explicit InductorConnection(const std::string &address);
  ~InductorConnection();
  InductorConnection(const InductorConnection &) = delete;
  InductorConnection &operator=(const InductorConnection &) = delete;

  /// Sends a message and waits for its answer. What went wrong on the other side goes wrong here in the same way: an
  /// exception is a std::runtime_error with its message, exhausted memory std::bad_alloc, a signal or an exit ends this
  /// process by the same. CannotCompile for a program that has no Python, NoAnswer where the other side lacked the
  /// means.
  InductorMessage ask(const InductorMessage &message);
  /// The same for the process that starts the checks: it has to live on. What went wrong is a std::runtime_error.
  InductorMessage exchange(const InductorMessage &message);

private:
  InductorMessage answer_to(const InductorMessage &message);

  int socket_ = -1;
};

/// Returns the child that serves this process, which a check asks for all that it runs: eager, float64 and compiled. It
/// is made by the first call, and ends with this process. Throws as InductorConnection.
std::shared_ptr<InductorConnection> connection_of_this_process(const std::string &address);

// The conversation with torch._inductor.compiler_bisector, which runs in a child of the Python worker
// (inductor/bisector.py).

/// The backend as the bisector wants it: `state` goes with the request to compile.
using InductorVariant = std::function<std::shared_ptr<const Backend>(const json &state)>;

std::vector<std::string> inductor_parts(const std::string &address);
std::optional<OwnBisector::Finding> bisect_inductor(const std::string &address, const InductorVariant &variant,
                                                    const OwnBisector::Fails &fails);

} // namespace repro_minify
