/* examples.c: see examples.h. */
#include "examples.h"

#include <sluice/math.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS_MAX = 64, CELL_BYTES = 24 };

int examples_open(struct examples *e, const struct sl_services *s, const char *path, const char *output_path,
                  const char *header) {
  track_check_open(&e->tracks, MC_SCIFI, 0, NULL, 0);
  e->to = s->output;
  const int status = e->to->open(s, *path ? path : output_path, 0, &e->file);
  return status < 0 ? status : e->to->add(e->file, header, strlen(header));
}

void examples_close(struct examples *e) {
  track_check_close(&e->tracks);
  if (e->file) e->to->close(e->file);
}

int examples_add(struct examples *e, uint32_t target, float qop, const float *inputs, uint32_t count) {
  const float gev = 1e-3f, least_qop = 1e-9f;
  char row[CELL_BYTES * (INPUTS_MAX + 2)];
  int used =
      snprintf(row, sizeof row, "%" PRIu32 ",%.9g", target, (double)(gev / sl_max_f32(sl_abs_f32(qop), least_qop)));
  for (uint32_t i = 0; i < count; i++)
    used += snprintf(row + used, sizeof row - (size_t)used, ",%.9g", (double)inputs[i]);
  row[used++] = '\n';
  e->count++;
  e->ones += target;
  return e->to->add(e->file, row, (uint64_t)used);
}

int examples_end_event(struct examples *e, int status) {
  if (status == SL_OK) e->to->mark(e->file, 1);
  return status;
}

int examples_finish(struct examples *e, const struct sl_services *s, const struct sl_report *r, const char *target) {
  const uint64_t events = e->tracks.tally.events;
  const int status = e->to->finish(e->file);
  if (status < 0) return status;
  tally_report(&e->tracks.tally, r);
  r->integer(r->context, "examples", (int64_t)e->count);
  r->integer(r->context, target, (int64_t)e->ones);
  r->line(r->context, "%" PRIu64 " %s of %" PRIu64 " %s, %" PRIu64 " with %s: %s", e->count,
          sl_plural(e->count, "example", "examples"), events, sl_plural(events, "event", "events"), e->ones, target,
          e->to->path(e->file));
  tally_warn(&e->tracks.tally, s);
  return SL_OK;
}
