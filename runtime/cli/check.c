/* check.c: `sluice check`: everything that is wrong with a graph, or how it is wired. */
#include "cli/cli.h"

int cli_check(const struct cli_arguments *a) { return cli_look(a, sl_session_write_wiring); }
