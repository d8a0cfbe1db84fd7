/* where_line.h: what lines without code (where.h) have in common. The file of a kind of candidates has the names that
 * its texts can have. */
#ifndef SELECTIONS_WHERE_LINE_H
#define SELECTIONS_WHERE_LINE_H

#define LINE_FAMILY "where_"
#include "pv/event_model.h"
#include "selections/line.h"
#include "velo/event_model.h"
#include "where_machine.h"

/* What follows LINE_OVER or LINE_OF_EVENTS. */
#define WHERE_COMMON(M)                                                                               \
  M(IN, header, odin_events, "", "what event.NAME is of")                                             \
  M(OPTIONAL_IN, vertices, pv_vertices, "offsets", "event.vertices: how many there are")              \
  M(OPTIONAL_IN, tracks, track_states, "offsets", "event.tracks: how many the VELO has")              \
  M(STRING, where, "", "what a candidate must be, such as pt > 2 GeV and chi2 < 20; empty: anything") \
  M(TABLE, program, u64, "what this is compiled to")                                                  \
  M(COMPUTED, words, uint32_t, "how many words it has")

/* Lists of scopes, in which `port` is a member of the arguments `type`: fields, a count that can be asked for where an
 * optional input is connected, and all that lines have in common. */
#define WHERE_FIELDS(prefix, type, port, collection, operand) \
  { prefix, &collection##_collection, (uint32_t)offsetof(type, port), operand, NULL, 0 }
#define WHERE_COUNTED(name, type, port) \
  { name, NULL, (uint32_t)offsetof(type, port), WHERE_COUNT, #port, (uint32_t)offsetof(type, port.bound) }
#define WHERE_SCOPES_OF_EVENTS(type)                                                                                  \
  WHERE_FIELDS("event.", type, header, odin_events, WHERE_OF_EVENT), WHERE_COUNTED("event.vertices", type, vertices), \
      WHERE_COUNTED("event.tracks", type, tracks)
#define WHERE_SCOPES_OF_CANDIDATES(type, collection)                                                  \
  WHERE_FIELDS("", type, candidates, collection, WHERE_OF_CANDIDATE), WHERE_SCOPES_OF_EVENTS(type), { \
    "event.candidates", NULL, (uint32_t)offsetof(type, candidates), WHERE_COUNT, NULL, 0              \
  }

/* The algorithm of `struct NAME_args` and its scopes, NAME_scopes; what stands in braces after it is as for LINE, and
 * returns WHERE_HOLDS. */
#define WHERE_LINE(name, doc, over, has_masses)                                                               \
  static const struct where_language name##_language = {name##_scopes, SL_COUNT_(name##_scopes), has_masses}; \
  static int name##_check_(const struct sl_services *s, const void *args) {                                   \
    return where_check(s, ((const struct name##_args *)args)->where, args, &name##_language);                 \
  }                                                                                                           \
  static int name##_compile_(const struct sl_services *s, void *args) {                                       \
    struct name##_args *a = (struct name##_args *)args;                                                       \
    return where_prepare(s, a->where, &name##_language, &a->words);                                           \
  }                                                                                                           \
  LINE_WITH(name, doc, over, name##_check_, name##_compile_)
/* `children`: a struct where_children *, or NULL. */
#define WHERE_HOLDS(children) where_holds(a->program, a->words, a, children, event, i)

#endif
