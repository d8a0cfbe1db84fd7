/* track_check.h: common part of all checks of tracks against true particles: iterates over events, matches tracks, and
 * counts particles of each category, those found, clones, and ghosts.
 * Purity is the mean over matched tracks of shared hits / hits of the track; hit efficiency is the mean of shared
 * hits / hits of the particle. Both use the last detector of the tracks. Events with an error, without particles or
 * with malformed ones are not counted. */
#ifndef TRUTH_TRACK_CHECK_H
#define TRUTH_TRACK_CHECK_H

#include "association/association.h"
#include "forward/event_model.h"
#include "tally.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

/* Conditions of a category. Without CATEGORY_ANY_ETA and CATEGORY_ELECTRONS, particles with 2 < eta < 5 that are not
 * electrons. The others select regions of the detector. */
enum {
  CATEGORY_ANY_ETA = 1,
  CATEGORY_ELECTRONS = 2,
  CATEGORY_X_POSITIVE = 4,
  CATEGORY_X_NEGATIVE = 8,
  CATEGORY_Y_POSITIVE = 16,
  CATEGORY_Y_NEGATIVE = 32,
  CATEGORY_SMALL_X = 64, /* within 30 degrees of the y axis */
  CATEGORY_LARGE_X = 128,
  CATEGORY_ETA_BELOW_2_5 = 256,
  CATEGORY_ETA_ABOVE_2_5 = 512,
  CATEGORY_ETA_ABOVE_4 = 1024,
};
struct category {
  const char *name;
  uint32_t flags, without; /* MC_...: required flags, forbidden flags */
  uint32_t choice;         /* CATEGORY_... */
  float p_min, pt_min;     /* MeV; p and pT must be larger */
};
enum { CATEGORIES_MAX = 28 };

struct track_check {
  struct mc_event mc;
  struct association association;
  uint32_t id_mask, detector; /* the last detector */
  struct tally tally;
  const struct category *categories;
  uint32_t category_count;
  struct category_counts counts[CATEGORIES_MAX];
  uint64_t tracks, ghosts;
  uint64_t fast_tracks, fast_ghosts; /* tracks with a momentum estimate: p > 3 GeV and pT > 0.5 GeV */
  uint64_t hits, known_hits;         /* hits of all tracks in the last detector; those with ids in the truth */
};

void track_check_open(struct track_check *c, uint32_t detector, uint32_t mask_fraction_bits,
                      const struct category *categories, uint32_t category_count);
void track_check_close(struct track_check *c);

/* Compares the tracks of an event with the particles in c->mc: calls track_check_add for each track. 0, or an error. */
typedef int track_check_event(struct track_check *c, const void *args, uint32_t event);

/* Calls `check_event` for all events with truth: 0, or an error, with a message. */
int track_check_consume(struct track_check *c, const struct sl_services *s, const struct sl_batch *batch,
                        const struct mc_particle_banks_view *banks, track_check_event *check_event, const void *args);

/* Matches a track and counts it; the matches are in c->association. */
void track_check_add(struct track_check *c, const struct track_hits *track);
/* Also counts fast tracks and ghosts, from q/p and the state at the end of the VELO. */
void track_check_add_momentum(struct track_check *c, const struct track_hits *track,
                              const struct track_states_view *states, uint32_t state, double qop);

/* Particle of the last track: the matched particle with the most VELO hits of the track, so that a decay in flight is
 * the particle before the decay; ties: the first. NULL for a ghost. */
const struct mc_particle *track_check_particle(const struct track_check *c);

/* Hits of VELO track number `track` of an event; hits of a VELO-UT track, none if ut_tracks is not connected or the
 * number is FORWARD_NO_TRACK. */
struct hit_ids velo_hits_of(const struct velo_tracks_view *tracks, uint32_t event, uint32_t track);
struct hit_ids ut_hits_of(const struct ut_tracks_view *tracks, uint32_t event, uint32_t track);
/* Hits of long track `i` of the slice in all three detectors. */
struct track_hits long_track_hits(const struct long_tracks_view *tracks, uint32_t i,
                                  const struct velo_tracks_view *velo_tracks, const struct ut_tracks_view *ut_tracks,
                                  uint32_t event);

void track_check_report_categories(const struct track_check *c, const struct sl_report *r);
/* Reports `ghosts`, `fast_ghosts` and their rates, null if ids and truth are not comparable, and a line that begins
 * with `tracks`, the name of the tracks. */
void track_check_report_ghosts(const struct track_check *c, const struct sl_report *r, const char *tracks,
                               int is_comparable);

/* Defines the sink NAME with the state struct STATE, which begins with a struct track_check. CHECK_EVENT is called
 * for all events with truth. */
#define TRACK_CHECK_SINK(NAME, STATE, CHECK_EVENT, DOC)                                               \
  static int NAME##_consume(void *state, const struct sl_services *s, const void *args,               \
                            const struct sl_batch *batch) {                                           \
    return track_check_consume((struct track_check *)state, s, batch,                                 \
                               &((const struct NAME##_args *)args)->mc_particles, CHECK_EVENT, args); \
  }                                                                                                   \
  CHECK_SINK(NAME, STATE, DOC)

#endif
