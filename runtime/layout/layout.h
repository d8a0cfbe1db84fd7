/* layout.h: from a checked graph to memory. Decides, before the first event, the capacity of every port, the order of
 * steps, and where each field lives: in the slot's arena (planned by lifetime), in the slice's input block, or in a
 * constant. Nothing is allocated later, and no pointer changes but those into the input block.
 */
#ifndef SL_LAYOUT_H
#define SL_LAYOUT_H

#include "graph/graph.h"
#include "plan/plan.h"
#include "plugin/tables.h"

enum { SL_ARENA_ALIGNMENT = 256, SL_NODES_MAX = 0xFFFF /* as the errors of events have bits for */ };

/* Error words name the node by its place among the kernel nodes; the earlier it runs, the larger the word. Below stand
 * 8 bits for a limit, then the algorithm's code and detail, or how much the event wants of what is limited. */
#define SL_ERROR_BASE(step) ((uint64_t)(SL_NODES_MAX - (step)) << 48)
#define SL_ERROR_STEP(word) (SL_NODES_MAX - (uint32_t)((word) >> 48))
/* The event wants more than it may have of one of the node's bounds: 1 + which, by its `used` word; else 0. */
#define SL_ERROR_LIMIT(which) ((uint64_t)(1 + (which)) << 40)
#define SL_ERROR_WHICH(word)  ((uint32_t)((word) >> 40) & 0xFF)

/* No error: a kernel left out something of the event. The node stands in bits 16 to 31; any error is larger. */
#define SL_ERROR_IS_CUT(word)   ((word) >> 48 == 0)
#define SL_ERROR_CUT_STEP(word) (SL_NODES_MAX - ((uint32_t)(word) >> 16))

/* Where a field lives. */
enum { SL_STORAGE_ARENA, SL_STORAGE_INPUT, SL_STORAGE_CONSTANT };

struct sl_storage {
  uint32_t kind;
  uint32_t node, member, field; /* who writes it; field UINT32_MAX: scratch; node UINT32_MAX: a list of the runtime's */
  uint64_t bytes;
  uint64_t offset;             /* in the arena or the input block */
  uint64_t event_stride_bytes; /* INPUT: bytes from one event's entry to the next, 0 where entries are not by event */
  uint32_t lower, upper;       /* steps in which it lives, half open */
  uint32_t kept_from, kept_until; /* ARENA: nobody else has its memory in these steps, half open; more than it lives
                                     where steps of other branches may run beside those that touch it */
  uint32_t clear_step;          /* before which a device clears it, `lower` or an earlier one; UINT32_MAX: it is not */
  int32_t in_place_of;          /* shares that storage's place, or SL_NONE */
  uint32_t last_reader_is_host; /* lives to the end */
  uint32_t read_by_kernel;
};

/* A member's capacities and the storage of its fields (SL_NONE: not connected, not read, or not wanted). Scratch has
 * one field. A list port has an entry for each producer, and capacities that are their sums; all others are their own
 * single entry. */
struct sl_slot_member {
  uint64_t capacities[SL_BOUNDS_MAX]; /* of the bounds; of scratch, its values */
  uint64_t limits[SL_BOUNDS_MAX];     /* what one event may have: the capacities of a slice of one */
  uint32_t used[SL_BOUNDS_MAX];       /* index of their `used` words, UINT32_MAX: none */
  int32_t *storage;
  uint32_t entry_count;
  struct sl_slot_member *entries;
};

enum { SL_BRANCHES_MAX = 16 };

/* Runs a node, or several of a family in one launch; or makes one event list of several. Steps of a branch run one
 * after the other; steps of different branches side by side, but for the waits. */
enum { SL_STEP_RUN, SL_STEP_COMBINE };
struct sl_step {
  uint32_t kind;
  uint32_t node_count;   /* RUN */
  const uint32_t *nodes; /* RUN */
  uint32_t set;          /* COMBINE: the set that it makes */
  uint32_t branch, index_in_branch;
  uint32_t first_wait, wait_count; /* in the layout's `waits`: it begins when these steps of other branches are
                                      complete; those that others of them, or its branch, imply are left out */
  uint32_t is_awaited;             /* by a step of another branch */
};

/* A set of event lists that nodes run on. A single list is used as it is; of several, a step makes one. */
struct sl_list_set {
  const struct sl_port *ports;
  uint32_t port_count;
  uint32_t any;                           /* the union; else the intersection */
  int32_t count_storage, numbers_storage; /* of the list */
  int32_t tally_storage;                  /* of several: on how many of them each event is */
  uint32_t first_pointer;                 /* of several: where the pointers to them begin among those of all sets */
};

struct sl_layout {
  const struct sl_graph *graph;
  uint32_t events;                 /* E */
  struct sl_slot_member **members; /* [node][member] */
  struct sl_storage *storage;
  uint32_t storage_count;
  struct sl_step *steps;
  uint32_t step_count;
  uint32_t branch_count; /* 1: all steps run one after the other */
  uint32_t *waits;       /* of all steps */
  uint32_t wait_count;
  uint32_t *complete; /* [step][branch]: how many steps of the branch are complete when the step begins */
  struct sl_list_set *sets;
  uint32_t set_count;
  uint32_t list_pointer_count; /* to the lists of all sets of several */
  uint32_t *node_set;          /* per node: index into sets, UINT32_MAX for all events */
  uint32_t used_count;         /* number of `used` words */
  uint64_t *used_capacities;   /* of each, the least capacity of those that kernels fill and it counts for */
  uint64_t arena_bytes, live_bytes_max, input_bytes;
  uint64_t device_input_bytes; /* of the input, up to the last field that kernels read */
  uint64_t input_gap_bytes;    /* left before and after each field of the input */
  uint64_t least_bytes;        /* no plan has a smaller arena */
  uint64_t plan_steps;         /* of the search for a plan; 0: it was not needed */
};

/* Makes the layout for slices of `events` events, with at most `branches` branches. On failure the reasons are in `d`:
 * if a capacity is too large, also the largest slice for which none is. Gaps are multiples of SL_ARENA_ALIGNMENT. */
int sl_layout_make(const struct sl_graph *graph, uint32_t events, int families, uint32_t branches,
                   uint64_t input_gap_bytes, struct sl_diagnostics *d, struct sl_layout **layout);
void sl_layout_free(struct sl_layout *layout);

/* Who touches which storage: for each, its steps in ascending order, the first of which writes it. A step stands there
 * once, though several of its nodes or ports may touch it. */
struct sl_touches {
  uint32_t *first; /* [storage_count + 1]: the steps of storage i are steps[first[i]] to steps[first[i + 1]] */
  uint32_t *steps;
};
int sl_touches_find(const struct sl_layout *layout, struct sl_touches *touches);
void sl_touches_free(struct sl_touches *touches);

/* branches.c: gives each step its branch and its waits, in the order of the steps. Is step `a` complete before `b`
 * begins? step_count stands for the end of the slice. */
int sl_layout_branch(struct sl_layout *layout, uint32_t branches, const struct sl_touches *touches);
int sl_step_precedes(const struct sl_layout *layout, uint32_t a, uint32_t b);

/* place.c: sets offsets and bytes of the arena; a part of sl_layout_make. */
int sl_layout_place(struct sl_layout *layout, const struct sl_touches *touches, struct sl_diagnostics *d);

/* order_check.c: the independent checker of what runs side by side: no two fields that share memory are in use at a
 * time, and what is read was written and what is written was cleared before. It goes by the branches and waits as they
 * are captured, and by what the nodes' arguments point to; with an error in `d` where that is not so. */
int sl_layout_check_order(const struct sl_layout *layout, struct sl_diagnostics *d);

/* Is the field cleared before its node runs? Events that are not on the node's list have empty outputs: their counts
 * are 0, and so is what they have by event, or by items that another port counts, whose node ran on other events than
 * this one. An event list is written whole. What
 * kernels count (TOTAL) starts at 0 in each slice, and in each part of one, whatever the list. */
int sl_layout_is_cleared(const struct sl_layout *layout, uint32_t node, uint32_t member, uint32_t field);

/* The value of a capacity of the node's algorithm, once the ports that it names have theirs. */
uint64_t sl_layout_capacity(const struct sl_layout *layout, uint32_t node, const struct sl_capacity *capacity);

/* What a step runs: a node's name, or the algorithm of a family. */
const char *sl_step_name(const struct sl_layout *layout, uint32_t step);

/* "tracks.hit_x", "search.slots (scratch)", "intersection (count) of a.passed b.passed": for the plan's table. */
void sl_layout_name(const struct sl_layout *layout, uint32_t storage, char *text, size_t size);

#endif
