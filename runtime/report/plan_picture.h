/* plan_picture.h: a memory plan as an SVG drawing: steps across, addresses up, a bar for each buffer. Knows nothing of
 * graphs: the caller names bars and steps. */
#ifndef SL_PLAN_PICTURE_H
#define SL_PLAN_PICTURE_H

#include <stdint.h>
#include <stdio.h>

struct sl_plan_bar {
  const char *name, *detail; /* shown in the tooltip; the name on the bar too, where there is room; detail or NULL */
  uint64_t bytes, offset;
  uint32_t lower, upper;                  /* steps in which it lives, half open */
  uint32_t reserved_from, reserved_until; /* steps in which nobody else has its place: drawn paler where it is more */
  uint32_t group;                         /* bars of one group have one colour */
  uint32_t in_place;                      /* takes the place of another bar, and is drawn on it */
};

struct sl_plan_picture {
  const char *title;
  const struct sl_plan_bar *bars;
  uint32_t bar_count;
  uint32_t first_step, end_step;
  const char *const *step_names; /* end_step - first_step of them, or NULL: the axis has numbers */
  uint64_t arena_bytes, lower_bound_bytes;
};

void sl_plan_picture_write(const struct sl_plan_picture *picture, FILE *file);

#endif
