/* where_language.h: the names of lines without code over secondary vertices, with minimal arguments, for tests of the
 * compiler. */
#ifndef TEST_WHERE_LANGUAGE_H
#define TEST_WHERE_LANGUAGE_H

#include "odin/event_model.h"
#include "selections/event_model.h"
#include "selections/masses.h"
#include "where.h"

struct where_test_args {
  struct secondary_vertices_view candidates;
  struct particles_view particles;
  struct odin_events_view header;
};

static const struct where_scope where_test_scopes[] = {
    {"", &secondary_vertices_collection, offsetof(struct where_test_args, candidates), SL_EXPRESSION_OF_CANDIDATE, 0, 0,
     NULL},
    {"first.", &particles_collection, offsetof(struct where_test_args, particles), SL_EXPRESSION_OF_LINK, WHERE_FIRST,
     0, NULL},
    {"second.", &particles_collection, offsetof(struct where_test_args, particles), SL_EXPRESSION_OF_LINK, WHERE_SECOND,
     0, NULL},
    {"event.", &odin_events_collection, offsetof(struct where_test_args, header), SL_EXPRESSION_OF_EVENT, 0, 0, NULL},
    {"event.vertices", NULL, offsetof(struct where_test_args, particles), SL_EXPRESSION_COUNT, 0, 0, NULL}};
static const struct where_function where_test_functions[] = {
    {MASS_OF_PAIR(NULL), WHERE_CALL(WHERE_MASS, 0, 2), 0, 0, NULL}};
static const struct sl_expression_link where_test_links[] = {
    WHERE_LINK(struct where_test_args, candidates.first, particles),
    WHERE_LINK(struct where_test_args, candidates.second, particles)};
static const struct where_decay where_test_decays[] = {WHERE_DECAY(
    struct where_test_args, particles.p, particles.p, candidates.opening, WHERE_FIRST + 1, WHERE_SECOND + 1, 0)};
static const struct where_language where_test_language = {
    where_test_scopes,    sizeof where_test_scopes / sizeof where_test_scopes[0],
    where_test_functions, 1,
    where_test_links,     2,
    where_test_decays,    1};

#endif
