/* muon_check.c: truth.muon_check, muon identification of long tracks by kind of true particle (README.md).
 * Each track counts once, for the particle that it matches, in the bin of the particle's momentum. After a decay
 * in flight a track may match several particles: the one with the most hits of the track in the VELO is used. Ghosts
 * are in the bin of the track's momentum. UT hits are used if ut_tracks is connected. If scores is connected, tracks
 * identified as muons are counted again with a requirement on the score, and with one on chi2. */
#include "forward/event_model.h"
#include "muon/event_model.h"
#include "track_check.h"
#include "ut/event_model.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <math.h>

#define SL_ARGS muon_check_args
#define MUON_CHECK(M)                                                                                                  \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track qop hit_id", "long tracks to check")             \
  M(IN, flags, muon_flags, "is_muon", "muon identification per long track")                                            \
  M(OPTIONAL_IN, scores, muon_scores, "chi2_correlated score",                                                         \
    "scores of the tracks; adds results with requirements on them")                                                    \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks to which velo_track refers")              \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id",                                                   \
    "UT tracks to which ut_track refers; adds their hits")                                                             \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",                    \
    "banks with true particles")                                                                                       \
  M(F32, min_score, 0.45, 0.0, 1.0, "", "smallest score of an accepted muon, with `scores`")                           \
  M(F32, max_chi2_correlated, 1.8, -6.0, 10.0, "", "largest log10 of chi2 per hit of an accepted muon, with `scores`") \
  M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")
SL_HOST_ARGUMENTS(muon_check, MUON_CHECK);

/* ---------------------------------------------------------------------------------------------- kinds and bins */

enum { KIND_MUON, KIND_PION, KIND_KAON, KIND_PROTON, KIND_ELECTRON, KIND_OTHER, KIND_GHOST, KINDS };
static const struct {
  const char *name;
  int32_t pdg; /* without sign; 0: no single species */
} kinds[KINDS] = {{"muons", 13},     {"pions", 211}, {"kaons", 321}, {"protons", 2212},
                  {"electrons", 11}, {"others", 0},  {"ghosts", 0}};

enum { BINS = 8, FIRST_FAST = 1, ALL_FAST = BINS };
static const struct {
  const char *name;
  float end; /* MeV */
} bins[BINS + 1] = {{"p < 3 GeV", 3e3f},     {"3 to 6 GeV", 6e3f},     {"6 to 10 GeV", 1e4f},
                    {"10 to 15 GeV", 15e3f}, {"15 to 20 GeV", 2e4f},   {"20 to 30 GeV", 3e4f},
                    {"30 to 50 GeV", 5e4f},  {"p > 50 GeV", INFINITY}, {"p > 3 GeV", INFINITY}};

/* Tracks; those identified as muons; those of them that a requirement accepts. */
struct flag_counts {
  uint64_t tracks, muons, with_score, with_chi2;
};

struct muon_check {
  struct track_check tracks; /* the first member */
  uint32_t has_scores;
  float min_score, max_chi2;
  struct flag_counts counts[KINDS][BINS + 1];
};

static uint32_t kind_of(const struct mc_particle *particle) {
  for (uint32_t k = 0; k < KIND_OTHER; k++)
    if (particle->pdg == kinds[k].pdg || particle->pdg == -kinds[k].pdg) return k;
  return KIND_OTHER;
}

static void add(struct flag_counts *to, const struct flag_counts *n) {
  to->tracks += n->tracks;
  to->muons += n->muons;
  to->with_score += n->with_score;
  to->with_chi2 += n->with_chi2;
}

static void count(struct muon_check *c, uint32_t kind, float p, const struct flag_counts *track) {
  uint32_t bin = 0;
  while (bin + 1 < BINS && p >= bins[bin].end) bin++;
  add(&c->counts[kind][bin], track);
  if (bin >= FIRST_FAST) add(&c->counts[kind][ALL_FAST], track);
}

/* Counts of track `i` of the slice alone. */
static struct flag_counts counts_of(const struct muon_check_args *args, uint32_t i) {
  struct flag_counts n = {1, args->flags.is_muon[i], 0, 0};
  if (!args->scores.score || !n.muons) return n;
  n.with_score = args->scores.score[i] >= args->min_score;
  n.with_chi2 = args->scores.chi2_correlated[i] <= args->max_chi2_correlated;
  return n;
}

/* --------------------------------------------------------------------------------------------------- the check */

static int muon_check_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct muon_check_args *args = (const struct muon_check_args *)args_;
  struct muon_check *c = (struct muon_check *)state;
  (void)s, (void)output_path;
  c->min_score = args->min_score;
  c->max_chi2 = args->max_chi2_correlated;
  track_check_open(&c->tracks, MC_SCIFI, args->mask_fraction_bits, NULL, 0);
  return SL_OK;
}

static void muon_check_close(void *state) { track_check_close(&((struct muon_check *)state)->tracks); }

static int check_event(struct track_check *tracks_check, const void *args_, uint32_t event) {
  struct muon_check *c = (struct muon_check *)tracks_check;
  const struct muon_check_args *args = (const struct muon_check_args *)args_;
  const struct long_tracks_view *tracks = &args->tracks;
  c->has_scores = args->scores.score != NULL;
  for (uint32_t i = tracks->offsets[event]; i < tracks->offsets[event + 1]; i++) {
    const struct flag_counts n = counts_of(args, i);
    const struct track_hits track = long_track_hits(tracks, i, &args->velo_tracks, &args->ut_tracks, event);
    track_check_add(&c->tracks, &track);
    const struct mc_particle *particle = track_check_particle(&c->tracks);
    if (particle)
      count(c, kind_of(particle), particle->p, &n);
    else
      count(c, KIND_GHOST, 1.0f / fabsf(tracks->qop[i]), &n);
  }
  return SL_OK;
}

/* -------------------------------------------------------------------------------------------------- the report */

/* Share of the tracks identified as muons that a requirement accepts. */
static void report_requirement(const char *key, uint64_t accepted, uint64_t muons, const struct sl_report *r) {
  r->begin_object(r->context, key);
  r->integer(r->context, "accepted", (int64_t)accepted);
  r->number(r->context, "share", ratio((double)accepted, (double)muons));
  r->number(r->context, "error", rate_error(accepted, muons));
  r->end_object(r->context);
}

static void report_bin(const struct muon_check *c, const struct flag_counts *n, const char *name,
                       const struct sl_report *r) {
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", name);
  r->integer(r->context, "tracks", (int64_t)n->tracks);
  r->integer(r->context, "muons", (int64_t)n->muons);
  r->number(r->context, "rate", ratio((double)n->muons, (double)n->tracks));
  r->number(r->context, "error", rate_error(n->muons, n->tracks));
  if (c->has_scores) {
    report_requirement("min_score", n->with_score, n->muons, r);
    report_requirement("max_chi2_correlated", n->with_chi2, n->muons, r);
  }
  r->end_object(r->context);
}

static void report_kind(const struct muon_check *c, uint32_t kind, const struct sl_report *r) {
  const struct flag_counts *fast = &c->counts[kind][ALL_FAST];
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", kinds[kind].name);
  r->begin_array(r->context, "momentum");
  for (uint32_t bin = 0; bin <= BINS; bin++) report_bin(c, &c->counts[kind][bin], bins[bin].name, r);
  r->end_array(r->context);
  r->end_object(r->context);
  if (fast->tracks == 0) return;
  r->line(r->context, "%-10s %6" PRIu64 " of %6" PRIu64 " with p > 3 GeV identified as muons  %6.2f +- %5.2f %%",
          kinds[kind].name, fast->muons, fast->tracks, 100 * ratio((double)fast->muons, (double)fast->tracks),
          100 * rate_error(fast->muons, fast->tracks));
  if (!c->has_scores || fast->muons == 0) return;
  r->line(r->context, "%-10s of them score >= %.2f: %6.2f +- %5.2f %%, log10 of chi2 <= %.2f: %6.2f +- %5.2f %%", "",
          (double)c->min_score, 100 * ratio((double)fast->with_score, (double)fast->muons),
          100 * rate_error(fast->with_score, fast->muons), (double)c->max_chi2,
          100 * ratio((double)fast->with_chi2, (double)fast->muons), 100 * rate_error(fast->with_chi2, fast->muons));
}

static int muon_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  const struct muon_check *c = (const struct muon_check *)state;
  const struct track_check *t = &c->tracks;
  tally_report(&t->tally, r);
  r->integer(r->context, "tracks", (int64_t)t->tracks);
  r->integer(r->context, "hits", (int64_t)t->hits);
  r->integer(r->context, "hits_in_truth", (int64_t)t->known_hits);
  r->begin_array(r->context, "kinds");
  for (uint32_t kind = 0; kind < KINDS; kind++) report_kind(c, kind, r);
  r->end_array(r->context);
  tally_warn(&t->tally, s);
  if (t->hits > 0 && t->known_hits == 0)
    s->message(s->context, SL_WARNING,
               "no SciFi hit id of the tracks is in the truth: the truth has no SciFi hits or belongs to other events");
  return SL_OK;
}

TRACK_CHECK_SINK(muon_check, muon_check, check_event, "muon identification compared with the true particles");
