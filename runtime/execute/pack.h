/* pack.h: packed results of devices with a memory of their own. See pack.c. */
#ifndef SL_PACK_H
#define SL_PACK_H

#include "execute/slot.h"

/* Host memory for the results of a slice. It keeps its size when the plan changes; where plans may grow, it has room
 * for twice the items of the first plan. */
uint64_t sl_pack_output_bytes(const struct sl_setup *s);
int sl_pack_open(struct sl_slot *slot);
void sl_pack_close(struct sl_slot *slot);
/* Sets the addresses of offsets, for parts that begin at event `first` of the input. */
int sl_pack_point(struct sl_slot *slot, uint32_t slice_index, uint32_t first);
int sl_pack_enqueue(struct sl_slot *slot, uint32_t slice_index);
/* Finds the results in the output. slot->results_bytes is the size that they need; if it exceeds
 * slot->pack.output_bytes, fields are missing. */
void sl_pack_read(struct sl_slot *slot, uint32_t slice_index);

#endif
