/* history.h: the last seconds of counts that only grow, and points of sparklines. */
#ifndef SL_SERVE_HISTORY_H
#define SL_SERVE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

enum { SL_RECENT_SECONDS = 60, SL_RATE_SECONDS = 10, SL_HISTORY_POINTS = 120, SL_POINT_BYTES = 12 };

/* The last 61 vectors of counts. */
struct sl_recent {
  uint64_t *values;
  uint32_t width, capacity; /* of a vector */
  uint32_t newest, count;   /* index of the newest vector; number of vectors */
};

/* Adds a vector. If it is wider than those before, they get zeros. Returns SL_ENOMEM on failure. */
int sl_recent_add(struct sl_recent *r, const uint64_t *values, uint32_t width);
/* Increase of value `i` over the last `seconds` vectors, or over as many as there are. */
uint64_t sl_recent_change(const struct sl_recent *r, uint32_t i, uint32_t seconds);
void sl_recent_close(struct sl_recent *r); /* it may begin again */

/* The last points of several curves, as text, so that a point is formatted once. */
struct sl_points {
  char (*texts)[SL_POINT_BYTES]; /* SL_HISTORY_POINTS of each curve */
  char *line;                    /* for sl_points_text */
  uint32_t curves;
  uint64_t added; /* number of points of each curve so far */
};

int sl_points_open(struct sl_points *p, uint32_t curves); /* SL_ENOMEM */
void sl_points_close(struct sl_points *p);
/* Sets the next point of a curve; not finite: null. After all curves, sl_points_next. */
void sl_points_set(struct sl_points *p, uint32_t curve, double value);
void sl_points_next(struct sl_points *p);
/* Returns the points of a curve as a JSON array, the newest last. Valid until the next call. */
const char *sl_points_text(const struct sl_points *p, uint32_t curve);

#endif
