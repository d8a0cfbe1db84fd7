/* line.h: macros to write selection lines. A line evaluates candidates (the items of a collection) one by one, or whole
 * events. An event passes if at least one candidate is accepted. `pre_scale` is the fraction of the events that are
 * evaluated, `post_scale` the fraction of the accepted events that pass. A line has the name of its node.
 *
 * Parallelism: one block per line and group of events; the threads share the candidates. Lines over events: one warp
 * per event. On a CPU the lines of an event run one after the other. All lines of a file have one type of candidates
 * and run in one launch. The comment of LINE has an example.
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

/* Called by a warp: one candidate per lane. */
#define LINE_JUDGE_CANDIDATES_(function, type, accepts_)                                                    \
  static SL_DEVICE void function(const type *a, uint32_t first, uint32_t count) {                           \
    const uint32_t event = sl_event_at(&a->events, first), begin = a->candidates.offsets[event];            \
    const uint32_t is_evaluated = line_lets_through(&a->scale.before, &a->odin, event);                     \
    uint32_t found = 0;                                                                                     \
    (void)count;                                                                                            \
    for (uint32_t i = begin + sl_warp_lane(); i < a->candidates.offsets[event + 1]; i += sl_warp_lanes()) { \
      const uint32_t is_one = is_evaluated && accepts_(a, event, i, NULL) ? 1u : 0u;                        \
      a->decisions.accepted[i] = (uint8_t)is_one;                                                           \
      found |= is_one;                                                                                      \
    }                                                                                                       \
    found = sl_warp_any(found);                                                                             \
    if (sl_warp_lane() == 0) a->decisions.passed[event] = line_verdict(found, &a->scale, &a->odin, event);  \
  }

/* Collections with fewer items per event than a warp has lanes: a warp evaluates several events, a power of two. Their
 * candidates follow each other in its lanes. */
enum { LINE_PACKED_EVENTS = 8 };
#define LINE_IS_PACKED_secondary_vertices(yes) ~, yes
#define LINE_IS_PACKED_vertex_pairs(yes)       ~, yes
#define LINE_IS_PACKED_composites(yes)         ~, yes

#define LINE_PACK_        line_group(sl_warp_lanes(), LINE_PACKED_EVENTS)
#define LINE_GROUP_(over) LINE_PICK_(LINE_IS_PACKED_##over(LINE_PACK_), 1u, ~)

#define LINE_JUDGE_MANY_(over) LINE_PICK_(LINE_IS_PACKED_##over(LINE_JUDGE_PACKED_), LINE_JUDGE_CANDIDATES_, ~)
static SL_DEVICE SL_UNUSED uint32_t line_group(uint32_t count, uint32_t most) { return count < most ? count : most; }

/* The event of a lane, and the numbers of its candidates among those of the warp's events: from `start` to `end`. */
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

/* Called by a warp: the lane that has the event of candidate `i`. */
static SL_DEVICE SL_UNUSED uint32_t line_lane_of(const struct line_event *e, uint32_t i) {
  uint32_t lane = 0;
  for (uint32_t step = line_group(sl_warp_lanes(), LINE_PACKED_EVENTS) / 2; step > 0; step /= 2)
    lane += sl_warp_get_u32(e->end, lane + step - 1) <= i ? step : 0;
  return lane;
}

/* Called by a warp for `count` events of the line, from number `first` on: one candidate per lane. */
#define LINE_JUDGE_PACKED_(function, type, accepts_)                                                                \
  static SL_DEVICE void function(const type *a, uint32_t first, uint32_t count) {                                   \
    const struct line_event own =                                                                                   \
        line_event_of(&a->events, first, count, a->candidates.offsets, &a->scale.before, &a->odin);                 \
    const uint32_t all = sl_warp_get_u32(own.end, sl_warp_lanes() - 1);                                             \
    uint32_t found = 0, passed = 0; /* bits: events */                                                              \
    SL_FOR_WARP (i, all) {                                                                                          \
      const uint32_t lane = line_lane_of(&own, i), event = sl_warp_get_u32(own.event, lane);                        \
      const uint32_t index = i + sl_warp_get_u32(own.begin - own.start, lane);                                      \
      const uint32_t is_evaluated = sl_warp_get_u32(own.is_evaluated, lane);                                        \
      if (i < all) {                                                                                                \
        const uint32_t is_one = is_evaluated && accepts_(a, event, index, NULL) ? 1u : 0u;                          \
        a->decisions.accepted[index] = (uint8_t)is_one;                                                             \
        found |= is_one << lane;                                                                                    \
      }                                                                                                             \
    }                                                                                                               \
    for (uint32_t j = 0; j < count; j++) passed |= sl_warp_any(found >> j & 1u) << j;                               \
    if (sl_warp_lane() < count)                                                                                     \
      a->decisions.passed[own.event] = line_verdict(passed >> sl_warp_lane() & 1u, &a->scale, &a->odin, own.event); \
  }
/* Called by a warp: all lanes evaluate the event together. */
#define LINE_JUDGE_EVENT_(function, type, accepts_)                                 \
  static SL_DEVICE void function(const type *a, uint32_t first, uint32_t count) {   \
    const uint32_t event = sl_event_at(&a->events, first);                          \
    uint32_t found = line_lets_through(&a->scale.before, &a->odin, event);          \
    (void)count;                                                                    \
    if (found) found = accepts_(a, event, 0, NULL) ? 1u : 0u;                       \
    if (sl_warp_lane() == 0) {                                                      \
      a->decisions.passed[event] = line_verdict(found, &a->scale, &a->odin, event); \
      a->decisions.offsets[event + 1] = 0;                                          \
    }                                                                               \
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
#define LINE_WITH(name, doc_, over, check_, prepare_)                                                                  \
  LINE_PREDICATE_(name);                                                                                               \
  LINE_PICK_(LINE_IS_EVENTS_##over(LINE_JUDGE_EVENT_), LINE_JUDGE_MANY_(over), ~)                                      \
  (name##_judge_, struct name##_args, name##_accepts_)                                                                 \
      LINE_PICK_(LINE_IS_EVENTS_##over(LINE_EXPLAIN_EVENT_), LINE_EXPLAIN_CANDIDATES_, ~)(                             \
          name##_explain_, struct name##_args, name##_accepts_, LINE_PICK_(LINE_CANDIDATE_##over, (void)0, ~))         \
          SL_KERNEL(name##_one_, struct name##_args) {                                                                 \
    if (sl_grid_thread() == 0) LINE_DESCRIBE_(&a, over);                                                               \
    const uint32_t events = *a.events.count, step = gridDim.x * sl_block_warps() * LINE_GROUP_(over);                  \
    for (uint32_t i = (blockIdx.x * sl_block_warps() + sl_warp_index()) * LINE_GROUP_(over); i < events; i += step)    \
      name##_judge_(&a, i, line_group(events - i, LINE_GROUP_(over)));                                                 \
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

#define LINE_NUMBER_(name) name##_number_,
#define LINE_IS_(name) \
  if (strcmp(line, #name) == 0) return name##_number_;
#define LINE_CASE_(name)                                           \
  case name##_number_:                                             \
    name##_judge_((const struct name##_args *)line, first, count); \
    break;
#define LINES_OVER(over, LINES)                                                                                        \
  enum { LINES(LINE_NUMBER_) over##_numbers_ };                                                                        \
  static uint32_t over##_line_number_(const char *line) {                                                              \
    LINES(LINE_IS_)                                                                                                    \
    return over##_numbers_;                                                                                            \
  }                                                                                                                    \
  /* Common first members of the arguments of every line. */                                                           \
  struct over##_line_ {                                                                                                \
    struct sl_events events;                                                                                           \
    LINE_OVER(SL_ARGUMENT, over)                                                                                       \
  };                                                                                                                   \
  static SL_DEVICE const struct over##_line_ *over##_line_at_(const struct sl_nodes *nodes, uint32_t k) {              \
    const unsigned char *args = (const unsigned char *)nodes->args + (size_t)k * LINE_ARGS_BYTES;                      \
    return (const struct over##_line_ *)(const void *)args;                                                            \
  }                                                                                                                    \
  static SL_DEVICE void over##_judge_(const void *line, uint32_t number, uint32_t first, uint32_t count) {             \
    switch (number) {                                                                                                  \
      LINES(LINE_CASE_)                                                                                                \
      default:                                                                                                         \
        break;                                                                                                         \
    }                                                                                                                  \
  }                                                                                                                    \
  SL_KERNEL(over##_lines_, struct sl_nodes) {                                                                          \
    const uint32_t most = over##_line_at_(&a, 0)->events.max;                                                          \
    for (uint32_t k = sl_grid_thread(); k < a.count; k += sl_grid_threads())                                           \
      LINE_DESCRIBE_(over##_line_at_(&a, k), over);                                                                    \
    const uint32_t tasks = (most + LINE_GROUP_(over) - 1) / LINE_GROUP_(over) * a.count;                               \
    for (uint32_t t = blockIdx.x * sl_block_warps() + sl_warp_index(); t < tasks; t += gridDim.x * sl_block_warps()) { \
      const struct over##_line_ *line = over##_line_at_(&a, t % a.count);                                              \
      const uint32_t first = t / a.count * LINE_GROUP_(over), events = *line->events.count;                            \
      if (first < events)                                                                                              \
        over##_judge_(line, line->scale.number, first, line_group(events - first, LINE_GROUP_(over)));                 \
    }                                                                                                                  \
  }                                                                                                                    \
  static int over##_run_lines_(const struct sl_launch *l, const void *host_args, const void *args, uint32_t n) {       \
    (void)host_args;                                                                                                   \
    return SL_LAUNCH(l, over##_lines_, SL_PER_EVENT, sl_nodes_of(args, n));                                            \
  }                                                                                                                    \
  SL_STATIC_ASSERT(1, "")

#endif
