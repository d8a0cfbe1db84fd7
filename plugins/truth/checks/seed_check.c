/* seed_check.c: truth.seed_check, SciFi seeds compared with the true particles (README.md). Counts: see
 * track_check.h. Momenta are compared for particles with SciFi hits. */
#include "momenta.h"
#include "seeding/event_model.h"
#include "track_check.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>

#define SL_ARGS seed_check_args
#define SEED_CHECK(M)                                                                               \
  M(IN, tracks, seeds, "offsets hit_offsets qop hit_id", "SciFi seeds to check")                    \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload", \
    "banks with true particles")
SL_HOST_ARGUMENTS(seed_check, SEED_CHECK);

enum {
  LONG_STRANGE = MC_IS_LONG | MC_FROM_STRANGE,
  LONG_BEAUTY = MC_IS_LONG | MC_FROM_BEAUTY,
  DOWN = MC_HAS_UT | MC_HAS_SCIFI
};

static const struct category categories[] = {
    {"long", MC_IS_LONG, 0, 0, -1, -1},
    {"long, p > 3 GeV", MC_IS_LONG, 0, 0, 3000, -1},
    {"long, p > 5 GeV", MC_IS_LONG, 0, 0, 5000, -1},
    {"long, p > 5 GeV, eta > 4", MC_IS_LONG, 0, CATEGORY_ETA_ABOVE_4, 5000, -1},
    {"long, p > 0.5 GeV", MC_IS_LONG, 0, 0, 500, -1},
    {"long, p > 3 GeV, pt > 0.5 GeV", MC_IS_LONG, 0, 0, 3000, 500},
    {"long, p > 5 GeV, pt > 1 GeV", MC_IS_LONG, 0, 0, 5000, 1000},
    {"long, pt > 2 GeV", MC_IS_LONG, 0, 0, -1, 2000},
    {"long, x > 0, y > 0", MC_IS_LONG, 0, CATEGORY_X_POSITIVE | CATEGORY_Y_POSITIVE, -1, -1},
    {"long, x < 0, y > 0", MC_IS_LONG, 0, CATEGORY_X_NEGATIVE | CATEGORY_Y_POSITIVE, -1, -1},
    {"long, x < 0, y < 0", MC_IS_LONG, 0, CATEGORY_X_NEGATIVE | CATEGORY_Y_NEGATIVE, -1, -1},
    {"long, x > 0, y < 0", MC_IS_LONG, 0, CATEGORY_X_POSITIVE | CATEGORY_Y_NEGATIVE, -1, -1},
    {"long, eta < 2.5, small x", MC_IS_LONG, 0, CATEGORY_ETA_BELOW_2_5 | CATEGORY_SMALL_X, -1, -1},
    {"long, eta < 2.5, large x", MC_IS_LONG, 0, CATEGORY_ETA_BELOW_2_5 | CATEGORY_LARGE_X, -1, -1},
    {"long, eta > 2.5, small x", MC_IS_LONG, 0, CATEGORY_ETA_ABOVE_2_5 | CATEGORY_SMALL_X, -1, -1},
    {"long, eta > 2.5, large x", MC_IS_LONG, 0, CATEGORY_ETA_ABOVE_2_5 | CATEGORY_LARGE_X, -1, -1},
    {"long from strange, p > 5 GeV", LONG_STRANGE, 0, 0, 5000, -1},
    {"long strange, p > 5, pt > 0.5 GeV", LONG_STRANGE, 0, 0, 5000, 500},
    {"long from B", LONG_BEAUTY, 0, 0, -1, -1},
    {"long from B, p > 3 GeV", LONG_BEAUTY, 0, 0, 3000, -1},
    {"long from B, p > 5 GeV", LONG_BEAUTY, 0, 0, 5000, -1},
    {"long electrons", MC_IS_LONG, 0, CATEGORY_ELECTRONS, -1, -1},
    {"UT, SciFi, not VELO", DOWN, MC_HAS_VELO, 0, -1, -1},
    {"UT, SciFi, not VELO, p > 3 GeV", DOWN, MC_HAS_VELO, 0, 3000, -1},
    {"UT, SciFi, not VELO, p > 5 GeV", DOWN, MC_HAS_VELO, 0, 5000, -1},
    {"UT, SciFi, not VELO, strange", DOWN | MC_FROM_STRANGE, MC_HAS_VELO, 0, -1, -1},
    {"UT, SciFi, not VELO, strange, p > 5", DOWN | MC_FROM_STRANGE, MC_HAS_VELO, 0, 5000, -1},
    {"electrons in UT, SciFi, not VELO", DOWN, MC_HAS_VELO, CATEGORY_ELECTRONS, -1, -1},
};

static const double momentum_range = 0.5; /* range of the spreads */

struct seed_check {
  struct track_check tracks; /* the first member */
  struct momenta momenta;
};

static int seed_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  struct seed_check *c = (struct seed_check *)state;
  (void)s, (void)args, (void)output_path;
  track_check_open(&c->tracks, MC_SCIFI, 0, categories, sizeof categories / sizeof categories[0]);
  return SL_OK;
}

static void seed_check_close(void *state) { track_check_close(&((struct seed_check *)state)->tracks); }

static int check_event(struct track_check *tracks_check, const void *args_, uint32_t event) {
  struct seed_check *c = (struct seed_check *)tracks_check;
  const struct seeds_view *seeds = &((const struct seed_check_args *)args_)->tracks;
  const struct association *a = &c->tracks.association;
  for (uint32_t i = seeds->offsets[event]; i < seeds->offsets[event + 1]; i++) {
    const uint32_t first = seeds->hit_offsets[i];
    const struct track_hits track = {.in = {[MC_SCIFI] = {seeds->hit_id + first, seeds->hit_offsets[i + 1] - first}}};
    track_check_add(&c->tracks, &track);
    for (uint32_t k = 0; k < a->match_count; k++)
      momenta_add(&c->momenta, momentum_range, &c->tracks.mc.particles[a->matches[k].particle], MC_HAS_SCIFI,
                  (double)seeds->qop[i]);
  }
  return SL_OK;
}

static int seed_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct seed_check *c = (struct seed_check *)state;
  const struct track_check *t = &c->tracks;
  const int is_comparable = t->hits == 0 || t->known_hits > 0;
  const double ghost_rate = is_comparable ? ratio((double)t->ghosts, (double)t->tracks) : (double)NAN;
  tally_report(&t->tally, r);
  r->integer(r->context, "tracks", (int64_t)t->tracks);
  r->integer(r->context, "ghosts", (int64_t)t->ghosts);
  r->number(r->context, "ghost_rate", ghost_rate);
  r->integer(r->context, "hits", (int64_t)t->hits);
  r->integer(r->context, "hits_in_truth", (int64_t)t->known_hits);
  if (is_comparable)
    r->line(r->context, "seeds of %" PRIu64 " %s: %" PRIu64 ", ghosts %" PRIu64 " (%.2f %%)", t->tally.events,
            sl_plural(t->tally.events, "event", "events"), t->tracks, t->ghosts, 100 * ghost_rate);
  else
    r->line(r->context, "seeds of %" PRIu64 " %s: %" PRIu64, t->tally.events,
            sl_plural(t->tally.events, "event", "events"), t->tracks);
  track_check_report_categories(t, r);
  momenta_report(&c->momenta, momentum_range, r);
  tally_warn(&t->tally, s);
  if (!is_comparable)
    s->message(s->context, SL_WARNING,
               "no hit id of the seeds is in the truth: the truth has no SciFi hits or belongs to other events");
  return SL_OK;
}

TRACK_CHECK_SINK(seed_check, seed_check, check_event, "SciFi seeds compared with the true particles");
