/* long_check.c: truth.long_check, long tracks (VELO to SciFi) compared with the true particles (README.md).
 * Counts: see track_check.h. UT hits are used if ut_tracks is connected. Momenta are compared for particles with
 * hits in VELO, UT and SciFi, with or without ut_tracks, so that both results are for the same particles. If no hit
 * of a track is in the truth, the ghost rate is undefined. */
#include "forward/event_model.h"
#include "kalman/event_model.h"
#include "momenta.h"
#include "selections/event_model.h"
#include "track_check.h"
#include "ut/event_model.h"

#include <sluice/math64.h>
#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>

#define SL_ARGS long_check_args
#define LONG_CHECK(M)                                                                                      \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track qop hit_id", "long tracks to check") \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks to which velo_track refers")  \
  M(IN, end_states, track_states, "offsets tx ty", "states of velo_tracks at the end of the VELO")         \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id",                                       \
    "UT tracks to which ut_track refers; adds their hits")                                                 \
  M(OPTIONAL_IN, states, long_states, "qop chi2 ndof", "fitted states: momenta and chi2 are theirs")       \
  M(OPTIONAL_IN, fits, kalman_fits, "c44", "fits of the states: errors of the momenta")                    \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",        \
    "banks with true particles")                                                                           \
  M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")
SL_HOST_ARGUMENTS(long_check, LONG_CHECK);

/* ----------------------------------------------------------------------------------------------- categories */

enum { LONG_STRANGE = MC_IS_LONG | MC_FROM_STRANGE, LONG_BEAUTY = MC_IS_LONG | MC_FROM_BEAUTY };

static const struct category categories[] = {
    {"long", MC_IS_LONG, 0, 0, -1, -1},
    {"long, p > 3 GeV", MC_IS_LONG, 0, 0, 3000, -1},
    {"long, p > 5 GeV", MC_IS_LONG, 0, 0, 5000, -1},
    {"long, p > 3 GeV, pt > 0.5 GeV", MC_IS_LONG, 0, 0, 3000, 500},
    {"long, p > 5 GeV, pt > 1 GeV", MC_IS_LONG, 0, 0, 5000, 1000},
    {"long, pt > 2 GeV", MC_IS_LONG, 0, 0, -1, 2000},
    {"long from strange", LONG_STRANGE, 0, 0, -1, -1},
    {"long from strange, p > 5 GeV", LONG_STRANGE, 0, 0, 5000, -1},
    {"long strange, p > 5, pt > 0.5 GeV", LONG_STRANGE, 0, 0, 5000, 500},
    {"long from B", LONG_BEAUTY, 0, 0, -1, -1},
    {"long from B, p > 5 GeV", LONG_BEAUTY, 0, 0, 5000, -1},
    {"long from B, p > 5 GeV, pt > 1 GeV", LONG_BEAUTY, 0, 0, 5000, 1000},
    {"long from B, pt > 2 GeV", LONG_BEAUTY, 0, 0, -1, 2000},
    {"long from signal", MC_IS_LONG | MC_FROM_SIGNAL, 0, 0, -1, -1},
    {"long electrons", MC_IS_LONG, 0, CATEGORY_ELECTRONS, -1, -1},
    {"long electrons, p > 5 GeV", MC_IS_LONG, 0, CATEGORY_ELECTRONS, 5000, -1},
    {"long electrons from B", LONG_BEAUTY, 0, CATEGORY_ELECTRONS, -1, -1},
    {"long electrons from B, p > 5 GeV", LONG_BEAUTY, 0, CATEGORY_ELECTRONS, 5000, -1},
    {"electrons in UT, SciFi, not VELO", MC_HAS_UT | MC_HAS_SCIFI, MC_HAS_VELO, CATEGORY_ELECTRONS, -1, -1},
};

enum { CHI2_GROUPS = 3 };
static const char *const chi2_groups[CHI2_GROUPS] = {"all hits right", "some hits wrong", "ghosts"};
enum { WITH_MOMENTUM = MC_HAS_VELO | MC_HAS_UT | MC_HAS_SCIFI };
static const double momentum_range = 0.5; /* range of the spreads */

/* ----------------------------------------------------------------------------------------------- the check */

/* chi2 of the fits of tracks. */
struct chi2_tally {
  uint64_t tracks, improbable; /* probability of a larger chi2 below 0.01 */
  struct spread chi2_ndof;
};

struct long_check {
  struct track_check tracks; /* the first member */
  uint64_t tracks_with_duplicates;
  struct momenta momenta;
  struct chi2_tally chi2[CHI2_GROUPS];
};

static int long_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  struct long_check *c = (struct long_check *)state;
  (void)s, (void)output_path;
  track_check_open(&c->tracks, MC_SCIFI, ((const struct long_check_args *)args)->mask_fraction_bits, categories,
                   sizeof categories / sizeof categories[0]);
  return SL_OK;
}

static void long_check_close(void *state) { track_check_close(&((struct long_check *)state)->tracks); }

static int has_duplicate_hit(const struct hit_ids *hits) {
  for (uint32_t i = 0; i < hits->count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (hits->ids[i] == hits->ids[k]) return 1;
  return 0;
}

/* Probability of a larger chi2: 1 - P(ndof / 2, chi2 / 2), the incomplete gamma function by its power series. For ndof
 * up to 300: exp(-chi2 / 2) must not underflow. */
static double chi2_probability(double chi2, uint32_t ndof) {
  const double chi2_max = 200 + 4.0 * ndof; /* the probability is below 1e-40 */
  if (!(chi2 < chi2_max)) return 0;
  double term = sl_exp(-chi2 / 2) * (ndof % 2 ? sqrt(2 * chi2 / 3.14159265358979324) : 1), sum = 0;
  for (uint32_t k = ndof % 2; k < ndof; k += 2) term *= chi2 / (k + 2);
  for (uint32_t k = ndof; term > 1e-17 * sum; k += 2) {
    sum += term;
    term *= chi2 / (k + 2);
  }
  return 1 - sum;
}

static const double chi2_range = 50; /* of chi2 / ndof */

static void add_chi2(struct long_check *c, uint32_t group, double chi2, uint32_t ndof) {
  struct chi2_tally *t = &c->chi2[group];
  t->tracks++;
  t->improbable += chi2_probability(chi2, ndof) < 0.01;
  spread_add(&t->chi2_ndof, chi2_range, chi2 / (double)ndof);
}

/* Whether all hits of the track are those of one of the particles that it matches. */
static int has_right_hits(const struct association *a, const struct track_hits *track) {
  for (uint32_t k = 0; k < a->match_count; k++) {
    int is_right = 1;
    for (uint32_t d = 0; d < MC_DETECTORS; d++) is_right &= a->matches[k].shared.in[d] == track->in[d].count;
    if (is_right) return 1;
  }
  return 0;
}

static int check_event(struct track_check *tracks_check, const void *args_, uint32_t event) {
  struct long_check *c = (struct long_check *)tracks_check;
  const struct long_check_args *args = (const struct long_check_args *)args_;
  const struct long_tracks_view *tracks = &args->tracks;
  const struct association *a = &c->tracks.association;
  for (uint32_t i = tracks->offsets[event]; i < tracks->offsets[event + 1]; i++) {
    const uint32_t velo_track = tracks->velo_track[i];
    const double qop = (double)(args->states.qop ? args->states.qop[i] : tracks->qop[i]);
    const uint32_t ndof = args->states.ndof ? args->states.ndof[i] : 0;
    const struct track_hits track = long_track_hits(tracks, i, &args->velo_tracks, &args->ut_tracks, event);
    track_check_add_momentum(&c->tracks, &track, &args->end_states, args->end_states.offsets[event] + velo_track, qop);
    if (has_duplicate_hit(&track.in[MC_SCIFI])) c->tracks_with_duplicates++;
    for (uint32_t k = 0; k < a->match_count; k++) {
      const struct mc_particle *particle = &c->tracks.mc.particles[a->matches[k].particle];
      momenta_add(&c->momenta, momentum_range, particle, WITH_MOMENTUM, qop);
      if (args->fits.c44) momenta_add_pull(&c->momenta, particle, WITH_MOMENTUM, qop, (double)args->fits.c44[i]);
    }
    if (ndof > 0)
      add_chi2(c, a->match_count == 0 ? 2 : has_right_hits(a, &track) ? 0 : 1, (double)args->states.chi2[i], ndof);
  }
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------------- the report */

static void report_chi2(const struct long_check *c, const struct sl_report *r) {
  r->begin_array(r->context, "chi2");
  for (uint32_t g = 0; g < CHI2_GROUPS; g++) {
    const struct chi2_tally *t = &c->chi2[g];
    const double share = ratio((double)t->improbable, (double)t->tracks);
    const double median = spread_median(&t->chi2_ndof, chi2_range);
    if (t->tracks == 0) continue;
    r->begin_object(r->context, NULL);
    r->text(r->context, "name", chi2_groups[g]);
    r->integer(r->context, "tracks", (int64_t)t->tracks);
    r->number(r->context, "chi2_ndof_median", median);
    r->number(r->context, "improbable", share);
    r->end_object(r->context);
    r->line(r->context,
            "chi2 of the fit, %-17s %7" PRIu64 " tracks  median of chi2 / ndof %6.2f  P(chi2) < 1 %%: %6.2f %%",
            chi2_groups[g], t->tracks, median, 100 * share);
    spread_report_ignored(&t->chi2_ndof, "chi2 / ndof", r);
  }
  r->end_array(r->context);
}

static int long_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct long_check *c = (struct long_check *)state;
  const int is_comparable = c->tracks.hits == 0 || c->tracks.known_hits > 0;
  tally_report(&c->tracks.tally, r);
  r->integer(r->context, "hits", (int64_t)c->tracks.hits);
  r->integer(r->context, "hits_in_truth", (int64_t)c->tracks.known_hits);
  r->integer(r->context, "tracks_with_duplicate_hits", (int64_t)c->tracks_with_duplicates);
  r->line(r->context, "long tracks of %" PRIu64 " %s, SciFi hits on them %" PRIu64 ", %.2f %% of them true",
          c->tracks.tally.events, sl_plural(c->tracks.tally.events, "event", "events"), c->tracks.hits,
          100 * ratio((double)c->tracks.known_hits, (double)c->tracks.hits));
  track_check_report_ghosts(&c->tracks, r, "long tracks", is_comparable);
  track_check_report_categories(&c->tracks, r);
  momenta_report(&c->momenta, momentum_range, r);
  if (c->chi2[0].tracks + c->chi2[1].tracks + c->chi2[2].tracks > 0) report_chi2(c, r);
  tally_warn(&c->tracks.tally, s);
  if (!is_comparable)
    s->message(s->context, SL_WARNING,
               "no SciFi hit id of the tracks is in the truth: the truth has no SciFi hits or belongs to other events");
  if (c->tracks_with_duplicates > 0)
    s->message(s->context, SL_WARNING, "%" PRIu64 " %s a SciFi hit twice", c->tracks_with_duplicates,
               sl_plural(c->tracks_with_duplicates, "track contains", "tracks contain"));
  return SL_OK;
}

TRACK_CHECK_SINK(long_check, long_check, check_event, "long tracks compared with the true particles");
