/* where_line.h: common part of the lines without code (where.h). The file for a type of candidates lists the names that
 * its expressions may use. */
#ifndef SELECTIONS_WHERE_LINE_H
#define SELECTIONS_WHERE_LINE_H

#define LINE_FAMILY "where_"
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
  M(COMPUTED, words, uint32_t, "number of words of the program")

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
 * WHERE_LINKS(NAME), with NAME_links; or WHERE_DECAYS(NAME), with NAME_functions, NAME_links and NAME_decays. The body
 * follows as for LINE and returns WHERE_EVALUATE. */
#define WHERE_NO_CHILDREN NULL, 0, NULL, 0, NULL, 0
#define WHERE_LINKS(name) NULL, 0, name##_links, SL_COUNT_(name##_links), NULL, 0
#define WHERE_DECAYS(name)                                                                             \
  name##_functions, SL_COUNT_(name##_functions), name##_links, SL_COUNT_(name##_links), name##_decays, \
      SL_COUNT_(name##_decays)
#define WHERE_LINE(name, doc, over, children)                                                                 \
  static const struct where_language name##_language = {name##_scopes, SL_COUNT_(name##_scopes), children};   \
  static int name##_check_(const struct sl_services *s, const void *args) {                                   \
    return where_check(s, "where+%u: %s", ((const struct name##_args *)args)->where, args, &name##_language); \
  }                                                                                                           \
  static int name##_compile_(const struct sl_services *s, void *args) {                                       \
    struct name##_args *a = (struct name##_args *)args;                                                       \
    return where_prepare(s, "program", a->where, &name##_language, &a->words);                                \
  }                                                                                                           \
  LINE_WITH(name, doc, over, name##_check_, name##_compile_)
#ifdef SL_TARGET_CPU
#define WHERE_EVALUATE                                                         \
  (explanation ? where_explain(a->program, a->words, a, event, i, explanation) \
               : where_evaluate(a->program, a->words, a, event, i))
#else
#define WHERE_EVALUATE where_evaluate(a->program, a->words, a, event, i)
#endif

#endif
