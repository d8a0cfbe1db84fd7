/* origin.h: what a run was made of, for its table and its JSON: command, graph, inputs or simulation, constants. */
#ifndef SL_ORIGIN_H
#define SL_ORIGIN_H

#include "base/json.h"
#include "session/inspect.h"

void sl_origin_write(const struct sl_session *s, FILE *file);
void sl_origin_json(const struct sl_session *s, struct sl_json *j);

#endif
