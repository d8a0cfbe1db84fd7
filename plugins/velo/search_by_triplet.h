/* search_by_triplet.h: what the versions of the search share. Private to the plugin. */
#ifndef VELO_SEARCH_BY_TRIPLET_H
#define VELO_SEARCH_BY_TRIPLET_H

#include "velo/event_model.h"

#include <sluice/kernel.h>

enum {
  SEARCH_MAX_SEED_CANDIDATES = 8,
  SEARCH_MAX_HITS = 65535, /* of an event: indices are 16 bits */
  /* The workspace holds so many arrays of 32-bit values, each with room for an event's hits and some more. */
  SEARCH_WORK_ARRAYS = 10,
  SEARCH_WORK_SLACK = 32
};

struct search_by_triplet_args {
  struct sl_events events;
  struct velo_hits_view hits;
  struct velo_geometry_view geometry;
  struct velo_track_candidates candidates;
  struct velo_used_hits used;
  float phi_tolerance, max_scatter;
  uint32_t max_skipped_modules, first_seed_candidates, seed_candidates, candidates_per_event;
  uint32_t *event_order;
  uint16_t *track_hits;  /* 26 a hit */
  uint8_t *track_length; /* one a hit, as the next two */
  uint8_t *track_skips;
  uint16_t *track_middle;
  uint32_t *workspace;
};

/* An event's hits in the arrays of the slice. */
struct search_event {
  uint32_t first, count;
};

static SL_DEVICE struct search_event search_event_open(const struct velo_hits_view *hits, uint32_t event) {
  struct search_event e;
  e.first = hits->offsets[event];
  e.count = hits->offsets[event + 1] - e.first;
  return e;
}

/* With too many hits to be indexed, which the decoders refuse, an event has no tracks. */
static SL_DEVICE uint32_t search_event_is_searched(struct search_event e) {
  return e.count > 0 && e.count <= SEARCH_MAX_HITS ? 1u : 0u;
}

/* The side of the beam on which a hit's module stands: its number is even or odd. */
static SL_DEVICE uint32_t search_side_of(uint32_t id) { return id >> 20 & 1; }

/* An angle in the units of phi: 32768 is pi. Truncates. */
static inline int32_t search_phi_units(float radians) {
  return (int32_t)((double)radians * (32768.0 / 3.14159265358979323846));
}

#if defined(SL_TARGET_CPU)
int search_by_triplet_tuned(const struct sl_launch *l, const void *args);
#define SEARCH_BY_TRIPLET_TUNED search_by_triplet_tuned
#else
#define SEARCH_BY_TRIPLET_TUNED NULL
#endif

#endif
