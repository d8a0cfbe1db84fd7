/* completion.c: `sluice completion`: scripts with which bash and zsh complete commands, options and values, made from
 * the tables of commands and options. The word that help has for a value selects how it is completed (`actions`); words
 * in lower case, with | between alternatives, are the values themselves. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

/* The first row with a `word` in the text is taken. bash: a function _sluice_... below, with arguments. */
static const struct {
  const char *word, *bash, *zsh;
} actions[] = {
    {"=PLUGIN.ALGORITHM", "swaps", "_sluice_swaps"},
    {"NODE.PROPERTY=", "settings", "_sluice_settings"},
    {"NODE", "nodes", "_sluice_nodes"},
    {"GRAPH", "graphs", "_sluice_graphs"},
    {"DIR", "folders", "_files -/"},
    {"FOLDER", "folders", "_files -/"},
    {"DEVICE", "words cpu simt cuda hip", "(cpu simt cuda hip)"},
    {"LEVEL", "words error warning note debug", "(error warning note debug)"},
    {"FORMAT", "words text json", "(text json)"},
    {"[PLUGIN]", "plugin_names", "_sluice_plugin_names"},
    {"PLUGIN", "plugins", "_sluice_plugins"},
    {"NAME", "names", "_sluice_names"},
    {"FILE", "files", "_files"},
    {".json", "files", "_files"},
};

/* The first word of each line: names of algorithms, of plugins, of all that can be described. */
#define FIRST_WORDS     " 2>/dev/null | sed -n 's/^\\([A-Za-z0-9_.][A-Za-z0-9_.]*\\) .*/\\1/p'"
#define LIST_ALGORITHMS "sluice list --algorithms" FIRST_WORDS
#define LIST_PLUGINS    "sluice list" FIRST_WORDS
#define LIST_SUBJECTS   "{ sluice list; sluice list --algorithms; sluice list --collections; }" FIRST_WORDS

/* Graphs that are found by name. */
#define LIST_GRAPHS "sluice list --graphs 2>/dev/null | sed -n 's/^  \\([^ ]*[.]yaml\\)\\( .*\\)*$/\\1/p' | sort -u"

/* For both shells: nodes and settings of the graph $1 on the command line; nothing if the graph has errors. */
static const char of_graph[] =
    "# Nodes; NODE.PROPERTY= and PARAMETER= that --set can change; algorithms that node $2 could use instead.\n"
    "_sluice_nodes_of() { sluice graph \"$1\" --yaml 2>/dev/null | sed -n 's/^  \\([A-Za-z0-9_]*\\):$/\\1/p'; }\n"
    "_sluice_settings_of() {\n"
    "  sluice graph \"$1\" --yaml --origin 2>/dev/null | awk '\n"
    "    /^  [A-Za-z0-9_]+:$/ { node = substr($1, 1, length($1) - 1); set = 0 }\n"
    "    /^    block:/ { print node \".block=\" }\n"
    "    /^    set:/ { set = 1 }\n"
    "    set && /^      / { print node \".\" substr($1, 1, length($1) - 1) \"=\" }\n"
    "    { for (i = 2; i <= NF; i++) if ($i == \"of\" && $(i - 1) ~ /^[$][{].*}$/) print substr($(i - 1), 3, "
    "length($(i - 1)) - 3) \"=\" }\n"
    "  ' | sort -u\n"
    "}\n"
    "_sluice_instead_of() {\n"
    "  sluice describe \"$(sluice graph \"$1\" --yaml 2>/dev/null | sed -n \"/^  ${2//[^A-Za-z0-9_]/}:\\$/{n;s/^    "
    "use: //p;}\")\" \\\n"
    "    2>/dev/null | sed -n 's/^  instead *\\([^ ,]*\\).*/\\1/p'\n"
    "}\n"
    "\n";

/* "bash|zsh" as "bash zsh", "plugin NAME|algorithm NAME" as "plugin algorithm". */
static void write_choices(const char *text, FILE *file) {
  while (*text) {
    const size_t length = strcspn(text, " |");
    fprintf(file, "%.*s ", (int)length, text);
    text += strcspn(text, "|");
    text += strspn(text, "| ");
  }
}

static void write_bash_action(const char *text, FILE *file) {
  if (islower((unsigned char)*text)) {
    fprintf(file, "words ");
    write_choices(text, file);
    return;
  }
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    if (!strstr(text, actions[i].word)) continue;
    fprintf(file, "%s", actions[i].bash);
    return;
  }
  fprintf(file, "nothing");
}

static void write_zsh_action(const char *text, FILE *file) {
  if (islower((unsigned char)*text)) {
    fputc('(', file);
    write_choices(text, file);
    fputc(')', file);
    return;
  }
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    if (!strstr(text, actions[i].word)) continue;
    fprintf(file, "%s", actions[i].zsh);
    return;
  }
  fputc(' ', file);
}

/* ------------------------------------------------------------------------------------------------- bash */

static const char bash_begin[] =
    "# bash completion of sluice; made by `sluice completion bash`.\n"
    "\n";

static const char bash_head[] =
    "# Each prints the completions of $word, the word under the cursor.\n"
    "_sluice_words() { compgen -W \"$*\" -- \"$word\"; }\n"
    "_sluice_files() { compgen -f -- \"$word\"; }\n"
    "_sluice_folders() { compgen -d -- \"$word\"; }\n"
    "_sluice_graphs() {\n"
    "  { compgen -f -X '!*.yaml' -- \"$word\"; compgen -d -- \"$word\"; compgen -W \"$(" LIST_GRAPHS
    ")\" -- \"$word\"; } | sort -u\n"
    "}\n"
    "_sluice_names() { compgen -W \"$(" LIST_SUBJECTS
    ")\" -- \"$word\"; }\n"
    "_sluice_algorithms() { compgen -W \"$(" LIST_ALGORITHMS
    ")\" -- \"$word\"; }\n"
    "_sluice_plugins() { compgen -W \"$(" LIST_PLUGINS
    ")\" -- \"$word\"; _sluice_files; }\n"
    "_sluice_plugin_names() { compgen -W \"$(" LIST_PLUGINS
    ")\" -- \"$word\"; }\n"
    "_sluice_nodes() { compgen -W \"$(_sluice_nodes_of \"$graph\")\" -- \"$word\"; }\n"
    "_sluice_settings() { if ((distance == 1)); then compgen -W \"$(_sluice_settings_of \"$graph\")\" -- \"$word\"; "
    "fi; }\n"
    "_sluice_swaps() { # NODE=, then a name; bash cuts words at =\n"
    "  if ((distance == 1)); then\n"
    "    compgen -S = -W \"$(_sluice_nodes_of \"$graph\")\" -- \"$word\"\n"
    "  else\n"
    "    local names=$(_sluice_instead_of \"$graph\" \"${COMP_WORDS[COMP_CWORD - distance + 1]}\")\n"
    "    if [[ $names ]]; then compgen -W \"$names\" -- \"$word\"; else _sluice_algorithms; fi\n"
    "  fi\n"
    "}\n"
    "_sluice_nothing() { :; }\n"
    "\n"
    "_sluice_choices() {\n"
    "  local word=${COMP_WORDS[COMP_CWORD]} option= distance=0 reach=1 value= options= operands=nothing graph= k\n"
    "  [[ $word == '=' ]] && word=\n"
    "  for ((k = COMP_CWORD - 1; k > 1; k--)); do\n"
    "    [[ ${COMP_WORDS[k]} == -* ]] || continue\n"
    "    option=${COMP_WORDS[k]} distance=$((COMP_CWORD - k))\n"
    "    break\n"
    "  done\n"
    "  for ((k = 2; k < COMP_CWORD; k++)); do\n"
    "    [[ ${COMP_WORDS[k]} == *.yaml && ${COMP_WORDS[k - 1]} != -* ]] && graph=${COMP_WORDS[k]} && break\n"
    "  done\n";

static const char bash_tail[] =
    "  if [[ $word == -* || $COMP_CWORD == 1 ]]; then\n"
    "    _sluice_words \"$options\"\n"
    "  elif [[ $value ]] && ((distance <= reach)); then\n"
    "    _sluice_$value\n"
    "  else\n"
    "    _sluice_$operands\n"
    "  fi\n"
    "}\n"
    "\n"
    "_sluice() {\n"
    "  mapfile -t COMPREPLY < <(_sluice_choices)\n"
    "  if [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace +o filenames 2>/dev/null; fi # the value follows\n"
    "}\n"
    "complete -o filenames -F _sluice sluice\n";

/* Number of words after the option that belong to it: bash splits NAME=VALUE into three words. */
static int words_of_option(const struct cli_option *o) {
  if (o->kind == CLI_FILES || o->kind == CLI_INPUTS) return 1000; /* all up to the next option */
  return o->value && strchr(o->value, '=') ? 3 : 1;
}

static void write_bash_command(const struct cli_command *c, FILE *file) {
  fprintf(file, "    %s)\n      operands='", c->name);
  write_bash_action(c->operands, file);
  fprintf(file, "'\n      options='");
  for (size_t i = 0; i < cli_option_count; i++)
    if (cli_options[i].groups & c->groups)
      fprintf(file, "%s%s%s ", cli_options[i].name, cli_options[i].alias ? " " : "",
              cli_options[i].alias ? cli_options[i].alias : "");
  fprintf(file, "--help'\n      case $option in\n");
  for (size_t i = 0; i < cli_option_count; i++) {
    const struct cli_option *o = &cli_options[i];
    if (!(o->groups & c->groups) || (!o->value && o->kind != CLI_DIGEST)) continue;
    fprintf(file, "        %s%s%s) value='", o->name, o->alias ? " | " : "", o->alias ? o->alias : "");
    write_bash_action(o->value ? o->value : "events", file);
    fprintf(file, "' reach=%d ;;\n", o->kind == CLI_DIGEST ? 2 : words_of_option(o));
  }
  fprintf(file, "      esac\n      ;;\n");
}

static void write_bash(FILE *file) {
  fprintf(file, "%s%s%s  case ${COMP_WORDS[1]} in\n", bash_begin, of_graph, bash_head);
  for (size_t c = 0; c < cli_command_count; c++) write_bash_command(&cli_commands[c], file);
  fprintf(file, "  esac\n  ((COMP_CWORD == 1)) && options='");
  for (size_t c = 0; c < cli_command_count; c++) fprintf(file, "%s ", cli_commands[c].name);
  fprintf(file, "--help --version'\n%s", bash_tail);
}

/* -------------------------------------------------------------------------------------------------- zsh */

static const char zsh_begin[] =
    "#compdef sluice\n"
    "# zsh completion of sluice; made by `sluice completion zsh`.\n"
    "\n";

static const char zsh_head[] =
    "_sluice_names() {\n"
    "  local -a names\n"
    "  names=(${(f)\"$(" LIST_SUBJECTS
    ")\"})\n"
    "  compadd -a names\n"
    "}\n"
    "\n"
    "_sluice_plugin_names() {\n"
    "  local -a names\n"
    "  names=(${(f)\"$(" LIST_PLUGINS
    ")\"})\n"
    "  compadd -a names\n"
    "}\n"
    "\n"
    "_sluice_plugins() { _sluice_plugin_names; _files; }\n"
    "\n"
    "_sluice_graphs() {\n"
    "  local -a names\n"
    "  names=(${(f)\"$(" LIST_GRAPHS
    ")\"})\n"
    "  compadd -a names\n"
    "  _files -g \"*.yaml\"\n"
    "}\n"
    "\n"
    "_sluice_graph() { print -r -- ${(Q)${(M)words:#*.yaml}[1]}; }\n"
    "_sluice_nodes() {\n"
    "  local -a names\n"
    "  names=(${(f)\"$(_sluice_nodes_of \"$(_sluice_graph)\")\"})\n"
    "  compadd -a names\n"
    "}\n"
    "\n"
    "_sluice_settings() {\n"
    "  local -a names\n"
    "  compset -P '*=' && return 1\n"
    "  names=(${(f)\"$(_sluice_settings_of \"$(_sluice_graph)\")\"})\n"
    "  compadd -S '' -a names\n"
    "}\n"
    "\n"
    "_sluice_swaps() { # NODE=, then a name\n"
    "  local -a names\n"
    "  if ! compset -P '*='; then\n"
    "    names=(${(f)\"$(_sluice_nodes_of \"$(_sluice_graph)\")\"})\n"
    "    compadd -S = -a names\n"
    "    return\n"
    "  fi\n"
    "  names=(${(f)\"$(_sluice_instead_of \"$(_sluice_graph)\" \"${IPREFIX%=}\")\"})\n"
    "  (($#names)) || names=(${(f)\"$(" LIST_ALGORITHMS
    ")\"})\n"
    "  compadd -a names\n"
    "}\n"
    "\n"
    "_sluice() {\n"
    "  local -a commands\n"
    "  commands=(\n";

/* Text within single quotes, with brackets and colons escaped. */
static void write_zsh_text(const char *text, FILE *file) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", file);
    else if (strchr("[]:\\", *text))
      fprintf(file, "\\%c", *text);
    else
      fputc(*text, file);
  }
}

static void write_zsh_option(const struct cli_option *o, const char *name, FILE *file) {
  const int repeats = o->kind == CLI_LIST || o->kind == CLI_FILES || o->kind == CLI_INPUTS;
  fprintf(file, " \\\n        '%s%s%s[", repeats ? "*" : "", name, o->kind == CLI_DIGEST ? "=-" : "");
  write_zsh_text(o->doc, file);
  fputc(']', file);
  if (o->kind == CLI_DIGEST) fprintf(file, "::of what:(events)");
  if (o->value) {
    fputc(':', file);
    write_zsh_text(o->value, file);
    fputc(':', file);
    write_zsh_action(o->value, file);
  }
  fputc('\'', file);
}

static void write_zsh_command(const struct cli_command *c, FILE *file) {
  fprintf(file, "    %s)\n      _arguments", c->name);
  for (size_t i = 0; i < cli_option_count; i++) {
    const struct cli_option *o = &cli_options[i];
    if (!(o->groups & c->groups)) continue;
    write_zsh_option(o, o->name, file);
    if (o->alias) write_zsh_option(o, o->alias, file);
  }
  fprintf(file, " \\\n        '--help[show the options]'");
  if (c->operands_max > 0) {
    fprintf(file, " \\\n        '*:");
    write_zsh_text(c->operands, file);
    fputc(':', file);
    write_zsh_action(c->operands, file);
    fputc('\'', file);
  }
  fprintf(file, "\n      ;;\n");
}

static void write_zsh(FILE *file) {
  fprintf(file, "%s%s%s", zsh_begin, of_graph, zsh_head);
  for (size_t c = 0; c < cli_command_count; c++) {
    fprintf(file, "    '%s:", cli_commands[c].name);
    write_zsh_text(cli_commands[c].doc, file);
    fprintf(file, "'\n");
  }
  fprintf(file,
          "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
          "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n");
  for (size_t c = 0; c < cli_command_count; c++) write_zsh_command(&cli_commands[c], file);
  fprintf(file, "  esac\n}\n\n_sluice \"$@\"\n");
}

int cli_completion(const struct cli_arguments *a) {
  if (strcmp(a->operand, "bash") == 0) {
    write_bash(stdout);
  } else if (strcmp(a->operand, "zsh") == 0) {
    write_zsh(stdout);
  } else {
    fprintf(stderr, "error: `sluice completion` knows bash and zsh, not '%s'\n", a->operand);
    return CLI_WRONG;
  }
  return CLI_OK;
}
