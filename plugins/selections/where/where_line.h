/* where_line.h: common part of the lines without code (where.h). The file for a type of candidates lists the names that
 * its expressions may use. */
#ifndef SELECTIONS_WHERE_LINE_H
#define SELECTIONS_WHERE_LINE_H

#define LINE_FAMILY "where_"
#define LINE_KERNEL(name, args_type)                                               \
  SL_KERNEL_REGISTERS(name, args_type, 32) /* blocks wait for memory: more of them \
                                            */
#include "pv/event_model.h"
#include "selections/line.h"
#include "velo/event_model.h"
#include "where_explain.h"

/* Arguments after LINE_OVER. */
#define WHERE_COMMON(M)                                                                                              \
  M(IN, header, odin_events, "", "ODIN data of the events, for names event.NAME")                                    \
  M(OPTIONAL_IN, vertices, pv_vertices, "offsets", "primary vertices, for their number event.vertices")              \
  M(OPTIONAL_IN, tracks, track_states, "offsets", "VELO tracks, for their number event.tracks")                      \
  M(STRING, where, "", "condition for accepted candidates, such as pt > 2 GeV and chi2 < 20; empty: all candidates") \
  M(TABLE, program, u64, "children of the candidates and compiled program of `where`")                               \
  M(COMPUTED, size, struct where_size, "size of the program")

/* Entries of a list of scopes; `port` is a member of the arguments `type`. WHERE_FIELDS: the fields of a collection.
 * WHERE_OPTIONAL_FIELDS: those of an optional input that the candidates refer to. WHERE_COUNTED: the number of items of
 * an optional input. WHERE_SCOPES_OF_...: the names that all lines have. */
#define WHERE_FIELDS(prefix, type, port, collection, operand, link) \
  { prefix, &collection##_collection, (uint32_t)offsetof(type, port), operand, link, 0, NULL }
#define WHERE_OPTIONAL_FIELDS(prefix, type, port, collection, link)                                \
  {                                                                                                \
    prefix, &collection##_collection, (uint32_t)offsetof(type, port), SL_EXPRESSION_OF_LINK, link, \
        (uint32_t)offsetof(type, port.bound), #port                                                \
  }
#define WHERE_COUNTED(name, type, port) \
  { name, NULL, (uint32_t)offsetof(type, port), SL_EXPRESSION_COUNT, 0, (uint32_t)offsetof(type, port.bound), #port }
#define WHERE_SCOPES_OF_EVENTS(type)                                            \
  WHERE_FIELDS("event.", type, header, odin_events, SL_EXPRESSION_OF_EVENT, 0), \
      WHERE_COUNTED("event.vertices", type, vertices), WHERE_COUNTED("event.tracks", type, tracks)
#define WHERE_SCOPES_OF_CANDIDATES(type, collection)                                                             \
  WHERE_FIELDS("", type, candidates, collection, SL_EXPRESSION_OF_CANDIDATE, 0), WHERE_SCOPES_OF_EVENTS(type), { \
    "event.candidates", NULL, (uint32_t)offsetof(type, candidates), SL_EXPRESSION_COUNT, 0, 0, NULL              \
  }

/* Defines the algorithm NAME with arguments `struct NAME_args` and scopes NAME_scopes. `children`: WHERE_NO_CHILDREN;
 * WHERE_LINKS(NAME), with NAME_links; or WHERE_DECAYS(NAME), with NAME_functions, NAME_links and NAME_decays.
 * is_valid(a, event, i) returns 1 if the candidate may be evaluated; WHERE_ALL_ARE_VALID: all may. */
#define WHERE_NO_CHILDREN NULL, 0, NULL, 0, NULL, 0
#define WHERE_LINKS(name) NULL, 0, name##_links, SL_COUNT_(name##_links), NULL, 0
#define WHERE_DECAYS(name)                                                                             \
  name##_functions, SL_COUNT_(name##_functions), name##_links, SL_COUNT_(name##_links), name##_decays, \
      SL_COUNT_(name##_decays)
#define WHERE_ALL_ARE_VALID(a, event, i) 1u
#define WHERE_LINE(name, doc, over, children, is_valid)                                                       \
  static const struct where_language name##_language = {name##_scopes, SL_COUNT_(name##_scopes), children};   \
  static int name##_check_(const struct sl_services *s, const void *args) {                                   \
    return where_check(s, "where+%u: %s", ((const struct name##_args *)args)->where, args, &name##_language); \
  }                                                                                                           \
  static int name##_compile_(const struct sl_services *s, void *args) {                                       \
    struct name##_args *a = (struct name##_args *)args;                                                       \
    return where_prepare(s, "program", a->where, &name##_language, &a->size);                                 \
  }                                                                                                           \
  WHERE_SIFT_(name, is_valid)                                                                                 \
  LINE_BY(name, doc, over, WHERE_JUDGE_, name##_check_, name##_compile_) { return WHERE_ACCEPTS_(is_valid); } \
  SL_STATIC_ASSERT(1, "")
#ifdef SL_TARGET_CPU
#define WHERE_JUDGE_ LINE_JUDGE_CANDIDATES_
#define WHERE_SIFT_(name, is_valid)
#define WHERE_ACCEPTS_(is_valid)                                                        \
  !is_valid(a, event, i) ? 0                                                            \
  : explanation          ? where_explain(a->program, a->size, a, event, i, explanation) \
                         : where_evaluate(a->program, a->size, a, event, i)
#else
/* As LINE_JUDGE_CANDIDATES_, for interpreters on a GPU: leading comparisons first sift the candidates of the block, and
 * the machine then runs on what is left. Otherwise a warp would wait for few of its candidates. */
#define WHERE_SIFT_(name, is_valid)                                                                            \
  static SL_DEVICE SL_UNUSED uint32_t name##_sifts_(const struct name##_args *a, uint32_t event, uint32_t i) { \
    (void)event;                                                                                               \
    return is_valid(a, event, i) && where_sift(a->program, a->size, a, i);                                     \
  }
#define WHERE_ACCEPTS_(is_valid) where_rest(a->program, a->size, a, event, i)
enum { WHERE_SIFTED_MAX = 1024 };
struct where_sifted {
  uint32_t count, candidates[WHERE_SIFTED_MAX];
};
#define WHERE_JUDGE_(name)                                                                                          \
  static SL_DEVICE void name##_judge_(const struct name##_args *a, uint32_t first, uint32_t count, uint32_t most) { \
    __shared__ struct where_sifted left;                                                                            \
    LINE_BEGIN_(a, first, count, most);                                                                             \
    for (uint32_t begin = 0; begin < all; begin += WHERE_SIFTED_MAX) {                                              \
      const uint32_t part = line_group(all - begin, WHERE_SIFTED_MAX);                                              \
      if (threadIdx.x == 0) left.count = 0;                                                                         \
      __syncthreads();                                                                                              \
      SL_FOR_BLOCK (i, part) {                                                                                      \
        const struct line_candidate c = line_candidate_of(&own, most, begin + i);                                   \
        if (i >= part) continue;                                                                                    \
        a->decisions.accepted[c.item] = 0;                                                                          \
        if (c.is_evaluated && name##_sifts_(a, c.event, c.item))                                                    \
          left.candidates[atomicAdd(&left.count, 1)] = begin + i;                                                   \
      }                                                                                                             \
      __syncthreads();                                                                                              \
      const uint32_t rest = left.count;                                                                             \
      SL_FOR_BLOCK (i, rest) {                                                                                      \
        const struct line_candidate c = line_candidate_of(&own, most, i < rest ? left.candidates[i] : begin);       \
        if (i >= rest || !name##_accepts_(a, c.event, c.item, NULL)) continue;                                      \
        a->decisions.accepted[c.item] = 1;                                                                          \
        found |= 1u << c.lane;                                                                                      \
      }                                                                                                             \
      __syncthreads();                                                                                              \
    }                                                                                                               \
    LINE_END_(a, count);                                                                                            \
  }
#endif

#endif
