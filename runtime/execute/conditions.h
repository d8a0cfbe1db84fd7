/* conditions.h: constants that depend on an identity field of events, as the executor uses them. The calls are those of
 * constants/conditions.c.
 *
 * The constants in the setup are those of one value. A slice with events of another value runs alone, after all slices
 * before it have been delivered: where the value changes, the constants are exchanged in all slots.
 */
#ifndef SL_EXECUTE_CONDITIONS_H
#define SL_EXECUTE_CONDITIONS_H

#include "execute/slot.h"

struct sl_conditions {
  uint32_t value;   /* of the present constants; changes only while one slice is in flight */
  uint32_t is_used; /* events of this value have been read */
  /* Examines a slice that was read: marks events of values known to have no constants. Returns 1 if the slice has to
   * run alone, 0 if not, or an error. */
  int (*examine)(struct sl_conditions *c, struct sl_input *input);
  /* Makes the constants for events [first, end), of one value, present. Marks the events if there are none. */
  int (*enter)(struct sl_conditions *c, struct sl_input *input, uint32_t first, uint32_t end);
  /* The reason why a value has no constants, and the node that needs them; NULL: it has. */
  const char *(*reason)(const struct sl_conditions *c, uint32_t value, uint32_t *node);
};

static inline int sl_conditions_are_present(const struct sl_conditions *c, const struct sl_event *event) {
  return c->is_used && event->run == c->value;
}

#endif
