/* where_language.h: the names of lines without code over secondary vertices, with minimal arguments, for tests of the
 * compiler. */
#ifndef TEST_WHERE_LANGUAGE_H
#define TEST_WHERE_LANGUAGE_H

#include "odin/event_model.h"
#include "selections/event_model.h"
#include "where.h"

struct where_test_args {
  struct secondary_vertices_view candidates;
  struct particles_view particles;
  struct odin_events_view header;
};

static const struct where_scope where_test_scopes[] = {
    {"", &secondary_vertices_collection, offsetof(struct where_test_args, candidates), WHERE_OF_CANDIDATE, NULL, 0},
    {"first.", &particles_collection, offsetof(struct where_test_args, particles), WHERE_OF_FIRST, NULL, 0},
    {"second.", &particles_collection, offsetof(struct where_test_args, particles), WHERE_OF_SECOND, NULL, 0},
    {"event.", &odin_events_collection, offsetof(struct where_test_args, header), WHERE_OF_EVENT, NULL, 0},
    {"event.vertices", NULL, offsetof(struct where_test_args, particles), WHERE_COUNT, NULL, 0}};
static const struct where_language where_test_language = {where_test_scopes,
                                                          sizeof where_test_scopes / sizeof where_test_scopes[0], 1};

#endif
