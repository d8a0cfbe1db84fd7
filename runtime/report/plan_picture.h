/* plan_picture.h: a memory plan as an SVG drawing: steps across, addresses up, a bar for each buffer. The
 * caller names bars and steps. */
#ifndef SL_PLAN_PICTURE_H
#define SL_PLAN_PICTURE_H

#include <stdint.h>
#include <stdio.h>

struct sl_plan_bar {
  const char *name, *detail; /* in the tooltip; the name also on the bar if there is room; detail may be NULL */
  uint64_t bytes, offset;
  uint32_t lower, upper;                  /* steps in which it is live, half open */
  uint32_t reserved_from, reserved_until; /* steps in which its memory is reserved: drawn paler where it is not live */
  uint32_t group;                         /* bars of one group have one colour */
  uint32_t in_place;                      /* uses the memory of another bar, and is drawn on it */
};

struct sl_plan_picture {
  const char *title;
  const struct sl_plan_bar *bars;
  uint32_t bar_count;
  uint32_t first_step, end_step;
  const char *const *step_names; /* end_step - first_step names; NULL: the axis has numbers */
  uint64_t arena_bytes, lower_bound_bytes;
};

void sl_plan_picture_write(const struct sl_plan_picture *picture, FILE *file);

#endif
