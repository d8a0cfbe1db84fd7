/* kept.h: the blocks that slices pack results into which a program may keep (options.keep_device). See kept.c.
 * Without the option the functions do nothing. */
#ifndef SL_EXECUTE_KEPT_H
#define SL_EXECUTE_KEPT_H

#include "execute/slot.h"

/* Memory of the blocks on the device that has the most; without devices, of all blocks. */
uint64_t sl_kept_bytes(const struct sl_setup *s, uint32_t slots);
/* Opens the blocks, or replaces those of an earlier configuration. */
int sl_kept_open(struct sl_setup *s);
/* Gives a block to the slice, if it has none. */
int sl_kept_prepare(struct sl_slot *slot, uint32_t slice_index);
/* Targets without a memory of their own: copies the results of a part to the block, and sets slot->results_bytes; if it
 * exceeds slot->results_room, nothing is copied. */
int sl_kept_pack(struct sl_slot *slot, uint32_t slice_index, uint32_t first, uint32_t count);
/* Around the delivery of a batch. `empty`: an event with an error; its fields become zeros. SL_ENOMEM, reported: as
 * many batches are kept as there is memory for. */
int sl_kept_begin(struct sl_slot *slot, uint32_t slice_index, const struct sl_batch *batch, int empty);
void sl_kept_end(struct sl_slot *slot, uint32_t slice_index);
/* Gives the blocks of the slot back. */
void sl_kept_leave(struct sl_slot *slot);

#endif
