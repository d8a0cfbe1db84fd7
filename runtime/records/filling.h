/* filling.h: the output ports of a source while a slice is filled event by event: offsets, and the numbers of items and
 * subitems, which are the `used` of the bounds.
 */
#ifndef SL_FILLING_H
#define SL_FILLING_H

#include <sluice/plugin.h>

struct sl_filling {
  const struct sl_algorithm *algorithm;
  void *args;      /* argument struct with the ports of the slice */
  uint32_t *saved; /* `used` of all bounds before the current event; SL_BOUNDS_MAX per member */
};

#define FOR_OUTPUTS(m, f)                                     \
  for (uint32_t m = 0; m < (f)->algorithm->member_count; m++) \
    if ((f)->algorithm->members[m].kind == SL_MEMBER_OUT)

/* 1 if an output has items, subitems or bytes, so that an event's place depends on the events before it. */
int sl_filling_has_items(const struct sl_algorithm *a);
/* 0, or SL_ENOMEM. */
int sl_filling_open(struct sl_filling *f, const struct sl_algorithm *a);
void sl_filling_close(struct sl_filling *f);
/* Begins an empty slice. */
void sl_filling_begin(struct sl_filling *f, const void *args);
/* Remembers the numbers of items; undoes what was reserved since then. */
void sl_filling_save(struct sl_filling *f);
void sl_filling_undo(struct sl_filling *f);
/* Ends event `event` of the slice: writes its offsets; `is_bad`: its values are zero. */
void sl_filling_end_event(struct sl_filling *f, uint32_t event, int is_bad);
/* Returns a bound that the event exceeds: its number of items is above the limit of one event. NULL: none. */
const struct sl_bound *sl_filling_exceeded(const struct sl_filling *f, uint64_t *needed);
/* Describes a bound in a message: "items of `pulses`". */
void sl_filling_describe(const struct sl_filling *f, const struct sl_bound *bound, char *text, size_t size);

#endif
