/* electron_check.c: truth.electron_check, electron identification by the calorimeter compared with the true particles
 * (README.md).
 * Counts long tracks that cross a cell at the shower maximum, in bins of the true momentum, by kind of the matched
 * particle, how many of them are identified as electrons, and how many E/p alone would identify. For electrons it also
 * compares the momentum with the true one, with and without the energy found in the calorimeter straight ahead of the
 * VELO track. */
#include "calo/event_model.h"
#include "forward/event_model.h"
#include "spread.h"
#include "track_check.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>

#define SL_ARGS electron_check_args
#define ELECTRON_CHECK(M)                                                                                  \
  M(IN, tracks, long_tracks, "offsets hit_offsets velo_track ut_track qop hit_id", "long tracks to check") \
  M(IN, electrons, calo_electrons, "offsets e_over_p in_acceptance is_electron",                           \
    "electron identification per long track")                                                              \
  M(IN, bremsstrahlung, calo_bremsstrahlung, "offsets energy", "bremsstrahlung energy per VELO track")     \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks to which velo_track refers")  \
  M(OPTIONAL_IN, ut_tracks, ut_tracks, "offsets hit_offsets hit_id",                                       \
    "UT tracks to which ut_track refers; adds their hits")                                                 \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload",        \
    "banks with true particles")                                                                           \
  M(F32, min_e_over_p, 0.7, 0, 10, "", "lower limit of E/p in the counts of identification by E/p alone")
SL_HOST_ARGUMENTS(electron_check, ELECTRON_CHECK);

/* Kinds of particles; the last one is tracks without a match. */
enum { KIND_ELECTRON, KIND_MUON, KIND_HADRON, KIND_GHOST, KINDS };
static const char *const kind_names[KINDS] = {"electrons", "muons", "hadrons", "ghosts"};

/* Bins of the true momentum; for ghosts, of the track's momentum. */
enum { BINS = 6, ALL = BINS };
static const struct {
  const char *name;
  double end; /* MeV */
} bins[BINS + 1] = {{"p < 3 GeV", 3e3},    {"3 to 5 GeV", 5e3},      {"5 to 10 GeV", 1e4}, {"10 to 20 GeV", 2e4},
                    {"20 to 50 GeV", 5e4}, {"p > 50 GeV", INFINITY}, {"all", INFINITY}};
static const double momentum_range = 1.0; /* range of the spreads */

struct counts {
  uint64_t tracks, identified_electrons;
  uint64_t by_e_over_p; /* tracks with E/p above `min_e_over_p` */
};

struct electron_check {
  struct track_check tracks; /* the first member */
  struct counts counts[BINS + 1][KINDS];
  uint64_t outside;                  /* tracks outside the calorimeter */
  struct spread alone, with_photons; /* p / true p - 1 of electrons */
};

static int electron_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  (void)s, (void)args, (void)output_path;
  track_check_open(&((struct electron_check *)state)->tracks, MC_SCIFI, 0, NULL, 0);
  return SL_OK;
}

static void electron_check_close(void *state) { track_check_close(&((struct electron_check *)state)->tracks); }

/* ---------------------------------------------------------------------------------------------------- one event */

/* Counts track `i` of the slice. `p`: MeV. */
static void count(struct electron_check *c, const struct electron_check_args *args, uint32_t i, uint32_t kind,
                  double p) {
  uint32_t bin = 0;
  while (bin + 1 < BINS && p >= bins[bin].end) bin++;
  const uint32_t of[2] = {bin, ALL};
  for (int k = 0; k < 2; k++) {
    struct counts *n = &c->counts[of[k]][kind];
    n->tracks++;
    n->identified_electrons += args->electrons.is_electron[i];
    n->by_e_over_p += args->electrons.e_over_p[i] > args->min_e_over_p;
  }
}

static uint32_t kind_of(const struct mc_particle *p) {
  if (mc_is_electron(p)) return KIND_ELECTRON;
  return mc_is_muon(p) ? KIND_MUON : KIND_HADRON;
}

static void add_momenta(struct electron_check *c, const struct mc_particle *particle, double p, double photons) {
  const double truth = (double)particle->p;
  spread_add(&c->alone, momentum_range, p / truth - 1);
  spread_add(&c->with_photons, momentum_range, (p + photons) / truth - 1);
}

/* Counts a track of the event for the first particle that it matches. */
static void add_track(struct electron_check *c, const struct electron_check_args *args, uint32_t event, uint32_t i) {
  const struct association *a = &c->tracks.association;
  const uint32_t velo_track = args->bremsstrahlung.offsets[event] + args->tracks.velo_track[i];
  const double p = 1 / fabs((double)args->tracks.qop[i]);
  if (!args->electrons.in_acceptance[i]) {
    c->outside++;
    return;
  }
  if (a->match_count == 0) {
    count(c, args, i, KIND_GHOST, p);
    return;
  }
  const struct mc_particle *particle = &c->tracks.mc.particles[a->matches[0].particle];
  const uint32_t kind = kind_of(particle);
  count(c, args, i, kind, (double)particle->p);
  if (kind == KIND_ELECTRON) add_momenta(c, particle, p, (double)args->bremsstrahlung.energy[velo_track]);
}

static int check_event(struct track_check *tracks_check, const void *args_, uint32_t event) {
  struct electron_check *c = (struct electron_check *)tracks_check;
  const struct electron_check_args *args = (const struct electron_check_args *)args_;
  const struct long_tracks_view *tracks = &args->tracks;
  for (uint32_t i = tracks->offsets[event]; i < tracks->offsets[event + 1]; i++) {
    const struct track_hits track = long_track_hits(tracks, i, &args->velo_tracks, &args->ut_tracks, event);
    track_check_add(&c->tracks, &track);
    add_track(c, args, event, i);
  }
  return SL_OK;
}

/* --------------------------------------------------------------------------------------------------- the report */

static void report_counts(const struct counts *n, const char *kind, const char *bin, const struct sl_report *r) {
  const double share = ratio((double)n->identified_electrons, (double)n->tracks);
  const double error = rate_error(n->identified_electrons, n->tracks);
  const double share_by_e_over_p = ratio((double)n->by_e_over_p, (double)n->tracks);
  const double error_by_e_over_p = rate_error(n->by_e_over_p, n->tracks);
  r->begin_object(r->context, kind);
  r->integer(r->context, "tracks", (int64_t)n->tracks);
  r->integer(r->context, "identified_electrons", (int64_t)n->identified_electrons);
  r->number(r->context, "share", share);
  r->number(r->context, "error", error);
  r->integer(r->context, "by_e_over_p", (int64_t)n->by_e_over_p);
  r->number(r->context, "share_by_e_over_p", share_by_e_over_p);
  r->number(r->context, "error_by_e_over_p", error_by_e_over_p);
  r->end_object(r->context);
  if (n->tracks > 0)
    r->line(r->context,
            "%-9s %-14s %7" PRIu64 " tracks, identified as electrons %6" PRIu64
            "   %6.2f +- %5.2f %%, by E/p alone %6.2f +- %5.2f %%",
            kind, bin, n->tracks, n->identified_electrons, 100 * share, 100 * error, 100 * share_by_e_over_p,
            100 * error_by_e_over_p);
}

static void report_momenta(const struct electron_check *c, const struct sl_report *r) {
  const struct {
    const char *key, *text;
    const struct spread *of;
  } both[] = {{"momentum", "of the track", &c->alone},
              {"momentum_with_photons", "with radiated energy", &c->with_photons}};
  for (int i = 0; i < 2; i++) {
    const double median = spread_median(both[i].of, momentum_range), width = spread_width(both[i].of, momentum_range);
    r->begin_object(r->context, both[i].key);
    r->integer(r->context, "tracks", (int64_t)both[i].of->count);
    r->number(r->context, "median", median);
    r->number(r->context, "width", width);
    r->end_object(r->context);
    if (both[i].of->count > 0)
      r->line(r->context, "electrons, p %-24s median %6.2f %%  width %6.2f %%", both[i].text, 100 * median,
              100 * width);
    spread_report_ignored(both[i].of, both[i].key, r);
  }
}

static int electron_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  const struct electron_check *c = (const struct electron_check *)state;
  tally_report(&c->tracks.tally, r);
  r->integer(r->context, "tracks", (int64_t)c->tracks.tracks);
  r->integer(r->context, "tracks_outside", (int64_t)c->outside);
  r->line(r->context, "long tracks of %" PRIu64 " %s: %" PRIu64 ", %" PRIu64 " of them outside the calorimeter",
          c->tracks.tally.events, sl_plural(c->tracks.tally.events, "event", "events"), c->tracks.tracks, c->outside);
  r->begin_array(r->context, "momentum_bins");
  for (uint32_t bin = 0; bin <= BINS; bin++) {
    r->begin_object(r->context, NULL);
    r->text(r->context, "name", bins[bin].name);
    for (uint32_t kind = 0; kind < KINDS; kind++)
      report_counts(&c->counts[bin][kind], kind_names[kind], bins[bin].name, r);
    r->end_object(r->context);
  }
  r->end_array(r->context);
  report_momenta(c, r);
  tally_warn(&c->tracks.tally, s);
  return SL_OK;
}

TRACK_CHECK_SINK(electron_check, electron_check, check_event,
                 "electron identification by the calorimeter compared with the true particles");
