/* options.c: the table of options, in the order in which help shows them. */
#include "cli/cli.h"

#define AT(member) offsetof(struct cli_arguments, member)

const struct cli_option cli_options[] = {
    {"-i", "--input", "FILE...", "input files or patterns, in this order", CLI_FILES, CLI_RUN, AT(inputs), 0},
    {"-n", "--events", "EVENTS", "take the first EVENTS events (default: all of a file, 1000 simulated ones)",
     CLI_COUNT, CLI_RUN, AT(options.events), UINT64_MAX},
    {"--repeat", NULL, "R", "keep the slices and run the graph over them R times", CLI_COUNT, CLI_RUN,
     AT(options.repeat), UINT32_MAX},
    {"--device", NULL, "DEVICE", "cpu (default), simt, cuda[:N] or hip[:N]", CLI_TEXT, CLI_GRAPH, AT(options.device),
     0},
    {"--slots", NULL, "N", "slices in flight (default 1)", CLI_COUNT, CLI_GRAPH, AT(options.slots), UINT32_MAX},
    {"--slice-events", NULL, "N", "most events in a slice", CLI_COUNT, CLI_GRAPH, AT(options.slice_events), UINT32_MAX},
    {"--set", NULL, "NODE.PROPERTY=VALUE", "set a property, or PARAMETER=VALUE", CLI_LIST, CLI_GRAPH, AT(sets), 0},
    {"--use", NULL, "NODE=PLUGIN.ALGORITHM", "swap a node's algorithm", CLI_LIST, CLI_GRAPH, AT(uses), 0},
    {"--plugin-path", NULL, "DIR", "look for plugins here first", CLI_LIST, CLI_PLUGINS, AT(plugin_paths), 0},
    {"--svg", NULL, "FILE", "draw the plan: steps across, addresses up", CLI_TEXT, CLI_PLAN, AT(svg_path), 0},
    {"--csv", NULL, "FILE...", "plan the buffers of these files, id,lower,upper,size, instead of a graph", CLI_FILES,
     CLI_PLAN, AT(csv_paths), 0},
    {"--capacity", NULL, "BYTES", "with --csv: a plan of this size is good enough (default: the smallest)", CLI_COUNT,
     CLI_PLAN, AT(capacity), UINT64_MAX},
    {"--seconds", NULL, "S", "with --csv: longest search, per file (default 60)", CLI_SECONDS, CLI_PLAN, AT(seconds),
     1000000},
    {"--offsets", NULL, "FILE", "with --csv: write the buffers with their offsets", CLI_TEXT, CLI_PLAN,
     AT(offsets_path), 0},
    {"-o", "--output", "FILE", "where a sink writes its file", CLI_TEXT, CLI_RUN, AT(options.output_path), 0},
    {"--json", NULL, "FILE", "write the summary as JSON ('-': to standard output)", CLI_TEXT, CLI_RUN, AT(json_path),
     0},
    {"--json", NULL, NULL, "for programs", CLI_FLAG, CLI_DESCRIBE, AT(as_json), 0},
    {"--digest", NULL, NULL, "print digests of the outputs; --digest=events: of each event too", CLI_DIGEST, CLI_RUN,
     AT(options.digest), 0},
    {"--profile", NULL, NULL, "print time per node and the fill of budgets", CLI_FLAG, CLI_RUN, AT(options.profile), 0},
    {"--resident", NULL, NULL, "repeats without uploads, on a GPU: kernels and downloads alone", CLI_FLAG, CLI_RUN,
     AT(options.resident), 0},
    {"--guard", NULL, NULL, "every field in an allocation of its own, with canaries and poison", CLI_FLAG, CLI_GRAPH,
     AT(options.guard), 0},
    {"-q", "--quiet", NULL, "print nothing but errors", CLI_FLAG, CLI_RUN, AT(quiet), 0},
};
const size_t cli_option_count = sizeof cli_options / sizeof cli_options[0];
