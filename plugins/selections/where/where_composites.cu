/* where_composites.cu: lines without code (where.h) over composites; fields of the children and of all particles,
 * masses. */
#include "where_line.h"
#include "where_pairs.h"

#define SL_ARGS where_composites_args
#define WHERE_COMPOSITES(M)                                                                          \
  LINE_OVER(M, composites)                                                                           \
  M(IN, particles, particles, "", "particles of the candidates")                                     \
  M(IN, secondary_vertices, secondary_vertices, "", "secondary vertices of the candidates")          \
  M(OPTIONAL_IN, composites, composites, "",                                                         \
    "children of the candidates, if they are composites; needed for candidates with four particles") \
  WHERE_COMMON(M)
SL_ARGUMENTS(where_composites, WHERE_COMPOSITES);

enum { LINK_SV = WHERE_SECOND + 1, LINK_TRACK, LINK_THIRD, LINK_COMPOSITE };
/* The child is the secondary vertex, or a composite with the secondary vertex as its child. */
enum { DECAY_CANDIDATE, DECAY_CHILD, DECAY_SV_OF_CHILD, DECAY_SV };

#define FIELDS_OF(prefix, port, collection, link) \
  WHERE_FIELDS(prefix, struct where_composites_args, port, collection, SL_EXPRESSION_OF_LINK, link)
#define NEEDS_COMPOSITES                                         \
  (uint32_t) offsetof(struct where_composites_args, composites), \
      (uint32_t)offsetof(struct where_composites_args, composites.bound), "composites"
static const struct where_scope where_composites_scopes[] = {
    WHERE_SCOPES_OF_CANDIDATES(struct where_composites_args, composites),
    FIELDS_OF("sv.", secondary_vertices, secondary_vertices, LINK_SV),
    FIELDS_OF("track.", particles, particles, LINK_TRACK),
    FIELDS_OF("first.", particles, particles, WHERE_FIRST),
    FIELDS_OF("second.", particles, particles, WHERE_SECOND),
    FIELDS_OF("third.", particles, particles, LINK_THIRD),
    WHERE_OPTIONAL_FIELDS("composite.", struct where_composites_args, composites, composites, LINK_COMPOSITE)};

static const struct where_function where_composites_functions[] = {
    {MASS_FUNCTION("mass", "mass if the child has the mass one and `track` the mass other", "one other", NULL),
     WHERE_CALL(WHERE_MASS, DECAY_CANDIDATE, 2), 0, 0, NULL},
    {MASS_FUNCTION("mass", "mass if the bodies of the child have the masses one and two, and `track` three",
                   "one two three", NULL),
     WHERE_CALL(WHERE_MASS, DECAY_CANDIDATE, 3), 0, 0, NULL},
    {MASS_FUNCTION("mass", "mass of four particles", "one two three four", NULL),
     WHERE_CALL(WHERE_MASS, DECAY_CANDIDATE, 4), NEEDS_COMPOSITES},
    {MASS_FUNCTION("mass_difference", "mass(one, two, three) less the mass of the child", "one two three", NULL),
     WHERE_CALL(WHERE_MASS_DIFFERENCE, DECAY_CANDIDATE, 3), 0, 0, NULL},
    {MASS_FUNCTION("sv.mass", "mass of the secondary vertex if `first` has the mass one and `second` the mass other",
                   "one other", NULL),
     WHERE_CALL(WHERE_MASS, DECAY_SV, 2), 0, 0, NULL},
    {MASS_FUNCTION("composite.mass", "mass of the child if the secondary vertex has the mass one and `third` other",
                   "one other", NULL),
     WHERE_CALL(WHERE_MASS, DECAY_CHILD, 2), NEEDS_COMPOSITES},
    {MASS_FUNCTION("composite.mass", "mass of the child as three particles", "one two three", NULL),
     WHERE_CALL(WHERE_MASS, DECAY_CHILD, 3), NEEDS_COMPOSITES}};

#define LINK_TO(indices, of) WHERE_LINK(struct where_composites_args, candidates.indices, of)
static const struct sl_expression_link where_composites_links[] = {
    LINK_TO(first, particles), LINK_TO(second, particles), LINK_TO(sv, secondary_vertices),
    LINK_TO(track, particles), LINK_TO(third, particles),  LINK_TO(composite, composites)};
#define DECAY_OF_SV                                                                                                   \
  WHERE_DECAY_OF_PAIR(struct where_composites_args, secondary_vertices, particles, WHERE_FIRST + 1, WHERE_SECOND + 1, \
                      LINK_SV + 1)
static const struct where_decay where_composites_decays[] = {
    WHERE_DECAY(struct where_composites_args, candidates.child_p, particles.p, candidates.opening, 0, LINK_TRACK + 1,
                0),
    WHERE_DECAY(struct where_composites_args, composites.child_p, particles.p, composites.opening, LINK_COMPOSITE + 1,
                LINK_THIRD + 1, LINK_COMPOSITE + 1),
    DECAY_OF_SV, DECAY_OF_SV};

/* Whether the indices of a candidate are those of items of the inputs. */
static SL_DEVICE uint32_t where_composites_are_together(const struct where_composites_args *a, uint32_t event,
                                                        uint32_t i) {
  const struct composites_view *of = &a->candidates;
  const uint32_t particles = a->particles.offsets[event + 1] - a->particles.offsets[event];
  const uint32_t vertices = a->secondary_vertices.offsets[event + 1] - a->secondary_vertices.offsets[event];
  if (of->first[i] >= particles || of->second[i] >= particles || of->third[i] >= particles ||
      of->track[i] >= particles || of->sv[i] >= vertices)
    return 0;
  if (!a->composites.offsets) return of->composite[i] == COMPOSITE_NONE;
  return of->composite[i] < a->composites.offsets[event + 1] - a->composites.offsets[event];
}

/* Refuses the event if they are not. */
static SL_DEVICE uint32_t where_composites_is_valid(const struct where_composites_args *a, uint32_t event, uint32_t i) {
  if (where_composites_are_together(a, event, i)) return 1;
  sl_event_fail(&a->events, event, LINE_OTHER_ITEMS, 0);
  return 0;
}

WHERE_LINE(where_composites, "composites that satisfy an expression in the graph", composites,
           WHERE_DECAYS(where_composites), where_composites_is_valid);

#define LINES(L) L(where_composites)
LINES_OVER(composites, LINES);
