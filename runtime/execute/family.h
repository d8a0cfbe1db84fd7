/* family.h: families of nodes in one launch, and the memory that is cleared before a step. See family.c. */
#ifndef SL_FAMILY_H
#define SL_FAMILY_H

#include "execute/slot.h"

/* Size of the argument structs of all families, and their assignment to the start of the tables of a slice. */
uint64_t sl_families_bytes(const struct sl_setup *s);
void sl_families_place(const struct sl_setup *s, struct sl_slice *slice);
int sl_family_run(struct sl_slot *slot, const struct sl_slice *slice, const struct sl_step *step);

/* Clears memory before a step: outputs of events that are not on the list of their node, totals, and on a device the
 * counters. With `note`, that byte gets `value` (sl_backend.note). */
int sl_clears_open(struct sl_slot *slot);
void sl_clears_renew(struct sl_slot *slot);       /* after a change of the slot's layout */
int sl_clears_upload(const struct sl_slot *slot); /* copies the table to the device, before kernels are captured */
void sl_clears_close(struct sl_slot *slot);
int sl_clears_run(struct sl_slot *slot, struct sl_stream *stream, uint32_t step, uint8_t *note, uint8_t value);

#endif
