#include "emit/judge_run.h"

#include "repro_minify/sandbox.h"
#include "support/become_program.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// A tensor is printed whole; a program that prints for ever must not fill the disk.
constexpr std::uintmax_t most_printed = std::uintmax_t{1} << 28;

std::string last_part(const std::string &text) {
  return text.substr(text.size() - std::min<size_t>(text.size(), 600));
}

std::string how_it_ended(const Outcome &outcome) {
  switch (outcome.ending) {
  case Ending::Exited:
    return "ended with exit code " + std::to_string(outcome.exit_code);
  case Ending::Crashed:
  case Ending::Killed:
    return "ended with signal " + std::to_string(outcome.signal);
  case Ending::TimedOut:
    return "did not end";
  case Ending::Cancelled:
    return "prints without end";
  default:
    return std::string("could not be run (") + to_string(outcome.ending) + ") " + outcome.message;
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

/// What follows "FAIL KIND: " at the beginning of a line, up to the end; the last such, or nothing.
std::optional<std::string> said_of(const std::string &before_marker, FailureKind kind) {
  const std::string words = std::string("FAIL ") + to_string(kind) + ": ";
  for (size_t at = before_marker.rfind(words); at != std::string::npos;
       at = at == 0 ? std::string::npos : before_marker.rfind(words, at - 1))
    if (at == 0 || before_marker[at - 1] == '\n')
      return before_marker.substr(at + words.size());
  return std::nullopt;
}

/// "signal 11" of "signal 11 in f, g"; "exit code" of "exit", which is a process that ended itself.
std::string wanted_end(const Signature &wanted) {
  if (wanted.kind == FailureKind::Hang)
    return "signal " + std::to_string(SIGALRM);
  if (wanted.kind != FailureKind::Crash)
    return "";
  // The frames are of the tool's own build; the signal is not.
  return wanted.detail == "exit" ? "exit code" : wanted.detail.substr(0, wanted.detail.find(" in "));
}

/// Why what the repro says of the failure is not what is wanted; empty if it is.
std::string contradiction(const std::string &before_marker, const Signature &wanted) {
  const auto said = said_of(before_marker, wanted.kind);
  if (!said)
    return std::string("repro does not say what it saw (\"FAIL ") + to_string(wanted.kind) + ": ...\")";
  if (wanted.kind == FailureKind::Exception) {
    const std::string message = normalise_message(*said);
    return message == wanted.detail ? "" : "repro raises another exception: " + message;
  }
  const std::string end = wanted_end(wanted);
  const bool same = said->starts_with(end) && (said->size() == end.size() || !isdigit((*said)[end.size()]));
  return same ? "" : "repro ends in another way: " + said->substr(0, said->find('\n'));
}

} // namespace

ReproRun run_repro(const std::vector<std::string> &command, const std::string &folder,
                   const std::function<bool()> &interrupted, const Confinement &confinement) {
  const std::string path = folder + "/printed";
  Limits limits;
  limits.timeout = std::chrono::minutes(5);
  SandboxPool pool(1);
  const auto ticket = pool.submit(
      [&](Child &child) {
        const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (file < 0 || dup2(file, STDOUT_FILENO) < 0)
          throw std::runtime_error("cannot write to " + path);
        child.confine(confinement);
        become_program(command);
      },
      limits);
  std::error_code none_yet;
  const auto prints_without_end = [&] {
    if (interrupted && interrupted())
      return true;
    const auto size = fs::file_size(path, none_yet);
    return !none_yet && size > most_printed;
  };
  std::optional<Outcome> outcome = pool.wait(ticket, prints_without_end);
  if (!outcome) {
    pool.cancel(ticket);
    outcome = pool.wait(ticket);
  }
  std::ifstream file(path, std::ios::binary);
  return {*outcome, std::string(std::istreambuf_iterator<char>(file), {})};
}

Verification judge_run(const ReproRun &run, const std::string &marker, const Signature &wanted) {
  const std::string seen = last_part(run.printed + run.outcome.output_tail);
  if (run.outcome.ending != Ending::Exited || run.outcome.exit_code != 1)
    return {false, "repro " + how_it_ended(run.outcome) + " instead of exit code 1: " + seen};
  const size_t at = find_line(run.printed, marker);
  if (at == std::string::npos)
    return {false, "repro ended with exit code 1, and never came to the line \"" + marker + "\": " + seen};
  const std::string problem = contradiction(run.printed.substr(0, at), wanted);
  return problem.empty() ? Verification{true, "built and run"} : Verification{false, problem};
}

} // namespace repro_minify
