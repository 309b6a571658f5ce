#include "repro/script_run.h"

#include "core/number_text.h"
#include "core/programs.h"
#include "core/text.h"
#include "repro_minify/sandbox.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace repro_minify {
namespace {

/// A tensor is printed whole; a program that prints for ever must not fill the disk.
constexpr std::uintmax_t most_printed = std::uintmax_t{1} << 28;

/// Returns the line in which a repro says why it could not be tried, without the stack that LibTorch's messages end
/// with; the end of the text where it says nothing of that.
std::string why_untried(const std::string &text) {
  const size_t at = text.rfind("cannot be tried");
  return at == std::string::npos ? last_part(text) : text.substr(at, std::min<size_t>(text.find('\n', at) - at, 600));
}

/// Returns a script's last words: the exception of its last traceback, without the lines that name files of this
/// machine, or else the end of the text. A long traceback may have lost its beginning.
std::string last_words(const std::string &text) {
  const size_t last_frame = text.rfind("  File \"");
  if (last_frame == std::string::npos)
    return last_part(text);
  for (const std::string &line : split_lines(text.substr(last_frame)))
    if (!line.empty() && !std::isspace(static_cast<unsigned char>(line.front())))
      return line.substr(0, 600); // the exception; what follows is the rest of its message
  return "an exception";
}

std::string how_it_ended(const JobEnd &job_end) {
  switch (job_end.ending) {
  case Ending::Exited:
    return "ended with exit code " + std::to_string(job_end.exit_code);
  case Ending::Crashed:
  case Ending::Killed:
    return "ended with signal " + std::to_string(job_end.signal);
  case Ending::TimedOut:
    return "did not end";
  case Ending::Cancelled:
    return "prints without end";
  default:
    return std::string("could not be run (") + to_string(job_end.ending) + ") " + job_end.message;
  }
}

/// Where this line begins, whole; npos if it is not there.
size_t find_line(const std::string &text, const std::string &line) {
  for (size_t at = text.rfind(line); at != std::string::npos;
       at = at == 0 ? std::string::npos : text.rfind(line, at - 1)) {
    const size_t end = at + line.size();
    if ((at == 0 || text[at - 1] == '\n') && (end == text.size() || text[end] == '\n' || text[end] == '\r'))
      return at;
  }
  return std::string::npos;
}

/// Where the first line that begins so begins; npos if there is none.
size_t find_line_beginning(const std::string &text, const std::string &words) {
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    if (at == 0 || text[at - 1] == '\n')
      return at;
  return std::string::npos;
}

/// Returns what follows the last "FAIL KIND: " at the beginning of a line, up to the end; nothing if there is none.
std::optional<std::string> said_of(const std::string &before_marker, FailureKind kind) {
  const std::string words = std::string("FAIL ") + to_string(kind) + ": ";
  for (size_t at = before_marker.rfind(words); at != std::string::npos;
       at = at == 0 ? std::string::npos : before_marker.rfind(words, at - 1))
    if (at == 0 || before_marker[at - 1] == '\n')
      return before_marker.substr(at + words.size());
  return std::nullopt;
}

/// The words with which a repro begins its sentence about a process that ended as `wanted` says. Empty for a failure
/// that ends no process.
std::string wanted_end(const Signature &wanted) {
  if (wanted.kind == FailureKind::Hang)
    return "signal " + std::to_string(SIGALRM);
  if (wanted.kind != FailureKind::Crash)
    return "";
  // The frames in its detail are of the tool's own build; the signal is not.
  return wanted.signal > 0 ? "signal " + std::to_string(wanted.signal) : "exit code";
}

/// Why what the repro says of the failure is not what is wanted; empty if it is.
std::string contradiction(const std::string &before_marker, const Signature &wanted) {
  const auto said = said_of(before_marker, wanted.kind);
  if (!said)
    return std::string("repro does not say what it saw (\"FAIL ") + to_string(wanted.kind) + ": ...\")";
  if (is_told_by_message(wanted)) {
    const std::string message = normalise_message(*said);
    return message == wanted.detail ? "" : "repro raises another exception: " + message;
  }
  const std::string end = wanted_end(wanted); // "signal 1" is not "signal 11"
  const bool same =
      end.empty() || (said->starts_with(end) && (said->size() == end.size() || !isdigit((*said)[end.size()])));
  return same ? "" : "repro ends in another way: " + said->substr(0, said->find('\n'));
}

/// Which words of torch.testing.assert_close, or of the script's own, tell a failure of this kind from others.
bool tells_of(const std::string &text, FailureKind kind) {
  const auto says = [&](const char *words) { return text.find(words) != std::string::npos; };
  switch (kind) {
  case FailureKind::Dtype:
    return says("attribute 'dtype'");
  case FailureKind::Shape:
    return says("attribute 'shape'");
  case FailureKind::Structure:
    return says("stride") || says("attribute 'layout'") || says(" mismatch");
  default:
    return !says("attribute '");
  }
}

/// PyTorch has two words for the type of a tensor: "torch.FloatTensor" where Python has started it, "CPUFloatType"
/// where it has not.
std::string as_without_python(std::string text) {
  constexpr std::string_view before = "torch.", cuda = "cuda.", after = "Tensor";
  for (size_t at = 0; (at = text.find(before, at)) != std::string::npos; at += before.size()) {
    const bool on_cuda = text.compare(at + before.size(), cuda.size(), cuda) == 0;
    const size_t name = at + before.size() + (on_cuda ? cuda.size() : 0);
    size_t end = name;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])))
      ++end;
    const std::string word = text.substr(name, end - name);
    if (word.size() > after.size() && word.ends_with(after))
      text.replace(at, end - at, (on_cuda ? "CUDA" : "CPU") + word.substr(0, word.size() - after.size()) + "Type");
  }
  return text;
}

/// In which line of the script, counted from 1, the last traceback begins, and what it says after that; 0: in none. A
/// message may name lines of functions of the script, as Dynamo's do.
std::pair<int, std::string> last_traceback(const std::string &said) {
  constexpr std::string_view frame = "repro.py\", line ", module = ", in <module>\n";
  for (size_t at = said.rfind(frame); at != std::string::npos; at = at ? said.rfind(frame, at - 1) : at - 1) {
    char *end = nullptr;
    const long line = std::strtol(said.c_str() + at + frame.size(), &end, 10);
    if (std::string_view(end).starts_with(module))
      return {static_cast<int>(line), std::string(end + module.size())};
  }
  return {0, ""};
}

/// The words of an exception without its type: "IndexError: tuple index out of range".
std::string without_type(const std::string &message) {
  constexpr std::string_view of_compiler = "C++ compile error: "; // as failure.py has it
  if (message.starts_with(of_compiler))
    return message.substr(of_compiler.size());
  const size_t end = message.find(": ");
  const bool is_type =
      end != std::string::npos && std::all_of(message.begin(), message.begin() + static_cast<long>(end), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
      });
  return is_type ? message.substr(end + 2) : message;
}

/// True if an exception's words, normalised, begin anywhere in the text: Dynamo tells of one in words of its own,
/// "... got IndexError('tuple index out of range')".
bool tells_of_words(const std::string &text, const std::string &words) {
  constexpr size_t least = 12, most = 200; // characters, of which no other exception is thought to have the same
  const std::string wanted = words.substr(0, most), first = wanted.substr(0, wanted.find_first_of(" #'\""));
  if (wanted.size() < least || first.empty())
    return false;
  for (size_t at = text.find(first); at != std::string::npos; at = text.find(first, at + 1))
    if (without_particulars(text.substr(at, 3 * most)).starts_with(wanted))
      return true;
  return false;
}

/// True if some line of `said`, with what follows it, is the exception `wanted`, or tells of it.
bool raises(const std::string &said, const std::string &wanted) {
  const std::string text = as_without_python(said), detail = as_without_python(wanted);
  const std::string told = last_traceback(text).second; // a unit test has no frame of the script itself
  if (tells_of_words(told.empty() ? text : told, without_type(detail)))
    return true;
  for (size_t at = 0; at != std::string::npos && at < text.size();) {
    const std::string rest = text.substr(at), line = rest.substr(0, rest.find('\n'));
    const size_t error = line.find("Error: ");
    if (normalise_message(rest) == detail ||
        (error != std::string::npos && normalise_message(rest.substr(error + 7)) == detail))
      return true;
    const size_t end = text.find('\n', at);
    at = end == std::string::npos ? end : end + 1;
  }
  return false;
}

/// In which line the last statement of a script begins. It is the one that lets the failure happen.
int line_of_last_statement(const std::string &script) {
  int count = 0, last = 0;
  for (const std::string &line : split_lines(script)) {
    ++count;
    if (!line.empty() && !std::isspace(static_cast<unsigned char>(line.front())))
      last = count;
  }
  return last;
}

/// Why a script that was started did not show what is wanted; empty if it did.
std::string script_contradiction(const ReproRun &run, const std::string &script, const Signature &wanted) {
  const JobEnd &job_end = run.job_end;
  const std::string &said = job_end.output_tail;
  const std::string end = how_it_ended(job_end) + ": " + last_words(said);
  const bool has_no_traceback =
      wanted.kind == FailureKind::Hang || (wanted.kind == FailureKind::Crash && !is_told_by_message(wanted));
  if (has_no_traceback && find_line_beginning(run.printed, "eager: ") == std::string::npos)
    return "never came to eager's result, and " + end;
  if (wanted.kind == FailureKind::Hang)
    return job_end.ending == Ending::TimedOut ? "" : end;
  if (has_no_traceback) {
    const bool exits = wanted.detail == "exit" && job_end.ending == Ending::Exited && job_end.exit_code != 0;
    return exits || (job_end.ending == Ending::Crashed && wanted.signal == job_end.signal) ? "" : end;
  }
  if (job_end.ending != Ending::Exited || job_end.exit_code != 1)
    return end;
  const auto [line, told] = last_traceback(said);
  if (line < line_of_last_statement(script))
    return "never came to its last statement, and " + end;
  if (is_told_by_message(wanted))
    return raises(said, wanted.detail) ? "" : "raises another exception: " + last_words(said);
  if (wanted.kind == FailureKind::Memory)
    return said.find("memory") != std::string::npos ? "" : end;
  const bool is_asserted = told.find("\nAssertionError") != std::string::npos;
  return is_asserted && tells_of(told, wanted.kind) ? "" : "shows another failure: " + last_words(said);
}

/// "raised by replacement in torch/_inductor/fx_passes/post_grad.py, line 7: `size = shape[dim]`": the innermost frame
/// of the first of a chain of exceptions, if it is PyTorch's; else empty. A path of this machine is not shown.
std::string innermost_frame(const std::string &said) {
  constexpr std::string_view begin = "  File \"", package = "-packages/torch/";
  const std::string first = said.substr(0, said.find("\nThe above exception was"));
  const size_t frame = first.rfind(begin);
  if (frame == std::string::npos)
    return "";
  const std::string line = first.substr(frame + begin.size(), first.find('\n', frame) - frame - begin.size());
  const size_t quote = line.find("\", line "), torch = line.substr(0, quote).rfind(package);
  const size_t function = line.rfind(", in ");
  if (quote == std::string::npos || torch == std::string::npos || function == std::string::npos || function < quote)
    return "";
  const size_t source = first.find('\n', frame) + 1;
  constexpr std::string_view indent = "    ";
  const bool is_shown = source > 0 && first.compare(source, indent.size(), indent) == 0;
  const std::string statement =
      is_shown ? first.substr(source + indent.size(), first.find('\n', source) - source - indent.size()) : "";
  return "raised by " + line.substr(function + 5) + " in " + line.substr(torch + 10, quote - torch - 10) +
         line.substr(quote + 1, function - quote - 1) + (statement.empty() ? "" : ": `" + statement + "`") + "\n";
}

/// Advice that each exception of Dynamo ends with.
bool is_advice(const std::string &line) {
  return line.starts_with("Set TORCHDYNAMO_VERBOSE=") || line.starts_with("Use tlparse to see");
}

/// Returns what a script printed, and the message of its exception, without lines that name files of this machine.
std::string what_it_showed(const ReproRun &run, const Signature &wanted) {
  constexpr size_t most = 1500;
  constexpr int most_lines = 12;
  std::string text = run.printed.substr(0, most);
  std::istringstream lines(last_traceback(run.job_end.output_tail).second);
  int count = 0;
  bool in_message = false;
  for (std::string line; std::getline(lines, line) && count < most_lines;) {
    in_message |= !line.empty() && !std::isspace(static_cast<unsigned char>(line.front()));
    if (in_message && line.find(" /") == std::string::npos && line.find("\"/") == std::string::npos &&
        !line.starts_with('/') && !line.empty() && !is_advice(line)) {
      text += line.substr(0, most) + "\n";
      ++count;
    }
  }
  return is_told_by_message(wanted) ? text + innermost_frame(run.job_end.output_tail) : text;
}

} // namespace

bool is_told_by_message(const Signature &wanted) {
  return wanted.kind == FailureKind::Exception ||
         (wanted.kind == FailureKind::Crash && wanted.signal == 0 && wanted.detail != "exit");
}

std::string last_part(const std::string &text) {
  return text.substr(text.size() - std::min<size_t>(text.size(), 600));
}

std::vector<std::string> with_home(const std::string &folder) {
  const char *home = std::getenv("HOME");
  return {"env", "PYTHONUSERBASE=" + (home ? std::string(home) + "/.local" : folder), "HOME=" + folder};
}

std::unique_ptr<Task<ReproRun>> start_repro(const std::vector<std::string> &command, const std::string &folder,
                                            const Confinement &confinement, std::chrono::milliseconds timeout,
                                            std::shared_ptr<const void> kept) {
  const std::string printed = folder + "/printed", errors = folder + "/errors";
  Limits limits;
  limits.timeout = timeout;
  limits.interrupted = [printed, errors] {
    std::error_code none_yet;
    const auto is_large = [&](const std::string &file) {
      const auto size = fs::file_size(file, none_yet);
      return !none_yet && size > most_printed;
    };
    return is_large(printed) || is_large(errors);
  };
  const auto job = [command, confinement, printed, errors](Child &child) {
    for (const auto &[path, descriptor] : {std::pair{printed, STDOUT_FILENO}, std::pair{errors, STDERR_FILENO}}) {
      const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      if (file < 0 || dup2(file, descriptor) < 0)
        throw std::runtime_error("cannot write to " + path);
    }
    const rlimit between_two_looks{2 * most_printed, 2 * most_printed};
    setrlimit(RLIMIT_FSIZE, &between_two_looks);
    child.confine(confinement);
    become_program(command);
  };
  // A traceback of PyTorch's is longer than the tail that is kept of a child's standard error.
  const auto read = [printed, errors, kept = std::move(kept)](JobEnd job_end) {
    if (job_end.ending == Ending::Cancelled) // hundreds of megabytes, which nothing hangs on
      return ReproRun{std::move(job_end), ""};
    job_end.output_tail += read_file(errors);
    return ReproRun{std::move(job_end), read_file(printed)};
  };
  return std::make_unique<Task<ReproRun>>(job, limits, read);
}

ReproRun run_repro(const std::vector<std::string> &command, const std::string &folder,
                   const std::function<bool()> &interrupted, const Confinement &confinement) {
  return start_repro(command, folder, confinement, std::chrono::minutes(5))->wait(interrupted);
}

Verification judge_run(const ReproRun &run, const std::string &marker, const Signature &wanted) {
  const std::string all = run.printed + run.job_end.output_tail, seen = last_part(all);
  if (run.job_end.ending != Ending::Exited || run.job_end.exit_code != 1)
    return {false, "repro " + how_it_ended(run.job_end) + " instead of exit code 1: " + why_untried(all)};
  const size_t at = find_line(run.printed, marker);
  if (at == std::string::npos)
    return {false, "repro ended with exit code 1, and never came to the line \"" + marker + "\": " + seen};
  const std::string problem = contradiction(run.printed.substr(0, at), wanted);
  return problem.empty() ? Verification{true, "built and run"} : Verification{false, problem};
}

Verification judge_script(const ReproRun &run, const std::string &script, const Signature &wanted) {
  const std::string problem = script_contradiction(run, script, wanted);
  return problem.empty() ? Verification{true, "run", what_it_showed(run, wanted)}
                         : Verification{false, "repro.py " + problem};
}

bool is_failing_test(const ReproRun &run, const Signature &wanted) {
  const std::string &said = run.job_end.output_tail;
  if (run.job_end.ending != Ending::Exited || run.job_end.exit_code != 1 ||
      said.find("\nFAILED (") == std::string::npos)
    return false;
  return is_told_by_message(wanted) ? raises(said, wanted.detail) : said.find("\nAssertionError") != std::string::npos;
}

std::string reproduction_marker(const Program &program, const Signature &signature) {
  uint32_t id = 2166136261u; // FNV-1a: no secret, only unlikely
  for (const char c : canonical_hash(program) + to_string(signature))
    id = (id ^ static_cast<unsigned char>(c)) * 16777619u;
  return std::string("REPRODUCED ") + to_string(signature.kind) + " " + padded_text(id, 8, 16);
}

} // namespace repro_minify
