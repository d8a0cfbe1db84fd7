/* line.h: macros to write selection lines. A line evaluates candidates (the items of a collection) one by one, or whole
 * events. An event passes if at least one candidate is accepted. `pre_scale` is the fraction of the events that are
 * evaluated, `post_scale` the fraction of the accepted events that pass. A line has the name of its node.
 *
 * Parallelism: one block per line and group of events; the threads share the candidates. Lines over events: one warp
 * per line and event. On a CPU the lines of an event run one after the other. All lines of a file have one type of
 * candidates and run in one launch. The comment of LINE has an example.
 */
#ifndef SELECTIONS_LINE_H
#define SELECTIONS_LINE_H

#include "odin/event_model.h"
#include "odin/scaler.h"
#include "selections/event_model.h"

#include <sluice/kernel.h>

#include <stdio.h>

/* A file that defines LINE_FAMILY before it includes this header gets its own launches. Lines that need many registers
 * then do not slow down the other lines over the same candidates. */
#ifndef LINE_FAMILY
#define LINE_FAMILY ""
#endif
/* A file may choose another SL_KERNEL for its lines. */
#ifndef LINE_KERNEL
#define LINE_KERNEL SL_KERNEL
#endif

/* Stride of the argument structs of the lines in one launch. */
enum { LINE_ARGS_BYTES = 2048 };

/* Scalers and index of a line, computed from its properties and its name. */
struct line_scale {
  struct odin_scaler before, after;
  uint32_t number, reserved; /* index of the line in its file */
};

#define LINE_COMMON_(M)                                                                                                \
  M(IN, odin, odin_events, "run event_number gps_time", "run and event numbers")                                       \
  M(F32, pre_scale, 1.0, 0.0, 1.0, "", "fraction of the events that the line evaluates")                               \
  M(F32, post_scale, 1.0, 0.0, 1.0, "", "fraction of the events with an accepted candidate that pass")                 \
  M(STRING, pre_seed, "",                                                                                              \
    "seed of pre_scale: lines with equal seeds evaluate equal events; empty: node name and _pre")                      \
  M(STRING, post_seed, "", "seed of post_scale: lines with equal seeds pass equal events; empty: node name and _post") \
  M(COMPUTED, scale, struct line_scale, "scalers made from the scales and seeds")
/* Compile-time choice: LINE_PICK_(LINE_IS_EVENTS_##over(x), y, ~) is x if `over` is `events`, otherwise y. */
#define LINE_PICK_(...)                    LINE_SECOND_(__VA_ARGS__)
#define LINE_SECOND_(first_, second_, ...) second_
#define LINE_IS_EVENTS_events(yes)         ~, yes

/* The arguments that all lines have; the further arguments of a line follow. */
#define LINE_OVER(M, over) LINE_PICK_(LINE_IS_EVENTS_##over(LINE_EVENTS_), LINE_CANDIDATES_, ~)(M, over)
#define LINE_CANDIDATES_(M, collection)                                                                   \
  M(IN, candidates, collection, "", "candidates that the line evaluates")                                 \
  M(OUT, decisions, line_decisions, "decisions for events and candidates", SL_SHARES_OFFSETS(candidates)) \
  LINE_COMMON_(M)
#define LINE_EVENTS_(M, over)                                                                                \
  M(OUT, decisions, line_decisions, "decisions for events; no items", SL_ITEMS(SL_ONE(SL_CONSTANT_TERM(1)))) \
  LINE_COMMON_(M)

/* ------------------------------------------------------------------------------------------------- scales */

enum { LINE_SEED_MAX = 256 };

static inline SL_UNUSED struct odin_scaler line_scaler(const struct sl_services *s, const char *text, const char *end,
                                                       float fraction) {
  char own[LINE_SEED_MAX];
  (void)snprintf(own, sizeof own, "%s%s", s->node_name, end);
  return odin_scaler_of(odin_seed_of(*text ? text : own), fraction);
}

/* Most lines have a scale of 1; the event numbers are not read then. */
static SL_DEVICE SL_UNUSED uint32_t line_lets_through(const struct odin_scaler *scaler,
                                                      const struct odin_events_view *odin, uint32_t event) {
  return scaler->threshold >> 32 != 0 || odin_scaler_passes(scaler, odin, event);
}

/* Event errors of a line. */
enum { LINE_OTHER_ITEMS = 1 };
static const struct sl_event_error line_errors[] SL_UNUSED = {
    {LINE_OTHER_ITEMS, 0, "an input and `candidates` have different numbers of items: they do not belong together"}};

/* Index of the item for candidate `i` in an input with one item per candidate. Returns LINE_NO_ITEM if the input has
 * no items in the event, because its node did not run on it. Refuses the event if the number of items differs. */
#define LINE_NO_ITEM UINT32_MAX
static SL_DEVICE SL_UNUSED uint32_t line_item_index(const struct sl_events *events, const uint32_t *candidate_offsets,
                                                    const uint32_t *input_offsets, uint32_t event, uint32_t i) {
  const uint32_t candidates = candidate_offsets[event + 1] - candidate_offsets[event];
  const uint32_t items = input_offsets[event + 1] - input_offsets[event];
  if (items == candidates) return input_offsets[event] + (i - candidate_offsets[event]);
  if (items > 0) sl_event_fail(events, event, LINE_OTHER_ITEMS, 0);
  return LINE_NO_ITEM;
}

/* Calls the SL_PREPARE of a line, if it has one. */
static inline SL_UNUSED int line_prepare_more(int (*prepare)(const struct sl_services *, void *),
                                              const struct sl_services *s, void *args) {
  return prepare ? prepare(s, args) : SL_OK;
}

/* ------------------------------------------------------------------------------------------------- a line */

/* A block evaluates several events, a power of two; their candidates follow each other in its threads. So an event with
 * many candidates occupies a block for less time than it would a warp. */
enum { LINE_EVENTS_OF_MANY = 16, LINE_EVENTS_OF_FEW = 32 };
#define LINE_HAS_FEW_secondary_vertices(yes) ~, yes
#define LINE_HAS_FEW_vertex_pairs(yes)       ~, yes
#define LINE_HAS_FEW_composites(yes)         ~, yes
#define LINE_GROUP_(over) \
  line_group(sl_warp_lanes(), LINE_PICK_(LINE_HAS_FEW_##over(LINE_EVENTS_OF_FEW), LINE_EVENTS_OF_MANY, ~))
static SL_DEVICE SL_UNUSED uint32_t line_group(uint32_t count, uint32_t most) { return count < most ? count : most; }

/* The event of a lane, and the numbers of its candidates among those of the block's events: from `start` to `end`. */
struct line_event {
  uint32_t event, begin, start, end, is_evaluated;
};

/* Called by a warp. Lanes from `count` on have an event without candidates. */
static SL_DEVICE SL_UNUSED struct line_event line_event_of(const struct sl_events *events, uint32_t first,
                                                           uint32_t count, const uint32_t *offsets,
                                                           const struct odin_scaler *before,
                                                           const struct odin_events_view *odin) {
  struct line_event e = {0, 0, 0, 0, 0};
  if (sl_warp_lane() < count) {
    e.event = sl_event_at(events, first + sl_warp_lane());
    e.begin = offsets[e.event];
    e.end = offsets[e.event + 1] - e.begin;
    e.is_evaluated = line_lets_through(before, odin, e.event);
  }
  e.start = sl_warp_exclusive_scan(e.end);
  e.end += e.start;
  return e;
}

/* Candidate `i` of the block's events: `item` is its index in the slice, `lane` the lane that has its event. */
struct line_candidate {
  uint32_t lane, event, item, is_evaluated;
};

/* Called by a warp. `most`: the number of events that a block evaluates. */
static SL_DEVICE SL_UNUSED struct line_candidate line_candidate_of(const struct line_event *e, uint32_t most,
                                                                   uint32_t i) {
  struct line_candidate c = {0, 0, i, 0};
  for (uint32_t step = most / 2; step > 0; step /= 2)
    c.lane += sl_warp_get_u32(e->end, c.lane + step - 1) <= i ? step : 0;
  c.event = sl_warp_get_u32(e->event, c.lane);
  c.item += sl_warp_get_u32(e->begin - e->start, c.lane);
  c.is_evaluated = sl_warp_get_u32(e->is_evaluated, c.lane);
  return c;
}

/* Called by a block: the bits that are set in any thread. */
static SL_DEVICE SL_UNUSED uint32_t line_block_bits(uint32_t bits) {
  __shared__ uint32_t all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  if (bits) atomicOr(&all, bits);
  __syncthreads();
  bits = all;
  __syncthreads();
  return bits;
}

/* Called by a block for `count` events of the line, from number `first` on; other blocks evaluate `most` events.
 * Between LINE_BEGIN_ and LINE_END_ `all` is the number of candidates, and `found` has a bit for each event with an
 * accepted candidate. */
#define LINE_BEGIN_(a, first, count, most)                                                                \
  const struct line_event own =                                                                           \
      line_event_of(&(a)->events, first, count, (a)->candidates.offsets, &(a)->scale.before, &(a)->odin); \
  const uint32_t all = sl_warp_get_u32(own.end, (most)-1);                                                \
  uint32_t found = 0
#define LINE_END_(a, count)                             \
  found = line_block_bits(found);                       \
  if (sl_warp_index() == 0 && sl_warp_lane() < (count)) \
  (a)->decisions.passed[own.event] = line_verdict(found >> sl_warp_lane() & 1u, &(a)->scale, &(a)->odin, own.event)
/* One candidate per thread. */
#define LINE_JUDGE_CANDIDATES_(name)                                                                                \
  static SL_DEVICE void name##_judge_(const struct name##_args *a, uint32_t first, uint32_t count, uint32_t most) { \
    LINE_BEGIN_(a, first, count, most);                                                                             \
    SL_FOR_BLOCK (i, all) {                                                                                         \
      const struct line_candidate c = line_candidate_of(&own, most, i);                                             \
      if (i < all) {                                                                                                \
        const uint32_t is_one = c.is_evaluated && name##_accepts_(a, c.event, c.item, NULL) ? 1u : 0u;              \
        a->decisions.accepted[c.item] = (uint8_t)is_one;                                                            \
        found |= is_one << c.lane;                                                                                  \
      }                                                                                                             \
    }                                                                                                               \
    LINE_END_(a, count);                                                                                            \
  }
/* Called by a warp: all lanes evaluate the event together. */
#define LINE_JUDGE_EVENT_(name)                                                                                     \
  static SL_DEVICE void name##_judge_(const struct name##_args *a, uint32_t first, uint32_t count, uint32_t most) { \
    const uint32_t event = sl_event_at(&a->events, first);                                                          \
    (void)most;                                                                                                     \
    uint32_t found = line_lets_through(&a->scale.before, &a->odin, event);                                          \
    (void)count;                                                                                                    \
    if (found) found = name##_accepts_(a, event, 0, NULL) ? 1u : 0u;                                                \
    if (sl_warp_lane() == 0) {                                                                                      \
      a->decisions.passed[event] = line_verdict(found, &a->scale, &a->odin, event);                                 \
      a->decisions.offsets[event + 1] = 0;                                                                          \
    }                                                                                                               \
  }

/* Requirements of lines over events, where each lane of a warp has a part. LINE_REQUIRE_COUNT: the sum of `count` over
 * the lanes is at least `minimum`. LINE_REQUIRE_ANY: a lane has a value that meets the requirement. A CPU has one lane.
 * LINE_EXPLAIN_ITEM shows the requirements of an item that such a line counts, as those of a candidate:
 *   if (LINE_IS_EXPLAINED)
 *     for (uint32_t k = begin; k < end; k++) LINE_EXPLAIN_ITEM(k - begin, is_displaced(a, k, explanation)); */
#ifdef SL_TARGET_CPU
#define LINE_REQUIRE_COUNT(name, count, minimum)         SL_REQUIRE(name, count, >=, minimum)
#define LINE_REQUIRE_ANY(name, value, comparison, limit) SL_REQUIRE(name, value, comparison, limit)
#define LINE_IS_EXPLAINED                                (explanation != NULL)
#define LINE_EXPLAIN_ITEM(index, predicate)                                \
  do {                                                                     \
    const uint32_t event_is_unmet_ = sl_explain_begin(explanation, index); \
    (void)sl_explain_end(explanation, event_is_unmet_, predicate);         \
  } while (0)
#else
#define LINE_REQUIRE_COUNT(name, count, minimum)      \
  do {                                                \
    if (!line_are_at_least(count, minimum)) return 0; \
  } while (0)
#define LINE_REQUIRE_ANY(name, value, comparison, limit)            \
  do {                                                              \
    if (!sl_warp_any((value)comparison(limit) ? 1u : 0u)) return 0; \
  } while (0)
#define LINE_IS_EXPLAINED                   0
#define LINE_EXPLAIN_ITEM(index, predicate) (void)(predicate)
static SL_DEVICE SL_UNUSED uint32_t line_are_at_least(uint32_t count, uint32_t minimum) {
  const uint32_t before = sl_warp_exclusive_scan(count);
  return sl_warp_any(before + count >= minimum);
}
#endif

/* Explain the line for an event (sl_algorithm.explain): its candidates also if the event is not evaluated. */
#ifdef SL_TARGET_CPU
/* Explains the scales; 0 if the event does not pass. */
static SL_UNUSED uint32_t line_explain_scales(const struct line_scale *scale, const struct odin_events_view *odin,
                                              uint32_t event, uint32_t found, struct sl_explanation *explanation) {
  SL_REQUIRE_THAT("pre_scale evaluates the event", line_lets_through(&scale->before, odin, event));
  SL_REQUIRE_THAT("post_scale passes the event", line_lets_through(&scale->after, odin, event));
  return found;
}
#define LINE_EXPLAIN_CANDIDATES_(function, type, accepts_, candidate_)                                     \
  static uint32_t function(struct sl_explanation *explanation, const void *args, uint32_t event) {         \
    const type *a = (const type *)args;                                                                    \
    const uint32_t begin = a->candidates.offsets[event], end = a->candidates.offsets[event + 1];           \
    uint32_t found = 0;                                                                                    \
    for (uint32_t i = begin; i < end; i++) {                                                               \
      const uint32_t event_is_unmet = sl_explain_begin(explanation, i - begin);                            \
      candidate_;                                                                                          \
      found |= sl_explain_end(explanation, event_is_unmet, accepts_(a, event, i, explanation));            \
    }                                                                                                      \
    return sl_explained(explanation, line_explain_scales(&a->scale, &a->odin, event, found, explanation)); \
  }
#define LINE_EXPLAIN_EVENT_(function, type, accepts_, candidate_)                                          \
  static uint32_t function(struct sl_explanation *explanation, const void *args, uint32_t event) {         \
    const type *a = (const type *)args;                                                                    \
    const uint32_t found = sl_explained(explanation, accepts_(a, event, 0, explanation));                  \
    return sl_explained(explanation, line_explain_scales(&a->scale, &a->odin, event, found, explanation)); \
  }
#else
#define LINE_EXPLAIN_CANDIDATES_(function, type, accepts_, candidate_) SL_STATIC_ASSERT(1, "");
#define LINE_EXPLAIN_EVENT_(function, type, accepts_, candidate_)      SL_STATIC_ASSERT(1, "");
#endif
/* Values that identify a candidate, by its collection. */
#define LINE_CANDIDATE_particles          ~, LINE_PARTICLE_VALUES_
#define LINE_CANDIDATE_secondary_vertices ~, LINE_PAIR_VALUES_
#define LINE_CANDIDATE_vertex_pairs       ~, LINE_PAIR_VALUES_
#define LINE_CANDIDATE_cluster_pairs      ~, LINE_PAIR_VALUES_
#define LINE_PARTICLE_VALUES_             SL_EXPLAIN_VALUE("VELO track", a->candidates.velo_track[i])
#define LINE_PAIR_VALUES_                                 \
  SL_EXPLAIN_VALUE("first part", a->candidates.first[i]); \
  SL_EXPLAIN_VALUE("second part", a->candidates.second[i])

static SL_DEVICE SL_UNUSED uint8_t line_verdict(uint32_t found, const struct line_scale *scale,
                                                const struct odin_events_view *odin, uint32_t event) {
  if (!found) return 0;
  return (uint8_t)(LINE_BEFORE_SCALE | (line_lets_through(&scale->after, odin, event) ? LINE_PASSED : 0));
}

/* Called by one thread per slice. */
#define LINE_DESCRIBE_(a, over)                                                   \
  do {                                                                            \
    *(a)->decisions.made_by = LINE_PICK_(LINE_MAKER_##over(a), 0, ~);             \
    *(a)->decisions.pre_scale = (a)->pre_scale;                                   \
    *(a)->decisions.post_scale = (a)->post_scale;                                 \
    LINE_PICK_(LINE_IS_EVENTS_##over((a)->decisions.offsets[0] = 0), (void)0, ~); \
  } while (0)
/* Candidates that selection reports contain. */
#define LINE_MAKER_particles(a)          ~, *(a)->candidates.made_by
#define LINE_MAKER_secondary_vertices(a) ~, *(a)->candidates.made_by

/* Defines the algorithm NAME with arguments struct NAME_args; the body of its predicate follows. `over`: a collection
 * or `events`. An example:
 *
 *   #include <selections/line.h>
 *
 *   #define SL_ARGS heavy_pair_args
 *   #define HEAVY_PAIR(M)                      \
 *     LINE_OVER(M, secondary_vertices)         \
 *     M(F32, min_pt, 2000.0, 0.0, 1e9, "MeV", "minimum pt of the pair")
 *   SL_ARGUMENTS(heavy_pair, HEAVY_PAIR);
 *
 *   LINE(heavy_pair, "pairs of high pt", secondary_vertices) {
 *     SL_REQUIRE("pt", a->candidates.pt[i], >, a->min_pt);
 *     return 1;
 *   }
 *
 *   #define LINES(L) L(heavy_pair)
 *   LINES_OVER(secondary_vertices, LINES);
 *
 * Each further line begins with #undef SL_ARGS. The predicate is a function of `a`, the arguments of the line, `event`,
 * `i`, the index of the candidate in the slice, and `explanation`, which the macros of sluice/explain.h use. It returns
 * 1 or 0 and calls no collectives. Further inputs and properties of the line follow LINE_OVER.
 *
 * Lines over `events`, LINE_OVER(M, events) and so on, evaluate whole events: `i` is 0. All threads of a warp call the
 * predicate together; it may call warp collectives and returns the same value in all threads. */
#define LINE(name, doc, over) LINE_WITH(name, doc, over, NULL, NULL)
/* As LINE, with the line's SL_CHECK and SL_PREPARE; NULL: none. */
#define LINE_WITH(name, doc, over, check, prepare) LINE_BY(name, doc, over, LINE_JUDGE_CANDIDATES_, check, prepare)
/* `judge_(name)` defines NAME_judge_, as LINE_JUDGE_CANDIDATES_ does. */
#define LINE_BY(name, doc_, over, judge_, check_, prepare_)                                                            \
  LINE_PREDICATE_(name);                                                                                               \
  LINE_PICK_(LINE_IS_EVENTS_##over(LINE_JUDGE_EVENT_), judge_, ~)                                                      \
  (name) LINE_PICK_(LINE_IS_EVENTS_##over(LINE_EXPLAIN_EVENT_), LINE_EXPLAIN_CANDIDATES_, ~)(                          \
      name##_explain_, struct name##_args, name##_accepts_, LINE_PICK_(LINE_CANDIDATE_##over, (void)0, ~))             \
      LINE_KERNEL(name##_one_, struct name##_args) {                                                                   \
    if (sl_grid_thread() == 0) LINE_DESCRIBE_(&a, over);                                                               \
    const uint32_t events = *a.events.count, most = LINE_TASK_EVENTS_(over);                                           \
    for (uint32_t i = LINE_WORKER_(over) * most; i < events; i += LINE_WORKERS_(over) * most)                          \
      name##_judge_(&a, i, line_group(events - i, most), most);                                                        \
  }                                                                                                                    \
  static int name##_run_one_(const struct sl_launch *l, const struct name##_args *a) {                                 \
    return SL_LAUNCH(l, name##_one_, SL_PER_EVENT, *a);                                                                \
  }                                                                                                                    \
  static int over##_run_lines_(const struct sl_launch *l, const void *host_args, const void *args, uint32_t n);        \
  static uint32_t over##_line_number_(const char *line);                                                               \
  static int name##_prepare_(const struct sl_services *s, void *args) {                                                \
    struct name##_args *a = (struct name##_args *)args;                                                                \
    a->scale.before = line_scaler(s, a->pre_seed, "_pre", a->pre_scale);                                               \
    a->scale.after = line_scaler(s, a->post_seed, "_post", a->post_scale);                                             \
    a->scale.number = over##_line_number_(#name);                                                                      \
    return line_prepare_more(prepare_, s, args);                                                                       \
  }                                                                                                                    \
  SL_ALGORITHM_OF_SIZE(name, LINE_ARGS_BYTES, doc_, 128, name##_run_one_, SL_ERRORS_OF(line_errors), SL_CHECK(check_), \
                       SL_PREPARE(name##_prepare_), SL_FAMILY(LINE_FAMILY #over, over##_run_lines_),                   \
                       SL_EXPLAIN(name##_explain_));                                                                   \
  LINE_PREDICATE_(name)
/* On a CPU the predicate is compiled twice: without and, for SL_EXPLAIN, with an explanation. */
#ifdef SL_TARGET_CPU
#define LINE_INLINE_ SL_DEVICE __attribute__((always_inline))
#else
#define LINE_INLINE_ SL_DEVICE
#endif
#define LINE_PREDICATE_(name)                                                                                   \
  static LINE_INLINE_ uint32_t name##_accepts_(const struct name##_args *a SL_UNUSED, uint32_t event SL_UNUSED, \
                                               uint32_t i SL_UNUSED, struct sl_explanation *explanation SL_UNUSED)

/* ---------------------------------------------------------------------------------------- all lines of a file */

/* The tasks of a kernel are done by its blocks; those of lines over events by its warps, one event each. */
#define LINE_TASK_EVENTS_(over) LINE_PICK_(LINE_IS_EVENTS_##over(1u), LINE_GROUP_(over), ~)
#define LINE_WORKER_(over)      LINE_PICK_(LINE_IS_EVENTS_##over(LINE_WARP_), blockIdx.x, ~)
#define LINE_WORKERS_(over)     LINE_PICK_(LINE_IS_EVENTS_##over(LINE_WARPS_), gridDim.x, ~)
#define LINE_WARP_              (blockIdx.x * sl_block_warps() + sl_warp_index())
#define LINE_WARPS_             (gridDim.x * sl_block_warps())
#define LINE_NUMBER_(name)      name##_number_,
#define LINE_IS_(name) \
  if (strcmp(line, #name) == 0) return name##_number_;
#define LINE_CASE_(name)                                                 \
  case name##_number_:                                                   \
    name##_judge_((const struct name##_args *)line, first, count, most); \
    break;
#define LINES_OVER(over, LINES)                                                                                     \
  enum { LINES(LINE_NUMBER_) over##_numbers_ };                                                                     \
  static uint32_t over##_line_number_(const char *line) {                                                           \
    LINES(LINE_IS_)                                                                                                 \
    return over##_numbers_;                                                                                         \
  }                                                                                                                 \
  /* Common first members of the arguments of every line. */                                                        \
  struct over##_line_ {                                                                                             \
    struct sl_events events;                                                                                        \
    LINE_OVER(SL_ARGUMENT, over)                                                                                    \
  };                                                                                                                \
  static SL_DEVICE const struct over##_line_ *over##_line_at_(const struct sl_nodes *nodes, uint32_t k) {           \
    const unsigned char *args = (const unsigned char *)nodes->args + (size_t)k * LINE_ARGS_BYTES;                   \
    return (const struct over##_line_ *)(const void *)args;                                                         \
  }                                                                                                                 \
  static SL_DEVICE void over##_judge_(const void *line, uint32_t number, uint32_t first, uint32_t count,            \
                                      uint32_t most) {                                                              \
    switch (number) {                                                                                               \
      LINES(LINE_CASE_)                                                                                             \
      default:                                                                                                      \
        break;                                                                                                      \
    }                                                                                                               \
  }                                                                                                                 \
  LINE_KERNEL(over##_lines_, struct sl_nodes) {                                                                     \
    const uint32_t most = over##_line_at_(&a, 0)->events.max;                                                       \
    for (uint32_t k = sl_grid_thread(); k < a.count; k += sl_grid_threads())                                        \
      LINE_DESCRIBE_(over##_line_at_(&a, k), over);                                                                 \
    const uint32_t group = LINE_TASK_EVENTS_(over), tasks = (most + group - 1) / group * a.count;                   \
    for (uint32_t t = LINE_WORKER_(over); t < tasks; t += LINE_WORKERS_(over)) {                                    \
      const struct over##_line_ *line = over##_line_at_(&a, t % a.count);                                           \
      const uint32_t first = t / a.count * group, events = *line->events.count;                                     \
      if (first < events) over##_judge_(line, line->scale.number, first, line_group(events - first, group), group); \
    }                                                                                                               \
  }                                                                                                                 \
  static int over##_run_lines_(const struct sl_launch *l, const void *host_args, const void *args, uint32_t n) {    \
    (void)host_args;                                                                                                \
    return SL_LAUNCH(l, over##_lines_, SL_PER_EVENT, sl_nodes_of(args, n));                                         \
  }                                                                                                                 \
  SL_STATIC_ASSERT(1, "")

#endif
