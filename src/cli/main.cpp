// The command line. Every subcommand has a file of its own; errors end here, in one sentence.
#include "cli/config_file.h"
#include "cli/interruption.h"
#include "cli/options.h"
#include "core/text.h"

#include "core/log.h"
#include "program/compute.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace repro_minify {
namespace {

constexpr const char *description =
    R"(Takes a model that a backend gets wrong (TorchScript, a .pt2, or what torch.compile left behind) and hands back
the smallest program that the same backend still gets wrong in the same way: as reduced.pt, and as a repro to run, in
C++ and in Python where the backend has them.)";

constexpr const char *footer = R"(
Examples:
  repro-minify failing.pt --backend freeze                inputs from the model, or inputs.pt beside it
  repro-minify failing.pt --backend jit --grad -o bug/    gradients too, repro into bug/
  repro-minify failing.pt --backend nnc --input 'f32[2,3,32,32]'
  repro-minify run failing.pt --backend jit               one check, the verdict in numbers
  repro-minify analyze failing.pt --backend freeze        where eager and optimised part, as a picture too
  repro-minify bisect failing.pt --backend jit            which step of the backend makes it wrong
  repro-minify --config failing.repro/config.toml -o again   the same run again
  repro-minify failing.pt --oracle ./interesting.sh       a program of your own says what is interesting
  repro-minify failing.pt --backend 'command:python3 run_it.py'   a program of your own is the backend
  repro-minify backends                                   what can be named, what each does and needs

Exit codes:
  0    reduced, and the repro was built and run   (run, analyze: eager and optimised agree)
  1    the model does not fail                    (run, analyze: it fails)
  2    bad usage or input
  3    eager itself is not reproducible
  4    reduced, but the repro did not verify
  70   an internal error (please report it), or the machine lacks memory or processes
  130  interrupted; the best so far was kept
)";

constexpr const char *bisect_footer = R"(
Leaves out steps of the backend (passes of LibTorch, stages) until it is known which of them makes the result wrong.

Exit codes:
  0    a step was found
  1    the model does not fail
  2    bad usage or input, or a backend without steps
  3    eager itself is not reproducible
  4    it fails, but no step is to blame
  70   an internal error (please report it), or the machine lacks memory or processes
  130  interrupted
)";

/// Throws UserError unless there is a model, and at most one of --backend and --oracle. Neither is required here: what
/// fails under torch.compile needs no backend named, and the kind of a model is known only once it is opened.
void require_model(const Options &options) {
  if (options.model.empty())
    throw UserError("model: none given (repro-minify -h explains)");
  if (!options.backends.empty() && !options.oracle.empty())
    throw UserError("--backend and --oracle: give one of them");
}

/// An option that may stand bare cannot take its value from the next word, or it would take the model's name for one:
/// only the three words it knows are joined to it. In the order that CLI11 wants, last first.
std::vector<std::string> arguments_of(int argc, char **argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_value = word == "off" || word == "warn" || word == "on";
    if (is_value && !arguments.empty() && arguments.back() == "--deterministic")
      arguments.back() += "=" + word;
    else
      arguments.push_back(word);
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

std::vector<std::string> names_of_commands(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}

/// The bare command line takes any word for the model. Throws UserError for one that is none, and nearly a command.
void require_no_mistaken_command(const CLI::App &app, const std::string &model) {
  std::error_code error;
  if (!app.get_subcommands().empty() || std::filesystem::exists(model, error))
    return;
  if (const std::string meant = closest(model, names_of_commands(app)); !meant.empty())
    throw UserError(model + ": no such command, and no model; did you mean " + meant + "?");
}

/// Throws UserError for a word before a command that the command would not hear of.
void require_known_to(const CLI::App &app, const CLI::App &command) {
  for (const CLI::Option *option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty())
      continue;
    const std::string &name = option->get_lnames().front();
    if (name == "model")
      throw UserError(option->results().front() + ": stands before " + command.get_name() +
                      "; the model comes after it");
    if (!command.get_option_no_throw("--" + name))
      throw UserError("--" + name + ": stands before " + command.get_name() + ", which has no such option");
  }
}

/// "; did you mean --timeout?" for the first word that looks like an option and is none.
std::string suggestion_for_extras(const CLI::App &app) {
  const CLI::App *command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  std::vector<std::string> known;
  for (const CLI::Option *option : command->get_options())
    for (const std::string &name : option->get_lnames())
      known.push_back("--" + name);
  for (const std::string &word : app.remaining(/*recurse=*/true))
    if (const std::string name = word.substr(0, word.find('=')); name.starts_with("--"))
      return std::count(known.begin(), known.end(), name) ? "; it stands before the command"
                                                          : did_you_mean(name, known);
  return "";
}

/// Applies the configuration file and checks that a model is given. Returns true if nothing else is to be done: the
/// options asked only to print something (--list-passes, --print-config).
bool prepare(CLI::App &command, const CLI::App &known, Options &options) {
  if (!options.config.empty())
    apply_config(command, known, options.config);
  if (options.list_passes) {
    passes_command();
    return true;
  }
  if (options.print_config) {
    std::cout << effective_config(command, worked_out(options));
    return true;
  }
  require_model(options);
  log::set_level(options.quiet ? log::Level::Warning : options.verbose ? log::Level::Debug : log::Level::Info);
  warn_of_options_in_vain(options);
  options.effective_config = [&command, &options](const SettingsChanges &changes) {
    return effective_config(command, worked_out(options), changes);
  };
  return false;
}

/// The exit code where that is all: -h, --version, --help-json. Throws UserError.
std::optional<int> parse(CLI::App &app, const Options &options, std::vector<std::string> arguments) {
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ExtrasError &) {
    require_no_mistaken_command(app, options.model);
    throw UserError("not expected: " + joined(app.remaining(/*recurse=*/true), " ") + suggestion_for_extras(app));
  } catch (const CLI::ParseError &error) {
    require_no_mistaken_command(app, options.model);
    throw UserError(error.what() + suggestion_for_extras(app));
  }
  require_no_mistaken_command(app, options.model);
  if (!options.help_json)
    return std::nullopt;
  std::cout << help_json(app);
  return 0;
}

int dispatch(int argc, char **argv) {
  Options options;
  CLI::App app(description, "repro-minify");
  app.footer(footer);
  // Two spellings of one command line: the bare one reduces.
  add_options(app, options, Command::Reduce);
  const auto add = [&](const char *name, const char *help, Command command) {
    CLI::App *added = app.add_subcommand(name, help);
    add_options(*added, options, command);
    return added;
  };
  CLI::App *run = add("run", "check once and print the verdict in numbers", Command::Run);
  CLI::App *analyze = add("analyze", "where do eager and optimised part? a table and a picture", Command::Analyze);
  CLI::App *bisect = add("bisect", "which step of the backend makes it wrong?", Command::Bisect);
  bisect->footer(bisect_footer);
  CLI::App *backends = add("backends", "list what --backend takes, and whether it can be used here", Command::Backends);
  app.require_subcommand(0, 1);
  if (const auto code = parse(app, options, arguments_of(argc, argv)))
    return *code;
  if (!app.get_subcommands().empty())
    require_known_to(app, *app.get_subcommands().front());
  if (*backends)
    return backends_command(options);
  CLI::App *chosen = *run ? run : *analyze ? analyze : *bisect ? bisect : &app;
  if (prepare(*chosen, app, options))
    return 0;
  return *run       ? exit_code_unless_stopped(run_command(options))
         : *analyze ? exit_code_unless_stopped(analyze_command(options))
         : *bisect  ? exit_code_unless_stopped(bisect_command(options))
                    : minify_command(options);
}

/// Throws std::system_error if the result could not be written to standard output: the run then counts as failed.
void require_printed() {
  std::cout.flush();
  if (!std::cout) { // since when is not known: written to once more, it says why
    std::cout.clear();
    errno = EIO;
    std::cout << std::endl;
    throw std::system_error(errno, std::generic_category(), "the result cannot be written to standard output");
  }
  if (std::fflush(stdout) != 0)
    throw std::system_error(errno, std::generic_category(), "the result cannot be written to standard output");
}

} // namespace
} // namespace repro_minify

int main(int argc, char **argv) {
  // This process only edits graphs, forks and waits: it must never enter an OpenMP region.
  at::set_num_threads(1);
  try {
    repro_minify::catch_signals();
    repro_minify::end_with_starter();
    const int code = repro_minify::dispatch(argc, argv);
    repro_minify::require_printed();
    return code;
  } catch (const repro_minify::Interrupted &) {
    return repro_minify::InterruptedByUser;
  } catch (...) {
    const auto report = repro_minify::report_of(std::current_exception());
    repro_minify::log::error(repro_minify::clean(report.sentence));
    if (repro_minify::stop_requested())
      return repro_minify::InterruptedByUser;
    return report.is_users ? repro_minify::BadInput : repro_minify::InternalError;
  }
}
