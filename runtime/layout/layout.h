/* layout.h: the memory layout of a checked graph.
 *
 * Decides, before the first event, the capacity of every port, the order of the steps, and where each field is stored:
 * in the arena of a slot (planned by lifetime), in the input block of a slice, or in a constant. Nothing is allocated
 * later. Only pointers into the input block change between slices.
 */
#ifndef SL_LAYOUT_H
#define SL_LAYOUT_H

#include "graph/graph.h"
#include "plan/plan.h"
#include "plugin/tables.h"

enum { SL_ARENA_ALIGNMENT = 256, SL_NODES_MAX = 0xFFFF /* the step number of an event error has 16 bits */ };

/* Error word of an event. Bits 48 to 63: SL_NODES_MAX - step, so that the earliest failing step has the largest
 * word. Bits 40 to 47: 1 + the number of the exceeded bound, or 0. Lower bits: error code and detail of the
 * algorithm, or the count that the event needs of the exceeded bound. */
#define SL_ERROR_BASE(step) ((uint64_t)(SL_NODES_MAX - (step)) << 48)
#define SL_ERROR_STEP(word) (SL_NODES_MAX - (uint32_t)((word) >> 48))
/* Error bits for an event that exceeds a bound of the node: 1 + the index of the `used` word of the bound. */
#define SL_ERROR_LIMIT(which) ((uint64_t)(1 + (which)) << 40)
#define SL_ERROR_WHICH(word)  ((uint32_t)((word) >> 40) & 0xFF)

/* Truncation word of an event: not an error, a kernel dropped part of the event. Bits 16 to 31 hold SL_NODES_MAX -
 * step. Every error word is larger. */
#define SL_ERROR_IS_TRUNCATION(word)   ((word) >> 48 == 0)
#define SL_ERROR_TRUNCATION_STEP(word) (SL_NODES_MAX - ((uint32_t)(word) >> 16))

/* Where a field is stored. */
enum { SL_STORAGE_ARENA, SL_STORAGE_INPUT, SL_STORAGE_CONSTANT };

struct sl_storage {
  uint32_t kind;
  uint32_t node, member, field; /* the writer; field UINT32_MAX: scratch; node UINT32_MAX: an event list made by the
                                   runtime */
  uint64_t bytes;
  uint64_t offset;             /* in the arena or the input block */
  uint64_t event_stride_bytes; /* INPUT: bytes between the entries of consecutive events, 0 if entries are not per
                                  event */
  uint32_t lower, upper;       /* lifetime in steps, half open */
  uint32_t reserved_from, reserved_until; /* ARENA: steps in which the memory is reserved, half open; longer than the
                                     lifetime where steps of other branches may run at the same time as the users of
                                     the field */
  uint32_t clear_step;          /* step before which the device clears the field, at most `lower`; UINT32_MAX: not
                                   cleared */
  int32_t in_place_of;          /* the storage with which this one shares memory, or SL_NONE */
  uint32_t last_reader_is_host; /* the lifetime extends to the end of the slice */
  uint32_t read_by_kernel;
};

/* Capacities of a member and the storage of its fields (SL_NONE: not connected, not read, or not requested). Scratch
 * has one field. A list port has one entry per producer and capacities that are sums over the entries; every other
 * member is its own single entry. */
struct sl_slot_member {
  uint64_t capacities[SL_BOUNDS_MAX]; /* per bound; for scratch, the number of values */
  uint64_t limits[SL_BOUNDS_MAX];     /* capacities per event: those of a slice of one event */
  uint32_t used[SL_BOUNDS_MAX];       /* per bound: index of the `used` word, UINT32_MAX: none */
  int32_t *storage;
  uint32_t entry_count;
  struct sl_slot_member *entries;
};

enum { SL_BRANCHES_MAX = 16 };

/* A step runs one node, runs several nodes of a family in one launch, or combines several event lists into one.
 * Steps of one branch run one after another; steps of different branches run concurrently, except for the waits. */
enum { SL_STEP_RUN, SL_STEP_COMBINE };
struct sl_step {
  uint32_t kind;
  uint32_t node_count;   /* RUN */
  const uint32_t *nodes; /* RUN */
  uint32_t set;          /* COMBINE: the set that the step makes */
  uint32_t branch, index_in_branch;
  uint32_t first_wait, wait_count; /* range in `waits` of the layout: steps of other branches that must be complete
                                      before this step begins; waits that are implied by other waits or by the branch
                                      are omitted */
  uint32_t is_awaited;             /* a step of another branch waits for this step */
};

/* A set of event lists that nodes run on. A single list is used directly; several lists are combined by a step. */
struct sl_list_set {
  const struct sl_port *ports;
  uint32_t port_count;
  uint32_t any;                           /* 1: union of the lists; 0: intersection */
  int32_t count_storage, numbers_storage; /* of the resulting list */
  int32_t tally_storage;                  /* several lists: for each event, the number of lists that contain it */
  uint32_t first_pointer;                 /* several lists: index of the first pointer to them among the list
                                             pointers of all sets */
};

/* Values of all budgets: property `member` of node `node` is values[first[node] + member]. Other properties have 0. */
struct sl_budgets {
  uint32_t *values, *first, count;
};

struct sl_layout {
  const struct sl_graph *graph;
  struct sl_budgets budgets;
  uint32_t plan;                   /* index among the plans of a run */
  uint32_t events;                 /* in a slice */
  uint32_t is_limited;             /* the limits per event are set */
  struct sl_slot_member **members; /* [node][member] */
  struct sl_storage *storage;
  uint32_t storage_count;
  struct sl_step *steps;
  uint32_t step_count;
  uint32_t branch_count; /* 1: all steps run in sequence */
  uint32_t *waits;       /* waits of all steps, see first_wait */
  uint32_t wait_count;
  uint32_t *complete; /* [step][branch]: number of steps of the branch that are complete when the step begins */
  struct sl_list_set *sets;
  uint32_t set_count;
  uint32_t list_pointer_count; /* pointers to the lists of all sets with several lists */
  uint32_t *node_set;          /* per node: index into sets, UINT32_MAX for all events */
  uint32_t used_count;         /* number of `used` words */
  uint64_t *used_capacities;   /* per `used` word: the smallest capacity among the kernel outputs that the word
                                  counts for */
  uint64_t arena_bytes, live_bytes_max, input_bytes;
  uint64_t device_input_bytes; /* input bytes that kernels read: up to the end of the last field that a kernel reads */
  uint64_t input_gap_bytes;    /* gap before and after each field of the input */
  uint64_t least_bytes;        /* lower bound of the arena size over all plans */
  uint64_t plan_steps;         /* steps of the search for a plan; 0: no search was needed */
};

struct sl_layout_request {
  const struct sl_graph *graph;
  uint32_t events;                  /* in a slice */
  uint32_t branches;                /* at most */
  int families;                     /* 1: nodes of a family run in one step */
  uint64_t input_gap_bytes;         /* a multiple of SL_ARENA_ALIGNMENT */
  const uint8_t *source_fields;     /* sl_source_fields of a layout with the same source: these fields are filled too,
                                     * whether or not a node reads them; or NULL */
  const struct sl_budgets *budgets; /* NULL: the values of the graph. Other values change capacities, sizes and offsets
                                     * of kernel outputs and scratch; limits per event, steps, the numbering of storage
                                     * and the input stay the same. No capacity is below its limit per event. */
};
/* Returns a byte per field of the members of the source, in order: 1 if the source fills it. To be freed; NULL if out
 * of memory. */
uint8_t *sl_source_fields(const struct sl_layout *l);
/* Makes a layout. On failure the reasons are in `d`; if a capacity is too large, also the largest slice size that
 * works. */
int sl_layout_make(const struct sl_layout_request *request, struct sl_diagnostics *d, struct sl_layout **layout);
void sl_layout_free(struct sl_layout *layout);

/* Budgets of a graph, or a copy of `from` if it is not NULL. SL_ENOMEM leaves nothing to free. */
int sl_budgets_open(struct sl_budgets *budgets, const struct sl_graph *graph, const struct sl_budgets *from);
void sl_budgets_close(struct sl_budgets *budgets);
static inline uint32_t *sl_budget(const struct sl_budgets *b, uint32_t node, uint32_t member) {
  return &b->values[b->first[node] + member];
}

/* The steps that use each storage, in ascending order; the first one writes it. A step is listed once per storage,
 * even if several of its nodes or ports use the storage. */
struct sl_uses {
  uint32_t *first; /* [storage_count + 1]: steps that use storage i are steps[first[i]] to steps[first[i + 1] - 1] */
  uint32_t *steps;
};
int sl_uses_find(const struct sl_layout *layout, struct sl_uses *uses);
void sl_uses_free(struct sl_uses *uses);

/* branches.c: assigns a branch and the waits to each step, in step order. sl_step_precedes: 1 if step `a` is
 * complete before `b` begins; step_count stands for the end of the slice. */
int sl_layout_branch(struct sl_layout *layout, uint32_t branches, const struct sl_uses *uses);
int sl_step_precedes(const struct sl_layout *layout, uint32_t a, uint32_t b);

/* place.c: sets the offsets and the size of the arena; part of sl_layout_make. */
int sl_layout_place(struct sl_layout *layout, const struct sl_uses *uses, struct sl_diagnostics *d);

/* order_check.c: independent check of concurrent steps. Fields that share memory must never be in use at the same
 * time, fields must be written before they are read, and cleared before they are written. Uses only the captured
 * branches and waits and the storage that the arguments of nodes point to. Reports violations in `d`. */
int sl_layout_check_order(const struct sl_layout *layout, struct sl_diagnostics *d);

/* 1 if the field is cleared before its node runs. Events outside the event list of the node have empty outputs:
 * their counts are 0, and so are their per-event values and the per-item values of items that were counted by a node
 * with another event list. Event lists are written completely. Totals start at 0 in each slice and in each part of a
 * split slice. */
int sl_layout_is_cleared(const struct sl_layout *layout, uint32_t node, uint32_t member, uint32_t field);

/* Value of a capacity of the algorithm of the node. Ports that the capacity refers to must have theirs. */
uint64_t sl_layout_capacity(const struct sl_layout *layout, uint32_t node, const struct sl_capacity *capacity);

/* Name of a step: the name of its node, or the algorithm of its family. */
const char *sl_step_name(const struct sl_layout *layout, uint32_t step);

/* Name of a storage for the plan table: "pulses.member_x", "search.slots (scratch)", "intersection (count) of a.passed
 * b.passed". */
void sl_layout_name(const struct sl_layout *layout, uint32_t storage, char *text, size_t size);

#endif
