/* change.h: changes of the configuration of a run by a request. See change.c. */
#ifndef SL_SERVE_CHANGE_H
#define SL_SERVE_CHANGE_H

#include <sluice/sluice.h>

/* Changes a session that runs, as the body of a request says: a graph as YAML, which is the whole graph, or a JSON
 * object
 * {"sets": ["NODE.PROPERTY=VALUE", ...], "with": ["FILE", ...]}: these in addition to those of the command line.
 * Returns the HTTP status: 200, or 409 with all reasons; *answer is the answer as JSON, to be freed, NULL if out of
 * memory. `session` NULL: there is no run. */
unsigned sl_change_make(struct sl_session *session, const char *body, size_t bytes, char **answer);

#endif
