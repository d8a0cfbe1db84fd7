/* commands.c: the table of commands. */
#include "cli/cli.h"

const struct cli_command cli_commands[] = {
    {"run", "GRAPH", "a graph", 1, 1, CLI_RUN | CLI_GRAPH | CLI_PLUGINS, "run a graph over its input", cli_run},
    {"check", "GRAPH", "a graph", 1, 1, CLI_GRAPH | CLI_PLUGINS,
     "check wiring, types and properties, and print the wiring", cli_check},
    {"plan", "GRAPH", "a graph, or --csv FILE", 0, 1, CLI_PLAN | CLI_GRAPH | CLI_PLUGINS,
     "the memory plan of a graph, as a table or a drawing", cli_plan},
    {"list", "", "", 0, 0, CLI_PLUGINS, "plugins and algorithms found, and from where; those refused, and why",
     cli_list},
    {"describe", "NAME", "a name", 1, 1, CLI_DESCRIBE | CLI_PLUGINS, "an algorithm, a plugin or a collection",
     cli_describe},
    {"test", "PLUGIN...", "a plugin", 1, UINT32_MAX, CLI_TEST | CLI_PLUGINS,
     "check plugins without code of yours: each algorithm, in many ways", cli_test},
    {"new", "plugin NAME | algorithm PLUGIN.NAME", "`plugin NAME` or `algorithm PLUGIN.NAME`", 2, 2, 0,
     "a small working plugin to start from; one more algorithm in it", cli_new},
    {"schema", "", "", 0, 0, CLI_PLUGINS, "JSON Schema of graphs, for editors", cli_schema},
};
const size_t cli_command_count = sizeof cli_commands / sizeof cli_commands[0];
