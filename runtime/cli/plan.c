/* plan.c: `sluice plan`: where the memory of a graph lies. */
#include "cli/cli.h"

int cli_plan(const struct cli_arguments *a) { return cli_look(a, sl_session_write_plan); }
