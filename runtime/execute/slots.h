/* slots.h: opening and closing of slots and inputs. See slots.c. */
#ifndef SL_SLOTS_H
#define SL_SLOTS_H

#include "execute/slot.h"

/* Parts of the session that a slot uses, besides its setup. */
struct sl_slot_parts {
  struct sl_order *order;
  struct sl_delivery *delivery;
  struct sl_overflow_history *history;
  const struct sl_observers *observers;
};

int sl_slot_open(struct sl_setup *s, const struct sl_slot_parts *parts, struct sl_slot *slot, uint32_t index);
void sl_slot_close(struct sl_slot *slot);
int sl_input_open(struct sl_setup *s, const struct sl_device_state *state, struct sl_input *input);
void sl_input_close(struct sl_setup *s, struct sl_input *input);

#endif
