/* history.c: see history.h. */
#include "serve/history.h"

#include <sluice/plugin.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = SL_RECENT_SECONDS + 1 };

static int widen(struct sl_recent *r, uint32_t width) {
  uint64_t *wider = calloc((size_t)VECTORS * width, sizeof *wider);
  if (!wider) return SL_ENOMEM;
  for (uint32_t i = 0; i < VECTORS && r->values; i++)
    memcpy(wider + (size_t)i * width, r->values + (size_t)i * r->capacity, r->width * sizeof *wider);
  free(r->values);
  r->values = wider;
  r->capacity = width;
  return SL_OK;
}

int sl_recent_add(struct sl_recent *r, const uint64_t *values, uint32_t width) {
  if (width > r->capacity && widen(r, width) < 0) return SL_ENOMEM;
  if (width > r->width) r->width = width;
  r->newest = (r->newest + 1) % VECTORS;
  if (r->count < VECTORS) r->count++;
  if (width > 0) memcpy(r->values + (size_t)r->newest * r->capacity, values, width * sizeof *values);
  return SL_OK;
}

uint64_t sl_recent_change(const struct sl_recent *r, uint32_t i, uint32_t seconds) {
  if (r->count == 0 || i >= r->width) return 0;
  const uint32_t back = seconds < r->count - 1 ? seconds : r->count - 1;
  const uint32_t oldest = (r->newest + VECTORS - back) % VECTORS;
  return r->values[(size_t)r->newest * r->capacity + i] - r->values[(size_t)oldest * r->capacity + i];
}

void sl_recent_close(struct sl_recent *r) {
  free(r->values);
  *r = (struct sl_recent){0};
}

/* ------------------------------------------------------------------------------------------------- points */

int sl_points_open(struct sl_points *p, uint32_t curves) {
  *p = (struct sl_points){.curves = curves};
  p->texts = calloc((size_t)curves * SL_HISTORY_POINTS + 1, sizeof *p->texts);
  p->line = malloc((size_t)SL_HISTORY_POINTS * SL_POINT_BYTES + 3);
  return p->texts && p->line ? SL_OK : SL_ENOMEM;
}

void sl_points_close(struct sl_points *p) {
  free(p->texts);
  free(p->line);
  *p = (struct sl_points){0};
}

void sl_points_set(struct sl_points *p, uint32_t curve, double value) {
  char *point = p->texts[(size_t)curve * SL_HISTORY_POINTS + p->added % SL_HISTORY_POINTS];
  if (isfinite(value))
    snprintf(point, SL_POINT_BYTES, "%.3g", value); /* at most "-1.23e-308" */
  else
    memcpy(point, "null", sizeof "null");
}

void sl_points_next(struct sl_points *p) { p->added++; }

const char *sl_points_text(const struct sl_points *p, uint32_t curve) {
  const uint64_t count = p->added < SL_HISTORY_POINTS ? p->added : SL_HISTORY_POINTS;
  char *at = p->line;
  *at++ = '[';
  for (uint64_t i = p->added - count; i < p->added; i++) {
    const char *point = p->texts[(size_t)curve * SL_HISTORY_POINTS + i % SL_HISTORY_POINTS];
    const size_t length = strlen(point);
    if (at > p->line + 1) *at++ = ',';
    memcpy(at, point, length);
    at += length;
  }
  *at++ = ']';
  *at = '\0';
  return p->line;
}
