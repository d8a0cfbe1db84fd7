/* binding.h: pointers of argument structs. See binding.c. */
#ifndef SL_BINDING_H
#define SL_BINDING_H

#include "execute/slot.h"

/* Argument structs of all kernels and sinks of a slot, with the pointers that do not depend on the slice. */
int sl_binding_open(struct sl_slot *slot);
void sl_binding_close(struct sl_slot *slot);
/* Sets all pointers again, after a change of the slot's layout. Needs no memory; addresses of argument structs stay. */
void sl_binding_renew(struct sl_slot *slot);
/* Points the output structs of the source to the block of the input. */
void sl_bind_source(const struct sl_setup *s, struct sl_input *input);
/* Points the arguments of the kernels to the input of the slice, from event `first` on, and copies the tables to
 * the device. The kernels of the slice must not be running. */
int sl_bind_input(struct sl_slot *slot, struct sl_slice *slice, uint32_t first);
/* Points the arguments of the sinks to results and input, from event `first` on. `empty`: for an event with an
 * error, which has no items in the results. */
void sl_bind_sinks(struct sl_slot *slot, const struct sl_input *input, uint32_t first, int empty);
/* Points the inputs of the node to arrays of constants in host memory. `views`, sl_views_bytes zeroed bytes,
 * receives the views of list ports. */
void sl_bind_constants(const struct sl_setup *s, uint32_t node, void *args, unsigned char *views);
uint64_t sl_views_bytes(const struct sl_node *node);

/* Address of a field from event `first` of the slice on, for kernels and for the host. */
void *sl_field_for_kernels(const struct sl_slot *slot, const struct sl_slice *slice, uint32_t first, int32_t storage);
void *sl_field_on_host(const struct sl_slot *slot, const struct sl_input *input, uint32_t first, int32_t storage);

#endif
