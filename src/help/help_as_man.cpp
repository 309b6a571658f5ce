#include "help/help_as.h"

#include <algorithm>
#include <sstream>

namespace repro_minify {
namespace {

/// Escapes what troff reads as more than text: a backslash, a dot or quote that opens a line, and a minus, which would
/// become a hyphen that cannot be copied as one.
std::string troff(const std::string &text) {
  std::string escaped;
  bool opens_line = true;
  for (const char c : text) {
    if (opens_line && (c == '.' || c == '\''))
      escaped += "\\&";
    escaped += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
    opens_line = c == '\n';
  }
  return escaped;
}

std::string in_bold(const std::string &text) {
  return "\\fB" + troff(text) + "\\fR";
}

std::string value_of(const OptionRow &option) {
  if (option.value.empty())
    return "";
  const std::string value = "\\fI" + troff(option.value) + "\\fR";
  return option.value_may_be_left_out ? "[=" + value + "]" : " " + value;
}

void write_option(std::ostream &out, const OptionRow &option) {
  out << ".TP\n";
  for (size_t i = 0; i < option.names.size(); ++i)
    out << (i ? ", " : "") << in_bold(option.names[i]) << value_of(option);
  if (!option.off.empty())
    out << ", " << in_bold(option.off);
  out << '\n' << troff(option.help);
  if (!option.values.empty()) {
    out << "\n.br\nOne of:";
    for (size_t i = 0; i < option.values.size(); ++i)
      out << (i ? ", " : " ") << troff(option.values[i]);
    out << '.';
  }
  if (!option.preset.empty())
    out << "\n.br\nDefault: " << troff(option.preset) << '.';
  out << '\n';
}

/// Under the headings of -h.
void write_options(std::ostream &out, const std::vector<OptionRow> &options) {
  std::string group;
  for (const auto &option : options) {
    if (option.group != group)
      out << ".SS " << troff(option.group) << '\n';
    group = option.group;
    write_option(out, option);
  }
}

bool is_among(const std::vector<OptionRow> &options, const OptionRow &wanted) {
  return std::any_of(options.begin(), options.end(), [&](const OptionRow &option) {
    return option.names == wanted.names && option.help == wanted.help;
  });
}

/// Writes the section of a subcommand. Options that the program itself takes too are only named.
void write_command(std::ostream &out, const CommandRow &command, const CommandRow &program) {
  out << ".SS " << troff(command.name) << '\n' << troff(command.help) << ".\n";
  size_t shared = 0;
  for (const auto &option : command.options) {
    if (is_among(program.options, option))
      ++shared;
    else
      write_option(out, option);
  }
  out << ".PP\n" << shared << " options are those above:\n";
  for (const auto &option : command.options)
    if (is_among(program.options, option))
      out << in_bold(option.names.front()) << '\n';
}

} // namespace

std::string help_as_man(const std::vector<CommandRow> &commands) {
  const CommandRow &program = commands.front();
  std::ostringstream out;
  out << ".TH REPRO\\-MINIFY 1 \"\" \"repro\\-minify " REPRO_MINIFY_VERSION "\" \"User Commands\"\n"
      << ".SH NAME\nrepro\\-minify \\- minimises a TorchScript model that a backend gets wrong\n"
      << ".SH SYNOPSIS\n.B repro\\-minify\n.I MODEL\n.B \\-\\-backend\n.I NAME\n[option ...]\n";
  for (size_t i = 1; i < commands.size(); ++i)
    out << ".br\n.B repro\\-minify " << troff(commands[i].name) << "\n[option ...]\n";
  out << ".SH DESCRIPTION\n" << troff(program.help) << "\n.SH OPTIONS\n";
  write_options(out, program.options);
  out << ".SH COMMANDS\n";
  for (size_t i = 1; i < commands.size(); ++i)
    write_command(out, commands[i], program);
  out << ".SH EXAMPLES AND EXIT CODES\n.nf\n" << troff(program.footer) << ".fi\n";
  return out.str();
}

} // namespace repro_minify
