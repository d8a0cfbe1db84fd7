/* kernel_select.h: algorithms that select items, or merge the items of two ports, and write them with their subitems
 * (for example, pulses with their samples). Part of kernel.h.
 *
 * An algorithm defines in small functions which items it selects and how one item and one subitem are written. The
 * macros below define the kernels and `int NAME_run(const struct sl_launch *l, const struct NAME_args *a)`, which is
 * passed to SL_ALGORITHM or called by the algorithm's own `run`:
 *
 *   NAME_count      one block per event: counts the selected items; a scan makes item offsets
 *   NAME_items      one block per event: writes the items and their numbers of subitems; a scan makes subitem offsets
 *   NAME_subitems   `lanes` threads per item, over the whole slice: writes the subitems
 *
 * The functions, for the arguments `a` of the node:
 *
 *   uint32_t is_selected(const struct NAME_args *a, struct sl_item item)
 *       0 if the item is not selected. Called twice for each item.
 *   uint32_t subitem_count(const struct NAME_args *a, struct sl_item item)
 *       number of subitems, which may be 0; SL_NOT_SELECTED if the item is not selected. Called twice for each item.
 *   void write_item(const struct NAME_args *a, struct sl_item item)
 *       writes the PER_ITEM fields at item.output_index. The macros write both kinds of offsets.
 *   void write_subitem(const struct NAME_args *a, struct sl_item item, uint32_t h, uint32_t index)
 *       writes the PER_SUBITEM fields of subitem h = 0, 1, ... at `index`; the item's subitems begin at index - h.
 *
 * Threads call them in any order: their results must depend on the item only, and they must not contain barriers or
 * collectives.
 *
 * Order: that of the input; for a merge, the items of `first`, then those of `second`. It does not depend on block
 * size, lanes or target. Events that are not on the node's list have no items.
 * Errors: if items or subitems exceed the output's capacity, or an event its limit, the scans report it and nothing is
 * written (docs/plan.md). NAME_run returns 0 or the error of a launch or scan.
 * Cost in addition to the functions: two launches and one scan; with subitems, three launches and two scans, and 8
 * bytes of scratch for each selected item, written once and read once.
 */
#ifndef SLUICE_KERNEL_SELECT_H
#define SLUICE_KERNEL_SELECT_H

#define SL_NOT_SELECTED UINT32_MAX

/* An input item and its index in the output. Indices count from the beginning of the slice. */
struct sl_item {
  uint32_t event;
  uint32_t input_index;  /* index in the input */
  uint32_t is_second;    /* of a merge: 1 if the input is `second`, else 0 */
  uint32_t output_index; /* index in the output; undefined in is_selected and subitem_count */
};

/* Selects items without subitems.
 *   input   an input with offsets
 *   output  an output with offsets of its own, with room for the items of `input` or fewer */
#define SL_SELECT_ITEMS(name, input, output, is_selected, write_item)                                               \
  SL_SELECT_KERNELS_(name, a.input.offsets, NULL, output, is_selected(&a, sl_item) ? 0u : SL_NOT_SELECTED, (void)0, \
                     write_item)                                                                                    \
  static int name##_run(const struct sl_launch *l, const struct name##_args *a) {                                   \
    return SL_COUNT_SCAN_WRITE(l, name##_count, name##_items, a->output, *a);                                       \
  }

/* Selects items with their subitems.
 *   output        an output with offsets of its own
 *   item_offsets  PORT.FIELD of the subitems: the ITEM_OFFSETS field of `output`, or of an output that shares its
 *                 offsets
 *   lanes         threads that write an item's subitems: a power of two up to 32, about the typical number of subitems
 * The arguments must have M(SCRATCH, sources, u64, "input item and event of each selected item", CAPACITY) with the
 * item capacity of `output`. */
#define SL_SELECT_WITH_SUBITEMS(name, input, output, item_offsets, lanes, subitem_count, write_item, write_subitem) \
  SL_SELECT_SUBITEM_KERNELS_(name, a.input.offsets, NULL, output, item_offsets, lanes, subitem_count, write_item,   \
                             write_subitem)

/* Merges two inputs with their subitems: for each event, the selected items of `first`, then those of `second`. */
#define SL_MERGE_WITH_SUBITEMS(name, first, second, output, item_offsets, lanes, subitem_count, write_item,       \
                               write_subitem)                                                                     \
  SL_SELECT_SUBITEM_KERNELS_(name, a.first.offsets, a.second.offsets, output, item_offsets, lanes, subitem_count, \
                             write_item, write_subitem)

/* ------------------------------------------------------------------------------------- what these are made of */

/* The input items of an event: of one port, or of two ports in sequence. */
struct sl_sources_ {
  uint32_t event, count;
  uint32_t first, first_count, second;
};

static SL_DEVICE struct sl_sources_ sl_sources_of_(uint32_t event, const uint32_t *first, const uint32_t *second) {
  struct sl_sources_ s;
  s.event = event;
  s.first = first[event];
  s.first_count = first[event + 1] - s.first;
  s.second = second ? second[event] : 0;
  s.count = s.first_count + (second ? second[event + 1] - s.second : 0);
  return s;
}

static SL_DEVICE struct sl_item sl_source_(const struct sl_sources_ *s, uint32_t i) {
  struct sl_item item;
  item.event = s->event;
  item.is_second = i >= s->first_count ? 1u : 0u;
  item.input_index = item.is_second ? s->second + (i - s->first_count) : s->first + i;
  item.output_index = 0;
  return item;
}

/* Packs an entry of `sources`: input_index, event (31 bits), is_second. */
static SL_DEVICE uint64_t sl_source_pack_(struct sl_item item) {
  return (uint64_t)item.is_second << 63 | (uint64_t)item.event << 32 | item.input_index;
}

static SL_DEVICE struct sl_item sl_source_unpack_(uint64_t source, uint32_t output_index) {
  struct sl_item item;
  item.event = (uint32_t)(source >> 32) & INT32_MAX;
  item.input_index = (uint32_t)source;
  item.is_second = (uint32_t)(source >> 63);
  item.output_index = output_index;
  return item;
}

/* Returns the number of items of an output in which events off the list are empty: the end of the last listed event. */
static SL_DEVICE uint32_t sl_listed_items_(const struct sl_events *list, const uint32_t *offsets) {
  return *list->count > 0 ? offsets[sl_event_at(list, *list->count - 1) + 1] : 0;
}

/* `subitems`: expression in sl_item, SL_NOT_SELECTED for an item that is not selected. `keep`: further statements of
 * NAME_items for a selected item and its sl_subitems. */
#define SL_SELECT_KERNELS_(name, first, second, out, subitems, keep, write_item)                  \
  SL_KERNEL(name##_count, struct name##_args) {                                                   \
    SL_FOR_EVENTS (sl_event, a.events) {                                                          \
      const struct sl_sources_ sl_sources = sl_sources_of_(sl_event, first, second);              \
      uint32_t sl_count = 0;                                                                      \
      for (uint32_t sl_i = threadIdx.x; sl_i < sl_sources.count; sl_i += blockDim.x) {            \
        const struct sl_item sl_item = sl_source_(&sl_sources, sl_i);                             \
        sl_count += (subitems) == SL_NOT_SELECTED ? 0u : 1u;                                      \
      }                                                                                           \
      sl_count = sl_block_sum_u32(sl_count);                                                      \
      if (threadIdx.x == 0) a.out.offsets[sl_event] = sl_count;                                   \
    }                                                                                             \
  }                                                                                               \
  SL_KERNEL(name##_items, struct name##_args) {                                                   \
    SL_FOR_EVENTS (sl_event, a.events) {                                                          \
      const struct sl_sources_ sl_sources = sl_sources_of_(sl_event, first, second);              \
      const uint32_t sl_first = a.out.offsets[sl_event];                                          \
      const uint32_t sl_count = a.out.offsets[sl_event + 1] > sl_first ? sl_sources.count : 0;    \
      uint32_t sl_length = 0;                                                                     \
      SL_FOR_BLOCK (sl_i, sl_count) {                                                             \
        struct sl_item sl_item = sl_source_(&sl_sources, sl_i);                                   \
        const uint32_t sl_subitems = sl_i < sl_count ? (subitems) : SL_NOT_SELECTED;              \
        const uint32_t sl_location = sl_block_append(sl_subitems != SL_NOT_SELECTED, &sl_length); \
        sl_item.output_index = sl_first + sl_location;                                            \
        if (sl_subitems == SL_NOT_SELECTED) continue;                                             \
        keep;                                                                                     \
        write_item(&a, sl_item);                                                                  \
      }                                                                                           \
    }                                                                                             \
  }

#define SL_SELECT_SUBITEM_KERNELS_(name, first, second, out, sub, lanes, subitem_count, write_item, write_subitem) \
  SL_SELECT_KERNELS_(                                                                                              \
      name, first, second, out, subitem_count(&a, sl_item),                                                        \
      (a.sub[sl_item.output_index] = sl_subitems, a.sources[sl_item.output_index] = sl_source_pack_(sl_item)),     \
      write_item)                                                                                                  \
  SL_KERNEL(name##_subitems, struct name##_args) {                                                                 \
    const uint32_t sl_items = sl_listed_items_(&a.events, a.out.offsets);                                          \
    for (uint32_t sl_to = sl_grid_thread() / SL_GROUP(lanes); sl_to < sl_items;                                    \
         sl_to += sl_grid_threads() / SL_GROUP(lanes)) {                                                           \
      const struct sl_item sl_item = sl_source_unpack_(a.sources[sl_to], sl_to);                                   \
      const uint32_t sl_first = a.sub[sl_to], sl_count = a.sub[sl_to + 1] - sl_first;                              \
      for (uint32_t sl_h = sl_group_lane(lanes); sl_h < sl_count; sl_h += SL_GROUP(lanes))                         \
        write_subitem(&a, sl_item, sl_h, sl_first + sl_h);                                                         \
    }                                                                                                              \
  }                                                                                                                \
  static int name##_run(const struct sl_launch *l, const struct name##_args *a) {                                  \
    const struct sl_grid sl_subitems = sl_make_grid(SL_GRID_THREADS, (uint64_t)a->out.bound.capacity * (lanes));   \
    int error = SL_COUNT_SCAN_WRITE(l, name##_count, name##_items, a->out, *a);                                    \
    if (error == SL_OK) error = l->scan_items(l, a->sub, a->out.offsets, &a->sub##_bound);                         \
    if (error == SL_OK) error = SL_LAUNCH(l, name##_subitems, sl_subitems, *a);                                    \
    return error;                                                                                                  \
  }

#endif
