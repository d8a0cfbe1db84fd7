/* launch_test.c: the grids of sluice/kernel.h and their loops: the events and items that they visit, and their sizes.
 * On target cpu, and by kernel_simt_test.c on the emulator. */
#include "support.h"

#include <sluice/kernel.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof(array)[0])

#if defined(SL_TARGET_CPU)
static const struct sl_launch launch = {
    .size = sizeof(struct sl_launch), .block_threads = 1, .grid_blocks = 1, .events_max = 7};
#else
#define launch emulator_launch
#endif

/* ------------------------------------------------------------------------------------------------- events */

enum { EVENTS = 7 };
struct visit_args {
  struct sl_events events;
  uint32_t *visits; /* per event */
  uint32_t *descents;
};

SL_KERNEL(visit_events, struct visit_args) {
  uint32_t last = 0;
  SL_FOR_EVENTS (event, a.events) {
    if (threadIdx.x == 0) {
      atomicAdd(&a.visits[event], 1u);
      if (event < last) atomicAdd(a.descents, 1u);
    }
    last = event;
  }
}

static void assert_visits(const uint32_t *numbers, uint32_t count, const uint32_t expected[EVENTS]) {
  uint32_t visits[EVENTS] = {0}, descents = 0;
  const struct visit_args args = {{.count = &count, .numbers = numbers}, visits, &descents};
  assert_int_equal(SL_LAUNCH(&launch, visit_events, SL_PER_EVENT, args), SL_OK);
  assert_memory_equal(visits, expected, sizeof visits);
  assert_int_equal(descents, 0);
}

static void a_kernel_visits_each_event_of_its_list_once_in_order(void **state) {
  (void)state;
  const uint32_t numbers[] = {0, 2, 3, 6};
  assert_visits(NULL, EVENTS, (const uint32_t[EVENTS]){1, 1, 1, 1, 1, 1, 1});
  assert_visits(NULL, 3, (const uint32_t[EVENTS]){1, 1, 1});
  assert_visits(NULL, 0, (const uint32_t[EVENTS]){0});
  assert_visits(numbers, 4, (const uint32_t[EVENTS]){1, 0, 1, 1, 0, 0, 1});
  assert_visits(numbers + 3, 1, (const uint32_t[EVENTS]){0, 0, 0, 0, 0, 0, 1});
  assert_visits(numbers, 0, (const uint32_t[EVENTS]){0});
}

static const uint32_t list[] = {0, 2, 3, 6};

SL_KERNEL(visit_by_thread, struct visit_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) atomicAdd(&a.visits[event], 1u);
}

SL_KERNEL(visit_all, struct visit_args) {
  SL_FOR_ALL_EVENTS (event, a.events) atomicAdd(&a.visits[event], 1u);
}

#define ASSERT_VISITS_OF(kernel, numbers_, count_, ...)                                                   \
  do {                                                                                                    \
    const uint32_t count = count_;                                                                        \
    uint32_t visits[EVENTS] = {0};                                                                        \
    const struct visit_args args = {{.count = &count, .numbers = numbers_, .max = EVENTS}, visits, NULL}; \
    assert_int_equal(SL_LAUNCH(&launch, kernel, SL_THREAD_PER_EVENT, args), SL_OK);                       \
    assert_memory_equal(visits, ((const uint32_t[EVENTS])__VA_ARGS__), sizeof visits);                    \
  } while (0)

static void one_thread_per_event_visits_each_listed_event_once(void **state) {
  (void)state;
  ASSERT_VISITS_OF(visit_by_thread, NULL, EVENTS, {1, 1, 1, 1, 1, 1, 1});
  ASSERT_VISITS_OF(visit_by_thread, NULL, 3, {1, 1, 1});
  ASSERT_VISITS_OF(visit_by_thread, list, 4, {1, 0, 1, 1, 0, 0, 1});
  ASSERT_VISITS_OF(visit_by_thread, list, 0, {0});
}

static void all_events_of_a_slice_are_visited_for_any_list(void **state) {
  (void)state;
  ASSERT_VISITS_OF(visit_all, NULL, 3, {1, 1, 1, 1, 1, 1, 1});
  ASSERT_VISITS_OF(visit_all, list, 0, {1, 1, 1, 1, 1, 1, 1});
}

/* ------------------------------------------------------------------------------------- items and subitems */

enum { ITEMS = 1200, SUBITEMS = 3600, FIRST = 5 };

struct item_args {
  struct sl_events events;
  const uint32_t *offsets, *sub_offsets;
  uint32_t *visits;
};

SL_KERNEL(visit_items, struct item_args) {
  SL_FOR_ITEMS (i, a.events, a.offsets) {
    if (i == FIRST) continue; /* continue must not skip the next item */
    atomicAdd(&a.visits[i], 1u);
  }
}

SL_KERNEL(visit_subitems, struct item_args) {
  SL_FOR_SUBITEMS (i, a.events, a.offsets, a.sub_offsets) atomicAdd(&a.visits[i], 1u);
}

/* Items of a part of a slice, from FIRST on. Some events have no items, some more than a block has threads. */
static const uint32_t offsets[EVENTS + 1] = {FIRST, FIRST, 40, 40, 41, 1100, 1105, ITEMS};

static int is_wanted(const uint32_t *numbers, uint32_t count, uint32_t item) {
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t event = numbers ? numbers[i] : i;
    if (item >= offsets[event] && item < offsets[event + 1]) return 1;
  }
  return 0;
}

static void assert_items(const uint32_t *numbers, uint32_t count) {
  uint32_t sub_offsets[ITEMS + 1], visits[ITEMS] = {0}, sub_visits[SUBITEMS] = {0};
  for (uint32_t i = 0; i <= ITEMS; i++) sub_offsets[i] = 3 * i;
  struct item_args args = {{.count = &count, .numbers = numbers, .max = EVENTS}, offsets, sub_offsets, visits};
  const struct sl_grid grid = sl_make_grid(SL_GRID_THREADS, ITEMS);
  assert_int_equal(SL_LAUNCH(&launch, visit_items, grid, args), SL_OK);
  for (uint32_t i = 0; i < ITEMS; i++) assert_int_equal(visits[i], i != FIRST && is_wanted(numbers, count, i));
  args.visits = sub_visits;
  assert_int_equal(SL_LAUNCH(&launch, visit_subitems, grid, args), SL_OK);
  for (uint32_t i = 0; i < SUBITEMS; i++) assert_int_equal(sub_visits[i], is_wanted(numbers, count, i / 3));
}

static void each_item_of_the_events_on_the_list_is_visited_once(void **state) {
  (void)state;
  assert_items(NULL, EVENTS);
  assert_items(NULL, 4);
  assert_items(NULL, 0);
  assert_items(list, 4);
  assert_items(list + 1, 2);
  assert_items(list, 0);
}

/* -------------------------------------------------------------------------------------------------- nodes */

struct node_args {
  uint32_t number;
  uint32_t *sums; /* per node */
};

SL_KERNEL(visit_nodes, struct sl_nodes) {
  SL_FOR_NODES (struct node_args, node, a) {
    const uint32_t threads = sl_block_sum_u32(1);
    if (threadIdx.x == 0) atomicAdd(&node->sums[node->number], threads);
  }
}

static void each_node_of_a_family_has_a_block(void **state) {
  (void)state;
  enum { NODES = 64 };
  uint32_t sums[NODES] = {0};
  struct node_args nodes[NODES];
  for (uint32_t n = 0; n < NODES; n++) nodes[n] = (struct node_args){n, sums};
  assert_int_equal(SL_LAUNCH(&launch, visit_nodes, SL_PER_NODE(NODES), sl_nodes_of(nodes, NODES)), SL_OK);
  for (uint32_t n = 0; n < NODES; n++) assert_int_equal(sums[n], launch.block_threads);
}

/* -------------------------------------------------------------------------------------------------- sizes */

static void grids_are_limited_by_the_work_and_the_device(void **state) {
  (void)state;
  const struct sl_launch l = {.block_threads = 256, .grid_blocks = 1000, .events_max = 1000, .device_threads = 2560};
  const struct sl_launch unknown = {.block_threads = 256, .grid_blocks = 7, .events_max = 7};
  const struct { struct sl_bound bound, hit_offsets_bound; } port = {{600, 0, NULL, 0}, {100000, 0, NULL, 0}};
  assert_int_equal(sl_grid_blocks(&l, SL_PER_EVENT, 256), 1000);
  assert_int_equal(sl_grid_blocks(&l, SL_THREAD_PER_EVENT, 256), 4);
  assert_int_equal(sl_grid_blocks(&l, SL_PER_ITEM(port), 256), 3);
  assert_int_equal(sl_grid_blocks(&l, SL_PER_SUBITEM(port, hit_offsets), 256), 40);
  assert_int_equal(sl_grid_blocks(&unknown, SL_PER_SUBITEM(port, hit_offsets), 256), 7);
  assert_int_equal(sl_grid_blocks(&l, SL_PER_NODE(64), 256), 64);
  assert_int_equal(sl_grid_blocks(&l, sl_make_grid(SL_GRID_THREADS, 0), 256), 1);
}

static void a_kernel_has_its_own_block_size(void **state) {
  (void)state;
  const struct sl_kernel_block blocks[] = {{"count", 64, 0}, {"write", 512, 0}};
  const struct sl_launch l = {.block_threads = 128, .block_count = COUNT(blocks), .blocks = blocks};
  assert_int_equal(sl_kernel_threads(&l, "count"), 64);
  assert_int_equal(sl_kernel_threads(&l, "write"), 512);
  assert_int_equal(sl_kernel_threads(&l, "scan"), 128);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_kernel_visits_each_event_of_its_list_once_in_order),
      cmocka_unit_test(one_thread_per_event_visits_each_listed_event_once),
      cmocka_unit_test(all_events_of_a_slice_are_visited_for_any_list),
      cmocka_unit_test(each_item_of_the_events_on_the_list_is_visited_once),
      cmocka_unit_test(each_node_of_a_family_has_a_block),
      cmocka_unit_test(grids_are_limited_by_the_work_and_the_device),
      cmocka_unit_test(a_kernel_has_its_own_block_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
