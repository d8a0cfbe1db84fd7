/* family.cu: algorithms of families with their own run_family: one is correct, and three use arguments of one node for
 * all nodes. Each lists events with enough numbers. */
#include "wrong.h"

struct listing_args {
  struct sl_events events;
  struct wrong_numbers_view numbers;
  struct sl_event_list passed;
  uint32_t at_least;
};
#define SL_ARGS listing_args
#define LISTING_MEMBERS                                                         \
  {                                                                             \
    SL_EVENTS(), SL_IN(numbers, wrong_numbers, "offsets", "any"),               \
        SL_OUT(passed, sl_event_list, "events with at least at_least numbers"), \
        SL_U32(at_least, 2, 0, 1000, "", "numbers"),                            \
  }

/* One block writes the list of a node. */
static SL_DEVICE void list_events(const struct listing_args *a, const struct sl_events *events, uint32_t at_least) {
  uint32_t length = 0;
  SL_FOR_BLOCK (i, *events->count) {
    const uint32_t event = i < *events->count ? sl_event_at(events, i) : 0;
    const uint32_t wanted =
        i < *events->count && a->numbers.offsets[event + 1] - a->numbers.offsets[event] >= at_least ? 1u : 0u;
    const uint32_t place = sl_block_append(wanted, &length);
    if (wanted) a->passed.numbers[place] = event;
  }
  if (threadIdx.x == 0) *a->passed.count = length;
}

SL_KERNEL(list_alone, struct listing_args) {
  if (blockIdx.x == 0) list_events(&a, &a.events, a.at_least);
}
static int listing_run(const struct sl_launch *l, const struct listing_args *a) {
  return SL_LAUNCH(l, list_alone, SL_PER_NODE(1), *a);
}

#define FAMILY(name)                                                                                                \
  static int name##_together(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count) {  \
    (void)host_args;                                                                                                \
    return SL_LAUNCH(l, name##_nodes, SL_PER_NODE(count), sl_nodes_of(args, count));                                \
  }                                                                                                                 \
  static const struct sl_member name##_members[] = LISTING_MEMBERS;                                                 \
  struct name##_args {                                                                                              \
    struct listing_args all;                                                                                        \
  };                                                                                                                \
  static int name##_run(const struct sl_launch *l, const struct name##_args *a) { return listing_run(l, &a->all); } \
  SL_ALGORITHM(name, "breaks a rule (see its comment)", 64, name##_run, SL_FAMILY(#name, name##_together))

SL_KERNEL(good_family_nodes, struct sl_nodes) {
  SL_FOR_NODES (struct listing_args, node, a) list_events(node, &node->events, node->at_least);
}
FAMILY(good_family);

/* Only the first node runs. */
SL_KERNEL(first_node_nodes, struct sl_nodes) {
  const struct listing_args *first = (const struct listing_args *)a.args;
  if (blockIdx.x == 0) list_events(first, &first->events, first->at_least);
}
FAMILY(first_node);

/* All nodes use the list of the first one. */
SL_KERNEL(first_list_nodes, struct sl_nodes) {
  const struct listing_args *first = (const struct listing_args *)a.args;
  SL_FOR_NODES (struct listing_args, node, a) list_events(node, &first->events, node->at_least);
}
FAMILY(first_list);

/* All nodes use the properties of the first one. */
SL_KERNEL(first_property_nodes, struct sl_nodes) {
  const struct listing_args *first = (const struct listing_args *)a.args;
  SL_FOR_NODES (struct listing_args, node, a) list_events(node, &node->events, first->at_least);
}
FAMILY(first_property);
