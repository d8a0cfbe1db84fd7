/* pack.h: packed results of devices with a memory of their own. See pack.c. */
#ifndef SL_PACK_H
#define SL_PACK_H

#include "execute/slot.h"

/* Host memory for the results of a slice. It keeps its size when the plan changes; where plans may grow, it has room
 * for twice the items of the first plan. */
uint64_t sl_pack_output_bytes(const struct sl_setup *s);
/* Size of a block for results that a program may keep, with the same room. */
uint64_t sl_pack_kept_bytes(const struct sl_setup *s);
/* Also for targets without a memory of their own, which only pack what a program may keep. */
int sl_pack_open(struct sl_slot *slot);
void sl_pack_close(struct sl_slot *slot);
/* Describes a field for packing, for a part that begins at event `first` of the input. */
struct sl_pack_field sl_pack_field_of(const struct sl_slot *slot, uint32_t slice_index, uint32_t first,
                                      uint32_t storage);
/* Sets the addresses of offsets, for parts that begin at event `first` of the input. */
int sl_pack_point(struct sl_slot *slot, uint32_t slice_index, uint32_t first);
int sl_pack_enqueue(struct sl_slot *slot, uint32_t slice_index);
/* Finds the results in the output and in the block. If slot->results_bytes, the size that they need, exceeds
 * slot->results_room, fields are missing. */
void sl_pack_read(struct sl_slot *slot, uint32_t slice_index);

#endif
