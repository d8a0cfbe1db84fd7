/* slots.h: opening and closing of slots and inputs. See slots.c. */
#ifndef SL_SLOTS_H
#define SL_SLOTS_H

#include "execute/slot.h"

/* Parts of the session that a slot uses, besides its setup. */
struct sl_slot_parts {
  struct sl_order *order;
  struct sl_delivery *delivery;
  struct sl_overflow_history *history;
  struct sl_replan *replan;
  const struct sl_observers *observers;
};

int sl_slot_open(struct sl_setup *s, const struct sl_slot_parts *parts, struct sl_slot *slot, uint32_t index);
/* Gives back the arena on a device with memory of its own; memory of batches stays readable until sl_slot_close. */
void sl_slot_release_device(struct sl_slot *slot);
void sl_slot_close(struct sl_slot *slot);
/* Changes to another layout of the same structure, while no slice is in flight in the slot. SL_ENOMEM: there is no
 * memory for its arena, and nothing has changed. */
int sl_slot_adopt(struct sl_slot *slot, const struct sl_layout *layout);
int sl_input_open(struct sl_setup *s, const struct sl_device_state *state, struct sl_input *input);
void sl_input_close(struct sl_setup *s, struct sl_input *input);

#endif
