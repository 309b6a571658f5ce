// Completions for bash, zsh and fish. What is completed: subcommands, options, what an option can name, files.
#include "help/help_as.h"

#include "support/escape.h"
#include "support/joined.h"

#include <algorithm>
#include <sstream>

namespace repro_minify {
namespace {

/// Everything that can be typed where an option can stand.
std::vector<std::string> option_words(const CommandRow &command) {
  std::vector<std::string> words;
  for (const auto &option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
    if (!option.off.empty())
      words.push_back(option.off);
  }
  return words;
}

std::vector<std::string> subcommands(const std::vector<CommandRow> &commands) {
  std::vector<std::string> names;
  for (size_t i = 1; i < commands.size(); ++i)
    names.push_back(commands[i].name);
  return names;
}

/// An option is the same wherever it can be given: each once.
std::vector<OptionRow> all_options(const std::vector<CommandRow> &commands) {
  std::vector<OptionRow> all;
  for (const auto &command : commands)
    for (const auto &option : command.options)
      if (std::none_of(all.begin(), all.end(), [&](const auto &known) { return known.names == option.names; }))
        all.push_back(option);
  return all;
}

bool takes_value(const OptionRow &option) {
  return !option.value.empty() && !option.value_may_be_left_out;
}

/// fish has escapes between single quotes.
std::string quoted_for_fish(const std::string &text) {
  return "'" + with_escapes(text, "\\'") + "'";
}

std::string zsh_action(const OptionRow &option) {
  if (!option.values.empty()) {
    std::vector<std::string> values;
    for (const auto &value : option.values)
      values.push_back(with_escapes(value, "\\: ()"));
    return "(" + joined(values, " ") + ")";
  }
  return option.names_file ? "_files" : " ";
}

std::string zsh_spec(const OptionRow &option, const std::string &name) {
  std::string spec = option.repeated ? "*" : "";
  spec += name;
  if (option.value_may_be_left_out)
    spec += "=-";
  else if (takes_value(option) && name.rfind("--", 0) == 0)
    spec += "=";
  else if (takes_value(option))
    spec += "+";
  spec += "[" + with_escapes(option.help, "\\[]:") + "]";
  if (!option.value.empty())
    spec += (option.value_may_be_left_out ? "::" : ":") + option.value + ":" + zsh_action(option);
  return shell_word(spec);
}

void write_zsh_arguments(std::ostream &out, const CommandRow &command) {
  out << "    _arguments -S \\\n";
  for (const auto &option : command.options) {
    for (const auto &name : option.names)
      out << "      " << zsh_spec(option, name) << " \\\n";
    if (!option.off.empty())
      out << "      " << shell_word(option.off + "[not " + option.names.front() + "]") << " \\\n";
  }
  out << "      '*:model:_files'\n";
}

} // namespace

std::string help_as_bash(const std::vector<CommandRow> &commands) {
  std::ostringstream out;
  out << "# bash completion for repro-minify, made by `repro-minify --help-as bash`.\n"
      << "_repro_minify() {\n"
      << "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' each\n"
      << "  for each in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      << "    case $each in " << joined(subcommands(commands), " | ") << ") command=$each ;; esac\n  done\n"
      << "  case $before in\n";
  for (const auto &option : all_options(commands)) {
    if (option.values.empty() && !option.names_file)
      continue;
    out << "    " << joined(option.names, " | ") << ") COMPREPLY=($(compgen "
        << (option.names_file ? "-f" : "-W " + shell_word(joined(option.values, " ")))
        << " -- \"$word\")); return ;;\n";
  }
  out << "  esac\n  local words\n  case $command in\n";
  for (size_t i = 1; i < commands.size(); ++i)
    out << "    " << commands[i].name << ") words=" << shell_word(joined(option_words(commands[i]), " ")) << " ;;\n";
  out << "    *) words=" << shell_word(joined(option_words(commands.front()), " ")) << " ;;\n  esac\n"
      << "  if [[ $word == -* ]]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n  else\n"
      << "    COMPREPLY=($(compgen -f -- \"$word\"))\n    [ \"$COMP_CWORD\" -ne 1 ] || COMPREPLY+=($(compgen -W "
      << shell_word(joined(subcommands(commands), " ")) << " -- \"$word\"))\n  fi\n}\n"
      << "complete -o filenames -F _repro_minify repro-minify\n";
  return out.str();
}

std::string help_as_zsh(const std::vector<CommandRow> &commands) {
  std::ostringstream out;
  out << "#compdef repro-minify\n# zsh completion for repro-minify, made by `repro-minify --help-as zsh`.\n"
      << "_repro_minify() {\n"
      << "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n    local -a commands=(\n";
  for (size_t i = 1; i < commands.size(); ++i)
    out << "      " << shell_word(commands[i].name + ":" + commands[i].help) << '\n';
  out << "    )\n    _describe command commands\n    _files\n    return\n  fi\n  case $words[2] in\n";
  for (size_t i = 1; i < commands.size(); ++i) {
    out << "  " << commands[i].name << ")\n    shift words; (( CURRENT-- ))\n";
    write_zsh_arguments(out, commands[i]);
    out << "    ;;\n";
  }
  out << "  *)\n";
  write_zsh_arguments(out, commands.front());
  out << "    ;;\n  esac\n}\n"
      << "if [ \"$funcstack[1]\" = _repro-minify ]; then _repro_minify \"$@\"; "
      << "else compdef _repro_minify repro-minify; fi\n";
  return out.str();
}

namespace {

void write_fish_option(std::ostream &out, const std::string &start, const OptionRow &option) {
  out << start;
  for (const auto &name : option.names)
    out << (name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1));
  if (takes_value(option))
    out << (option.names_file ? " -r -F" : " -x");
  if (takes_value(option) && !option.values.empty())
    out << " -a " << quoted_for_fish(joined(option.values, " "));
  out << " -d " << quoted_for_fish(option.help) << '\n';
  if (!option.off.empty())
    out << start << " -l " << option.off.substr(2) << " -d " << quoted_for_fish("not " + option.names.front()) << '\n';
}

} // namespace

std::string help_as_fish(const std::vector<CommandRow> &commands) {
  const std::string names = joined(subcommands(commands), " ");
  std::ostringstream out;
  out << "# fish completion for repro-minify, made by `repro-minify --help-as fish`.\n";
  for (size_t i = 0; i < commands.size(); ++i) {
    const bool is_program = i == 0;
    if (!is_program)
      out << "complete -c repro-minify -n __fish_use_subcommand -a " << commands[i].name << " -d "
          << quoted_for_fish(commands[i].help) << '\n';
    const std::string start = "complete -c repro-minify -n " +
                              quoted_for_fish((is_program ? "not __fish_seen_subcommand_from " + names
                                                          : "__fish_seen_subcommand_from " + commands[i].name));
    for (const auto &option : commands[i].options)
      write_fish_option(out, start, option);
  }
  return out.str();
}

} // namespace repro_minify
