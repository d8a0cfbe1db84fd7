/* velo_check.c: truth.velo_check, VELO tracks compared with the true particles (README.md).
 * Counts: see track_check.h. If no hit of a track is in the truth, tracks and truth do not belong together, and the
 * ghost rate is undefined. */
#include "track_check.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>

#define SL_ARGS velo_check_args
#define VELO_CHECK(M)                                                                               \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks to check")                  \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload", \
    "banks with true particles")                                                                    \
  M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")
SL_HOST_ARGUMENTS(velo_check, VELO_CHECK);

/* ----------------------------------------------------------------------------------------------- categories */

static const struct category categories[] = {
    {"velo", MC_HAS_VELO, 0, 0, -1, -1},
    {"long", MC_IS_LONG, 0, 0, -1, -1},
    {"long, p > 5 GeV", MC_IS_LONG, 0, 0, 5000, -1},
    {"long from strange", MC_IS_LONG | MC_FROM_STRANGE, 0, 0, -1, -1},
    {"long from strange, p > 5 GeV", MC_IS_LONG | MC_FROM_STRANGE, 0, 0, 5000, -1},
    {"long from B", MC_IS_LONG | MC_FROM_BEAUTY, 0, 0, -1, -1},
    {"long from B, p > 5 GeV", MC_IS_LONG | MC_FROM_BEAUTY, 0, 0, 5000, -1},
    {"long electrons", MC_IS_LONG, 0, CATEGORY_ELECTRONS, -1, -1},
    {"long electrons from B", MC_IS_LONG | MC_FROM_BEAUTY, 0, CATEGORY_ELECTRONS, -1, -1},
    {"long electrons from B, p > 5 GeV", MC_IS_LONG | MC_FROM_BEAUTY, 0, CATEGORY_ELECTRONS, 5000, -1},
    {"long from signal", MC_IS_LONG | MC_FROM_SIGNAL, 0, 0, -1, -1},
    {"all eta, not e", MC_HAS_VELO, 0, CATEGORY_ANY_ETA, -1, -1},
};

/* ----------------------------------------------------------------------------------------------- the check */

static int velo_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  (void)s, (void)output_path;
  track_check_open((struct track_check *)state, MC_VELO, ((const struct velo_check_args *)args)->mask_fraction_bits,
                   categories, sizeof categories / sizeof categories[0]);
  return SL_OK;
}

static void velo_check_close(void *state) { track_check_close((struct track_check *)state); }

static int check_event(struct track_check *c, const void *args, uint32_t event) {
  const struct velo_tracks_view *tracks = &((const struct velo_check_args *)args)->tracks;
  const uint32_t count = tracks->offsets[event + 1] - tracks->offsets[event];
  for (uint32_t i = 0; i < count; i++)
    track_check_add(c, &(struct track_hits){.in = {[MC_VELO] = velo_hits_of(tracks, event, i)}});
  return SL_OK;
}

static int velo_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  const struct track_check *c = (const struct track_check *)state;
  const int is_comparable = c->hits == 0 || c->known_hits > 0;
  const double ghost_rate = is_comparable ? ratio((double)c->ghosts, (double)c->tracks) : (double)NAN;
  const double error = is_comparable ? rate_error(c->ghosts, c->tracks) : (double)NAN;
  tally_report(&c->tally, r);
  r->integer(r->context, "tracks", (int64_t)c->tracks);
  r->integer(r->context, "ghosts", (int64_t)c->ghosts);
  r->integer(r->context, "hits", (int64_t)c->hits);
  r->integer(r->context, "hits_in_truth", (int64_t)c->known_hits);
  r->number(r->context, "ghost_rate", ghost_rate);
  r->number(r->context, "ghost_error", error);
  if (is_comparable)
    r->line(r->context, "VELO tracks of %" PRIu64 " %s: %" PRIu64 ", ghosts %" PRIu64 " (%.2f +- %.2f %%)",
            c->tally.events, sl_plural(c->tally.events, "event", "events"), c->tracks, c->ghosts, 100 * ghost_rate,
            100 * error);
  else
    r->line(r->context, "VELO tracks of %" PRIu64 " %s: %" PRIu64 ", none of their %" PRIu64 " hits is in the truth",
            c->tally.events, sl_plural(c->tally.events, "event", "events"), c->tracks, c->hits);
  track_check_report_categories(c, r);
  tally_warn(&c->tally, s);
  if (!is_comparable)
    s->message(s->context, SL_WARNING,
               "no hit id of the tracks is in the truth: ids of another format, or truth of other events%s",
               c->id_mask == ~0u ? "; tracks from super-pixels require mask_fraction_bits" : "");
  return SL_OK;
}

TRACK_CHECK_SINK(velo_check, track_check, check_event, "VELO tracks compared with the true particles");
