/* memory_check.h: callbacks of --guard and --race, which place memory differently and check its use. At most one of the
 * two is active. Unlike observers they change the addresses of fields. All callbacks are required unless marked
 * optional.
 */
#ifndef SL_MEMORY_CHECK_H
#define SL_MEMORY_CHECK_H

#include "execute/setup.h"

struct sl_slice;
struct sl_input;
struct sl_slot;

struct sl_memory_check {
  uint64_t input_gap_bytes; /* gap before and after each field of an input block */
  /* Size of all fields of a slot, including gaps. */
  uint64_t (*fields_bytes)(const struct sl_setup *s);
  /* Places all fields of the arena, and sets slot->check_state. SL_ENOMEM leaves the rest to `close`. */
  int (*open)(struct sl_slot *slot);
  void (*close)(struct sl_slot *slot);
  /* Optional: constants of the slot have been exchanged. */
  void (*exchanged)(const struct sl_slot *slot);
  /* Optional: before and after the source fills an input; before the input is released. */
  void (*fill_begin)(const struct sl_setup *s, struct sl_input *input);
  int (*fill_end)(const struct sl_setup *s, struct sl_input *input, const struct sl_fill *fill);
  void (*input_close)(const struct sl_setup *s, const struct sl_input *input);
  /* Before a step: its outputs are undefined. */
  void (*step_begin)(struct sl_slot *slot, uint32_t step);
  /* Optional: before and after nodes run together. */
  int (*nodes_begin)(struct sl_slot *slot, const struct sl_slice *slice, const uint32_t *nodes, uint32_t count);
  int (*nodes_end)(struct sl_slot *slot, const struct sl_slice *slice, const uint32_t *nodes, uint32_t count);
  /* Optional: checks an output of a part before it is delivered. */
  int (*check_output)(const struct sl_setup *s, const struct sl_output_view *view, const struct sl_batch *batch);
  /* Optional: at the end of the run; SL_EPLUGIN if there are findings. */
  int (*finish)(const struct sl_setup *s);
};

#endif
