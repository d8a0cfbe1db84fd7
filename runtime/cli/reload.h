/* reload.h: SIGUSR1 reads the graph of a run again. See reload.c. */
#ifndef CLI_RELOAD_H
#define CLI_RELOAD_H

#include "cli/cli.h"

/* From now on SIGUSR1 does not end the program. */
void cli_reload_open(void);
/* Requests before this call are answered by the graph that the session has read. */
void cli_reload_forget(void);
/* A thread changes the configuration of the session with each request, until cli_reload_end. */
void cli_reload_begin(struct sl_session *session, const struct cli_arguments *a);
void cli_reload_end(void);

#endif
