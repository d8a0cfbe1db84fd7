/* origin.h: command, graph, inputs or simulation, and constants of a run, for its table and its JSON. */
#ifndef SL_ORIGIN_H
#define SL_ORIGIN_H

#include "base/json.h"
#include "session/inspect.h"

/* The lines `graph` and `input` of a table; the lines `constants`. */
void sl_origin_write(const struct sl_session *s, FILE *file);
void sl_origin_write_constants(const struct sl_session *s, FILE *file);
void sl_origin_json(const struct sl_session *s, struct sl_json *j);

#endif
