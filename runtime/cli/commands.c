/* commands.c: the table of commands. */
#include "cli/cli.h"

/* Examples begin with `  $ `, which help2man recognises. */
const struct cli_command cli_commands[] = {
    {"run", "GRAPH", "a graph", 1, 1, CLI_RUN | CLI_FOLLOW | CLI_SERVE | CLI_GRAPH | CLI_MESSAGES | CLI_PLUGINS,
     "run a graph over its input", cli_run,
     "Events are simulated unless -i names files or --follow a folder; the table at the end has graph, input,\n"
     "device, events, rate, memory, and one line for each sink; --verbose has more.\n\n"
     "  $ sluice run graphs/velo.yaml -n 1000 --slots 2\n"
     "  $ sluice run graphs/velo.yaml -i events.mdf --json summary.json --digest\n"
     "  $ sluice run graphs/velo.yaml --follow incoming --pattern '*.mdf' --done incoming/done\n"},
    {"check", "GRAPH", "a graph", 1, 1, CLI_GRAPH | CLI_MESSAGES | CLI_PLUGINS,
     "check wiring, types and properties, and print the wiring", cli_check,
     "All errors are reported at once, with file, line and column.\n"},
    {"plan", "[GRAPH]", "a graph, or --csv FILE", 0, 1, CLI_PLAN | CLI_GRAPH | CLI_MESSAGES | CLI_PLUGINS,
     "print the memory plan of a graph, or draw it", cli_plan,
     "With --csv, the planner alone: it searches offsets for buffers that are live in steps [lower, upper), until\n"
     "it has a plan that fits the capacity, a proof that there is none, or no time left. Every plan is checked.\n\n"
     "  $ sluice plan graphs/velo.yaml --svg plan.svg\n"
     "  $ sluice plan --csv problem.csv --capacity 1048576 --offsets solution.csv\n"},
    {"graph", "GRAPH", "a graph", 1, 1, CLI_DRAW | CLI_PICTURE | CLI_GRAPH | CLI_MESSAGES | CLI_PLUGINS,
     "draw a graph, or write the whole graph as YAML, or a page of its lines", cli_graph,
     "Long lists of similar nodes, and nodes of a family, are drawn as one box.\n\n"
     "  $ sluice graph graphs/velo.yaml --svg velo.svg\n"
     "  $ sluice graph graphs/hlt1_pp_default.yaml --to Hlt1TwoTrackMVA --depth 3 --svg line.svg\n"
     "  $ sluice graph graphs/velo.yaml --set seed=2 --yaml --origin\n"
     "  $ sluice graph graphs/hlt1_2026.yaml --lines\n"},
    {"list", "[PLUGIN]", "", 0, 1, CLI_LISTS | CLI_MESSAGES | CLI_PLUGINS,
     "list the plugins found, or the algorithms of a plugin", cli_list,
     "Plugins that are hidden or refused are listed with the reason. Graphs are found by name in the folders of\n"
     "SLUICE_GRAPH_PATH, then among the graphs that came with Sluice: `sluice run velo.yaml`.\n\n"
     "  $ sluice list\n"
     "  $ sluice list velo\n"
     "  $ sluice list --graphs\n"},
    {"describe", "NAME", "a name", 1, 1, CLI_DESCRIBE | CLI_MESSAGES | CLI_PLUGINS,
     "describe an algorithm, a plugin or a collection", cli_describe,
     "  $ sluice describe velo.search_by_triplet\n"
     "  $ sluice describe velo_hits --json\n"},
    {"test", "PLUGIN...", "a plugin", 1, UINT32_MAX, CLI_TEST | CLI_MESSAGES | CLI_PLUGINS,
     "check the algorithms of plugins in many ways, without test code", cli_test,
     "PLUGIN is a name, PLUGIN.ALGORITHM, or a file. Inputs come from a graph that uses the algorithm.\n"
     "Exits with 1 if a check fails.\n\n"
     "  $ sluice test velo\n"
     "  $ sluice test build/plugins/mine.cpu.so --graph pulses.yaml\n"},
    {"capture", "GRAPH", "a graph", 1, 1, CLI_CAPTURE | CLI_MESSAGES | CLI_PLUGINS,
     "write a node with its inputs, properties and outputs to a file", cli_capture,
     "Takes one slice of the input, on the CPU; `sluice replay` runs the node alone. With --events the slice must "
     "have\n"
     "all of these events.\n\n"
     "  $ sluice capture graphs/velo.yaml --node tracks -i events.mdf --events 6001 -o case.slc\n"},
    {"replay", "CASE", "a file of `sluice capture`", 1, 1, CLI_REPLAY | CLI_MESSAGES | CLI_PLUGINS,
     "run a captured node alone and compare its outputs", cli_replay,
     "Exits with 1 if the outputs differ from those of the case, or of --against, or if the node fails.\n\n"
     "  $ sluice replay case.slc --device simt\n"
     "  $ sluice replay case.slc --use build/plugins/velo.cpu.so --against velo.search_by_triplet\n"
     "  $ sluice replay case.slc --use build/plugins/velo.cpu.so --reduce -o small.slc\n"
     "  $ sluice replay small.slc --as-test two_tracks\n"},
    {"new", "plugin NAME | algorithm|source|sink|constant|remove PLUGIN.NAME",
     "`plugin NAME`, or `algorithm`, `source`, `sink`, `constant` or `remove` and PLUGIN.NAME", 2, 2, CLI_NEW,
     "write a small working plugin, or add an algorithm, source, sink or constant to a plugin, or remove one", cli_new,
     "A plugin is a folder of that name with a source, kernels, a sink, tests, graphs and CMakeLists.txt. Nothing is\n"
     "overwritten. `remove` deletes the files that `new` wrote for an algorithm, and takes its name out of plugin.c\n"
     "and CMakeLists.txt; files that were changed are deleted only with --force.\n\n"
     "  $ sluice new plugin mine\n"
     "  $ sluice new algorithm mine.bursts\n"
     "  $ sluice new algorithm mine.far_hits --hits\n"
     "  $ sluice new remove mine.bursts\n"},
    {"index", "FILE...", "a file", 1, UINT32_MAX, CLI_INDEX | CLI_MESSAGES | CLI_PLUGINS,
     "cut files of events into parts, for several runs to read", cli_index,
     "Reads only the headers of the files. Each line has the options with which `sluice run` reads that part.\n"
     "A wrong header is a warning with the byte. Exits with 1 if a file cannot be read in parts.\n\n"
     "  $ sluice index events.mdf -n 5000\n"
     "  $ sluice run graphs/velo.yaml -i events.mdf --range 0+52428800@0 --digest\n"},
    {"schema", "", "", 0, 0, CLI_MESSAGES | CLI_PLUGINS, "print a JSON Schema of graphs, for editors", cli_schema,
     "Made from the tables of the plugins found.\n\n"
     "  $ sluice schema > sluice.schema.json\n"},
    {"compare", "A [B]", "two summaries that `sluice run --json` wrote, or one or two graphs", 1, 2,
     CLI_COMPARE | CLI_CHANGE | CLI_PLUGINS,
     "list what differs between two runs: settings, counts by name, errors, outputs, times, and events", cli_compare,
     "A and B are files of --json, or graphs, which are run over the same events. --set, --use and --with change the\n"
     "second graph; without B it is A. Compares settings, errors, counts by name (of trigger lines), rates, time per\n"
     "node, digests of outputs, and reports of checks and sinks; of graphs also events: decisions that changed. Times\n"
     "have a spread if both runs had five stretches: --repeat 6 or more. Exits with 1 if outputs are known to "
     "differ.\n\n"
     "  $ sluice compare before.json after.json\n"
     "  $ sluice compare before.json after.json --all\n"
     "  $ sluice compare graphs/hlt1_pp_default.yaml --set Hlt1TrackMVA.alpha=500 -n 1000\n"
     "  $ sluice compare old.yaml new.yaml -i events.mdf\n"},
    {"explain", "GRAPH", "a graph", 1, 1, CLI_EXPLAIN | CLI_CHANGE | CLI_MESSAGES | CLI_PLUGINS,
     "explain why events were accepted or not: requirements with values and limits", cli_explain,
     "Runs the graph on the CPU and prints, for each node that declares requirements (selection lines, event cuts),\n"
     "its decision and the first requirement that the best candidate does not meet. The best candidate has the\n"
     "fewest requirements that are not met. Sinks of the graph are not called. Exits with 1 if an event is not "
     "found.\n\n"
     "  $ sluice explain graphs/hlt1_pp_default.yaml -i events.mdf --event 1:6001\n"
     "  $ sluice explain graphs/hlt1_pp_default.yaml -i events.mdf --event 1:6001 --line Hlt1TrackMVA\n"},
    {"tune", "GRAPH", "a graph", 1, 1, CLI_TUNE | CLI_CHANGE | CLI_PLUGINS,
     "measure block sizes, slots and slice sizes, and find the fastest", cli_tune,
     "Each variant changes one value; all variants are run in turn, in several rounds. Digests are compared:\n"
     "a block size that changes a result is an error. Values that are faster beyond the spread go into the overlay.\n\n"
     "  $ sluice tune graphs/velo.yaml --device cuda --node search --node fit --blocks 64,128 -o tuned.yaml\n"
     "  $ sluice tune graphs/velo.yaml --slots 1,2 --slice-events 4,8,16\n"},
    {"completion", "bash|zsh", "the name of a shell", 1, 1, 0,
     "print a script with which a shell completes command lines", cli_completion,
     "  $ source <(sluice completion bash)\n"},
};
const size_t cli_command_count = sizeof cli_commands / sizeof cli_commands[0];
