/* ut_check.c: truth.ut_check, UT hits and VELO-UT tracks compared with the true particles (README.md).
 * Hits: hit_tally.h; if no hit is in the truth, the ghost rate is undefined. Tracks: track_check.h. Momenta are
 * compared for long particles with UT hits. */
#include "hit_tally.h"
#include "momenta.h"
#include "track_check.h"
#include "ut/event_model.h"

#include <sluice/plugin.h>

#define SL_ARGS ut_check_args
#define UT_CHECK(M)                                                                                       \
  M(IN, hits, ut_hits, "offsets id", "UT hits to check")                                                  \
  M(IN, tracks, ut_tracks, "offsets hit_offsets velo_track qop hit_id", "VELO-UT tracks to check")        \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks to which velo_track refers") \
  M(IN, end_states, track_states, "offsets tx ty", "states of velo_tracks at the end of the VELO")        \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",       \
    "banks with true particles")                                                                          \
  M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")
SL_HOST_ARGUMENTS(ut_check, UT_CHECK);

/* ----------------------------------------------------------------------------------------------- categories */

static const struct category categories[] = {
    {"velo", MC_HAS_VELO, 0, 0, -1, -1},
    {"velo and UT", MC_HAS_VELO | MC_HAS_UT, 0, 0, -1, -1},
    {"velo and UT, p > 5 GeV", MC_HAS_VELO | MC_HAS_UT, 0, 0, 5000, -1},
    {"velo, not long", MC_HAS_VELO, MC_IS_LONG, 0, -1, -1},
    {"velo and UT, not long", MC_HAS_VELO | MC_HAS_UT, MC_IS_LONG, 0, -1, -1},
    {"velo and UT, not long, p > 5 GeV", MC_HAS_VELO | MC_HAS_UT, MC_IS_LONG, 0, 5000, -1},
    {"long", MC_IS_LONG, 0, 0, -1, -1},
    {"long, p > 5 GeV", MC_IS_LONG, 0, 0, 5000, -1},
    {"long, p > 3 GeV, pt > 0.5 GeV", MC_IS_LONG, 0, 0, 3000, 500},
    {"long, p > 5 GeV, pt > 1 GeV", MC_IS_LONG, 0, 0, 5000, 1000},
    {"long from B", MC_IS_LONG | MC_FROM_BEAUTY, 0, 0, -1, -1},
    {"long from B, p > 5 GeV", MC_IS_LONG | MC_FROM_BEAUTY, 0, 0, 5000, -1},
    {"long electrons", MC_IS_LONG, 0, CATEGORY_ELECTRONS, -1, -1},
    {"long electrons from B", MC_IS_LONG | MC_FROM_BEAUTY, 0, CATEGORY_ELECTRONS, -1, -1},
    {"long electrons from B, p > 5 GeV", MC_IS_LONG | MC_FROM_BEAUTY, 0, CATEGORY_ELECTRONS, 5000, -1},
};

static const double momentum_range = 3; /* range of the spreads */

/* ----------------------------------------------------------------------------------------------- the check */

struct ut_check {
  struct track_check tracks; /* the first member */
  struct hit_tally hits;
  struct momenta momenta;
};

static int ut_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  struct ut_check *c = (struct ut_check *)state;
  (void)s, (void)output_path;
  track_check_open(&c->tracks, MC_UT, ((const struct ut_check_args *)args)->mask_fraction_bits, categories,
                   sizeof categories / sizeof categories[0]);
  return SL_OK;
}

static void ut_check_close(void *state) {
  struct ut_check *c = (struct ut_check *)state;
  track_check_close(&c->tracks);
  hit_tally_free(&c->hits);
}

static int check_event(struct track_check *tracks_check, const void *args_, uint32_t event) {
  struct ut_check *c = (struct ut_check *)tracks_check;
  const struct ut_check_args *args = (const struct ut_check_args *)args_;
  const struct ut_tracks_view *tracks = &args->tracks;
  for (uint32_t i = tracks->offsets[event]; i < tracks->offsets[event + 1]; i++) {
    const uint32_t first = tracks->hit_offsets[i], velo_track = tracks->velo_track[i];
    const double qop = (double)tracks->qop[i];
    const struct track_hits track = {.in = {[MC_VELO] = velo_hits_of(&args->velo_tracks, event, velo_track),
                                            [MC_UT] = {tracks->hit_id + first, tracks->hit_offsets[i + 1] - first}}};
    track_check_add_momentum(&c->tracks, &track, &args->end_states, args->end_states.offsets[event] + velo_track, qop);
    const struct association *a = &c->tracks.association;
    for (uint32_t k = 0; k < a->match_count; k++)
      momenta_add(&c->momenta, momentum_range, &c->tracks.mc.particles[a->matches[k].particle], MC_IS_LONG | MC_HAS_UT,
                  qop);
  }
  const uint32_t first = args->hits.offsets[event], count = args->hits.offsets[event + 1] - first;
  return hit_tally_add(&c->hits, &c->tracks.mc, MC_UT, args->hits.id + first, count);
}

/* ----------------------------------------------------------------------------------------------- the report */

static int ut_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct ut_check *c = (struct ut_check *)state;
  tally_report(&c->tracks.tally, r);
  hit_tally_report(&c->hits, r);
  hit_tally_line(&c->hits, r, "UT", c->tracks.tally.events);
  track_check_report_ghosts(&c->tracks, r, "VELO-UT tracks", hit_tally_is_comparable(&c->hits));
  track_check_report_categories(&c->tracks, r);
  momenta_report(&c->momenta, momentum_range, r);
  tally_warn(&c->tracks.tally, s);
  hit_tally_warn(&c->hits, s, "UT");
  return SL_OK;
}

TRACK_CHECK_SINK(ut_check, ut_check, check_event, "UT hits and VELO-UT tracks compared with the true particles");
