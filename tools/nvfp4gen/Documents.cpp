//===- Documents.cpp - the manual and shell completion ----------------------===//
//
// Written from the tree of options that parses the command line, so they cannot
// say less or other than it.
//
//===------------------------------------------------------------------------===//
#include "tools/nvfp4gen/CommandLine.h"
#include "tools/nvfp4gen/Commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nvfp4gen {

namespace {

bool takesValue(const CLI::Option &option) { return option.get_items_expected_max() > 0; }

/// Everything that begins with a dash, in the words of the command line: "-o", "--output".
std::vector<std::string> spellings(const CLI::Option &option) {
  std::vector<std::string> names;
  for (const std::string &name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

/// Upper-case name of a value: the choices, or what kind it is.
std::string valueName(const CLI::Option &option) {
  std::vector<std::string> choices = choicesOf(option);
  if (!choices.empty())
    return fmt::format("{}", fmt::join(choices, "|"));
  std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

//===------------------------------------------------------------------------===//
// roff
//===------------------------------------------------------------------------===//

std::string roff(std::string_view text) {
  std::string out;
  bool lineStart = true;
  for (char c : text) {
    if (lineStart && (c == '.' || c == '\''))
      out += "\\&"; // not a request
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    lineStart = c == '\n';
  }
  return out;
}

std::string manualOption(const CLI::Option &option) {
  std::vector<std::string> names = spellings(option);
  std::string head;
  for (const std::string &name : names)
    head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", roff(name));
  if (names.empty())
    head = fmt::format("\\fI{}\\fR", roff(option.get_name()));
  else if (takesValue(option))
    head += fmt::format(" \\fI{}\\fR", roff(valueName(option)));
  return fmt::format(".TP\n{}\n{}\n", head, roff(option.get_description()));
}

std::string manualCommand(const CommandEntry &command, const std::string &commonFooter) {
  std::string synopsis = "nvfp4gen " + command.name;
  std::string options;
  for (const CLI::Option *option :
       command.app->get_options([](const CLI::Option *o) { return !o->get_positional(); }))
    options += manualOption(*option);
  std::string operands;
  for (const CLI::Option *option :
       command.app->get_options([](const CLI::Option *o) { return o->get_positional(); })) {
    synopsis += " " + option->get_name();
    operands += manualOption(*option);
  }
  std::string page = fmt::format(".SS {} [options]\n{}.\n{}{}", roff(synopsis),
                                 roff(command.app->get_description()), operands, options);
  std::string footer = command.app->get_footer();
  footer.resize(footer.size() - std::min(footer.size(), commonFooter.size()));
  if (!footer.empty())
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
  return page;
}

//===------------------------------------------------------------------------===//
// Shells
//===------------------------------------------------------------------------===//

/// What may follow a command: its options, and the values of those that have a set of them.
struct Completion {
  std::string command;               ///< "build", "cache stat"
  std::vector<std::string> words;    ///< options, and the values of a positional
  std::vector<std::string> cases;    ///< "--emit|mlir llvm": an option and its values
  std::vector<std::string> anything; ///< options whose value is neither a set nor a path
};

Completion completionOf(const CommandEntry &command) {
  Completion result{command.name, {}, {}, {}};
  for (const CLI::Option *option : command.app->get_options()) {
    std::vector<std::string> choices = choicesOf(*option), names = spellings(*option);
    result.words.insert(result.words.end(), names.begin(), names.end());
    if (names.empty()) {
      result.words.insert(result.words.end(), choices.begin(), choices.end());
      continue;
    }
    if (!takesValue(*option) || takesPath(*option))
      continue;
    for (const std::string &name : names)
      if (choices.empty())
        result.anything.push_back(name);
      else
        result.cases.push_back(fmt::format("{}|{}", name, fmt::join(choices, " ")));
  }
  return result;
}

/// A shell function that sets `words` from `command` and `previous`; both shells read it.
std::string completionTable(const CLI::App &root) {
  std::vector<std::string> names;
  std::string table;
  for (const CommandEntry &command : commandsOf(root)) {
    Completion completion = completionOf(command);
    names.push_back(command.name);
    table += fmt::format("    \"{}\")\n      words=\"{}\"\n", command.name,
                         fmt::join(completion.words, " "));
    if (!completion.cases.empty() || !completion.anything.empty()) {
      table += "      case \"$previous\" in\n";
      for (const std::string &entry : completion.cases) {
        size_t bar = entry.find('|');
        table += fmt::format("        {}) words=\"{}\"; files=0 ;;\n", entry.substr(0, bar),
                             entry.substr(bar + 1));
      }
      if (!completion.anything.empty())
        table += fmt::format("        {}) words=\"\"; files=0 ;;\n",
                             fmt::join(completion.anything, "|"));
      table += "      esac\n";
    }
    table += "      ;;\n";
  }
  std::vector<std::string> first, groups;
  for (const CLI::App *command : root.get_subcommands([](const CLI::App *) { return true; })) {
    first.push_back(command->get_name());
    std::vector<std::string> inner;
    for (const CLI::App *child : command->get_subcommands([](const CLI::App *) { return true; }))
      inner.push_back(child->get_name());
    if (!inner.empty())
      groups.push_back(fmt::format("    \"{}\") words=\"{}\"; files=0 ;;\n", command->get_name(),
                                   fmt::join(inner, " ")));
  }
  return fmt::format("_nvfp4gen_words() {{\n  files=1\n  case \"$command\" in\n"
                     "    \"\") words=\"{} --help --version\"; files=0 ;;\n{}{}"
                     "    *) words=\"\" ;;\n  esac\n}}\n",
                     fmt::join(first, " "), fmt::join(groups, ""), table);
}

constexpr const char *kBash = R"(_nvfp4gen() {
  local command="" current="${COMP_WORDS[COMP_CWORD]}" words files previous word
  previous="${COMP_WORDS[COMP_CWORD-1]}"
  # bash takes "=" for a word: --emit=asm is three.
  if [[ "$current" == "=" ]]; then
    current=""
  elif [[ "$previous" == "=" && COMP_CWORD -gt 1 ]]; then
    previous="${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*|=) break ;;
    esac
    case "$command" in
      "") command="$word" ;;
      cache) command="$command $word" ;;
      *) break ;;
    esac
  done
  _nvfp4gen_words
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $files == 1 && "$current" != -* ]]; then
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _nvfp4gen nvfp4gen
)";

constexpr const char *kZsh = R"(_nvfp4gen() {
  local command="" previous="${words[CURRENT-1]}" current="${words[CURRENT]}" files word
  local -a line
  line=("${(@)words[2,CURRENT-1]}")
  # --emit=asm is one word here.
  if [[ "$current" == --*=* ]]; then
    previous="${current%%=*}"
    compset -P '*='
  fi
  for word in "${line[@]}"; do
    [[ "$word" == -* ]] && break
    case "$command" in
      "") command="$word" ;;
      cache) command="$command $word" ;;
      *) break ;;
    esac
  done
  local words
  _nvfp4gen_words
  compadd -- ${=words}
  [[ $files == 1 ]] && _files
}
compdef _nvfp4gen nvfp4gen
)";

} // namespace

std::string completionScript(const CLI::App &root, const std::string &shell) {
  std::string table = completionTable(root);
  return shell == "zsh" ? "#compdef nvfp4gen\n" + table + kZsh : table + kBash;
}

std::string manualPage(const CLI::App &root) {
  std::string page = ".TH NVFP4GEN 1 \"\" \"nvfp4gen " NVFP4GEN_VERSION "\"\n"
                     ".SH NAME\nnvfp4gen \\- " +
                     roff(root.get_description()) +
                     "\n.SH SYNOPSIS\n\\fBnvfp4gen\\fR \\fIcommand\\fR [options]\n.SH COMMANDS\n";
  for (const CommandEntry &command : commandsOf(root))
    page += manualCommand(command, root.get_footer());
  page += ".SH EXIT STATUS\n";
  for (const ExitCode &exit : kExitCodes)
    page += fmt::format(".TP\n{}\n{}\n", exit.code, roff(exit.meaning));
  page += ".SH ENVIRONMENT\n";
  for (const EnvironmentVariable &variable : kEnvironment)
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(variable.name), roff(variable.meaning));
  return page;
}

} // namespace nvfp4gen
