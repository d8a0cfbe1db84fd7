/* check.c: `sluice check`: all errors of a graph, or its wiring. */
#include "cli/cli.h"

static int show(const struct cli_arguments *a, struct sl_session *session) {
  (void)a;
  sl_session_write_wiring(session, stdout);
  return CLI_OK;
}

int cli_check(const struct cli_arguments *a) { return cli_inspect(a, show); }
