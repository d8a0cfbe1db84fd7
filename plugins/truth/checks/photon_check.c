/* photon_check.c: truth.photon_check, true photons and pi0 compared with clusters in the calorimeter (README.md).
 * A photon is matched to the cluster of largest energy with a highest cell that is, or is adjacent to, the photon's
 * cell. It is found if the cluster has at least half of its energy. Two photons of a pi0 that are found in different
 * clusters with enough transverse energy give a mass, as do all other pairs of such clusters. With the matches of the
 * clusters with tracks, the requirements of neutral clusters are compared: photons and other clusters that they accept.
 */
#include "association/mc_banks.h"
#include "calo/event_model.h"
#include "spread.h"
#include "tally.h"
#include "truth/photons.h"
#include "truth/raw_banks.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS photon_check_args
#define PHOTON_CHECK(M)                                                                                       \
  M(IN, clusters, calo_clusters, "offsets cell energy et x y highest_share", "calorimeter clusters to check") \
  M(OPTIONAL_IN, matches, calo_cluster_matches, "",                                                           \
    "matches of the clusters with tracks; if not connected: no cluster is on a track")                        \
  M(IN, geometry, calo_geometry, "neighbours", "neighbours per cell")                                         \
  M(IN, mc_photons, mc_photon_banks, "offsets source_id version size_bytes first_word payload",               \
    "banks with true photons")                                                                                \
  M(F32, pair_et_min, 400, 0, 100000, "MeV", "smallest transverse energy of both clusters of a pair")         \
  M(F32, pair_share_min, 0.6, 0, 1, "", "smallest share of the highest cell in both clusters of a pair")
SL_HOST_ARGUMENTS(photon_check, PHOTON_CHECK);

enum { BINS = 6, ALL = BINS, NO_CLUSTER = -1 };
static const struct {
  const char *name;
  double end; /* MeV */
} bins[BINS + 1] = {{"ET < 0.2 GeV", 200}, {"0.2 to 0.5 GeV", 500},  {"0.5 to 1 GeV", 1e3}, {"1 to 2 GeV", 2e3},
                    {"2 to 4 GeV", 4e3},   {"ET > 4 GeV", INFINITY}, {"all", INFINITY}};
static const double energy_range = 1.0, x_range_mm = 60.0, mass_range = 1.0; /* ranges of the spreads */
static const double pi0_mass = 134.977;
static const double found_min = 0.5; /* fraction of the true energy */

/* Histograms of masses, in steps of 5 MeV. */
enum { MASS_CELLS = 100, MASS_STEP = 5 };

/* Requirements on clusters, each with those before it. */
enum { ANY_CLUSTER, ON_NO_TRACK, ON_NO_LINE, REQUIREMENTS };
static const char *const requirement_names[REQUIREMENTS] = {"all", "on no long track", "and not ahead of a VELO track"};

struct photons {
  uint64_t count, found;
  uint64_t accepted[REQUIREMENTS]; /* found, in clusters that meet a requirement */
  struct spread energy, x;         /* cluster energy / true energy - 1; cluster x - true x, mm */
};

struct photon_check {
  struct tally tally;
  struct mc_joined joined;
  struct photons photons[BINS + 1];
  uint64_t outside; /* photons that cross no cell */
  uint64_t pi0, pi0_found, pi0_accepted[REQUIREMENTS];
  uint32_t has_matches;                                           /* the input `matches` is connected */
  uint64_t clusters[REQUIREMENTS], photon_clusters[REQUIREMENTS]; /* of pairs: all, and those of found photons */
  struct spread mass;                                             /* of found pi0: mass / true mass - 1 */
  uint64_t pairs[MASS_CELLS], pi0_pairs[MASS_CELLS];              /* by mass: all pairs; pairs from a found pi0 */
  int32_t *cluster;                                               /* of each photon of the event */
  uint64_t capacity;
};

static int photon_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  (void)s, (void)args, (void)output_path;
  ((struct photon_check *)state)->tally.truth = "true photons";
  return SL_OK;
}

static void photon_check_close(void *state) {
  struct photon_check *c = (struct photon_check *)state;
  mc_joined_free(&c->joined);
  free(c->cluster);
}

/* ----------------------------------------------------------------------------------------------------- photons */

static struct truth_photon photon_at(const struct photon_check *c, uint32_t i) {
  struct truth_photon p;
  memcpy(&p, c->joined.bytes + i * sizeof p, sizeof p);
  return p;
}

static double et_of(const struct truth_photon *p) {
  const double r2 = (double)p->x * (double)p->x + (double)p->y * (double)p->y, z = (double)TRUTH_PHOTON_Z;
  return (double)p->energy * sqrt(r2 / (r2 + z * z));
}

static int is_adjacent(const struct photon_check_args *args, uint32_t cell, uint32_t other) {
  const uint16_t *others = args->geometry.neighbours + (size_t)CALO_NEIGHBOURS * cell;
  int found = cell == other;
  for (uint32_t k = 0; k < CALO_NEIGHBOURS && others[k] != CALO_NO_NEIGHBOUR; k++) found |= others[k] == other;
  return found;
}

/* The photon's cluster, or NO_CLUSTER if the photon is not found. */
static int32_t cluster_of(const struct photon_check_args *args, uint32_t event, const struct truth_photon *p) {
  const struct calo_clusters_view *clusters = &args->clusters;
  int32_t best = NO_CLUSTER;
  for (uint32_t i = clusters->offsets[event]; i < clusters->offsets[event + 1]; i++)
    if (is_adjacent(args, p->cell, clusters->cell[i]) && (best < 0 || clusters->energy[i] > clusters->energy[best]))
      best = (int32_t)i;
  return best >= 0 && (double)clusters->energy[best] >= found_min * (double)p->energy ? best : NO_CLUSTER;
}

/* The number of requirements that a cluster meets. */
static uint32_t met_by(const struct photon_check_args *args, uint32_t cluster) {
  if (!args->matches.offsets) return REQUIREMENTS;
  if (args->matches.on_track[cluster]) return ON_NO_TRACK;
  return args->matches.on_velo_line[cluster] ? ON_NO_LINE : REQUIREMENTS;
}

static void count_met(uint64_t counts[REQUIREMENTS], uint32_t met) {
  for (uint32_t k = 0; k < met; k++) counts[k]++;
}

static void add_photon(struct photon_check *c, const struct photon_check_args *args, const struct truth_photon *p,
                       int32_t cluster) {
  const double et = et_of(p);
  uint32_t bin = 0;
  while (bin + 1 < BINS && et >= bins[bin].end) bin++;
  const uint32_t of[2] = {bin, ALL};
  for (int i = 0; i < 2; i++) {
    struct photons *n = &c->photons[of[i]];
    n->count++;
    if (cluster < 0) continue;
    n->found++;
    count_met(n->accepted, met_by(args, (uint32_t)cluster));
    spread_add(&n->energy, energy_range, (double)args->clusters.energy[cluster] / (double)p->energy - 1);
    spread_add(&n->x, x_range_mm, (double)args->clusters.x[cluster] - (double)p->x);
  }
}

/* ------------------------------------------------------------------------------------------------------- pairs */

static double mass_of(const struct calo_clusters_view *clusters, uint32_t i, uint32_t k) {
  const double a[3] = {(double)clusters->x[i], (double)clusters->y[i], (double)TRUTH_PHOTON_Z};
  const double b[3] = {(double)clusters->x[k], (double)clusters->y[k], (double)TRUTH_PHOTON_Z};
  const double length2 = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) * (b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
  const double cross[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  const double sine2 = (cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]) / length2;
  /* 1 - cos without cancellation */
  return sqrt(2 * (double)clusters->energy[i] * (double)clusters->energy[k] * sine2 / (1 + sqrt(1 - sine2)));
}

static void add_mass(uint64_t cells[MASS_CELLS], double mass) {
  if (mass < MASS_CELLS * MASS_STEP) cells[(uint32_t)(mass / MASS_STEP)]++;
}

static int is_pair_cluster(const struct photon_check_args *args, uint32_t i) {
  return args->clusters.et[i] > args->pair_et_min && args->clusters.highest_share[i] > args->pair_share_min;
}

static void add_pairs(struct photon_check *c, const struct photon_check_args *args, uint32_t event) {
  const uint32_t end = args->clusters.offsets[event + 1];
  for (uint32_t i = args->clusters.offsets[event]; i < end; i++) {
    if (!is_pair_cluster(args, i)) continue;
    for (uint32_t k = i + 1; k < end; k++) {
      if (!is_pair_cluster(args, k)) continue;
      add_mass(c->pairs, mass_of(&args->clusters, i, k));
    }
  }
}

/* Adds the pi0 with the first photon `i`, if both photons cross a cell. */
static void add_pi0(struct photon_check *c, const struct photon_check_args *args, uint32_t i, uint32_t count) {
  const struct truth_photon p = photon_at(c, i);
  if (p.pi0 == TRUTH_NO_PI0 || p.cell >= CALO_CELLS) return;
  for (uint32_t k = i + 1; k < count; k++) {
    const struct truth_photon other = photon_at(c, k);
    if (other.pi0 != p.pi0 || other.cell >= CALO_CELLS) continue;
    if (!(et_of(&p) > (double)args->pair_et_min && et_of(&other) > (double)args->pair_et_min)) return;
    const int32_t a = c->cluster[i], b = c->cluster[k];
    c->pi0++;
    if (a < 0 || b < 0 || a == b || !is_pair_cluster(args, (uint32_t)a) || !is_pair_cluster(args, (uint32_t)b)) return;
    const double mass = mass_of(&args->clusters, (uint32_t)a, (uint32_t)b);
    c->pi0_found++;
    const uint32_t met_by_a = met_by(args, (uint32_t)a), met_by_b = met_by(args, (uint32_t)b);
    count_met(c->pi0_accepted, met_by_a < met_by_b ? met_by_a : met_by_b);
    spread_add(&c->mass, mass_range, mass / pi0_mass - 1);
    add_mass(c->pi0_pairs, mass);
    return;
  }
}

/* Counts the clusters that pairs are made of. */
static void add_clusters(struct photon_check *c, const struct photon_check_args *args, uint32_t event,
                         uint32_t photon_count) {
  for (uint32_t i = args->clusters.offsets[event]; i < args->clusters.offsets[event + 1]; i++) {
    int is_photon = 0;
    if (!is_pair_cluster(args, i)) continue;
    for (uint32_t k = 0; k < photon_count; k++) is_photon |= c->cluster[k] == (int32_t)i;
    count_met(c->clusters, met_by(args, i));
    if (is_photon) count_met(c->photon_clusters, met_by(args, i));
  }
}

/* --------------------------------------------------------------------------------------------------- the events */

static int check_event(struct photon_check *c, const struct photon_check_args *args, uint32_t event) {
  const uint32_t count = (uint32_t)(c->joined.size_bytes / sizeof(struct truth_photon));
  if (!mc_reserve((void **)&c->cluster, &c->capacity, count, sizeof *c->cluster)) return SL_ENOMEM;
  for (uint32_t i = 0; i < count; i++) {
    const struct truth_photon p = photon_at(c, i);
    c->cluster[i] = NO_CLUSTER;
    if (p.cell >= CALO_CELLS) {
      c->outside++;
      continue;
    }
    c->cluster[i] = cluster_of(args, event, &p);
    add_photon(c, args, &p, c->cluster[i]);
  }
  for (uint32_t i = 0; i < count; i++) add_pi0(c, args, i, count);
  add_pairs(c, args, event);
  add_clusters(c, args, event, count);
  return SL_OK;
}

static int decode(struct photon_check *c, const struct mc_photon_banks_view *photons, uint32_t event,
                  const char **reason) {
  const struct mc_banks_view banks = MC_BANKS_VIEW(photons);
  c->joined.size_bytes = 0;
  if (photons->offsets[event] == photons->offsets[event + 1]) return SL_OK;
  const int status = mc_join_banks(&c->joined, &banks, event, reason);
  if (status < 0) return status;
  *reason = "unsupported version, or a fraction of a photon at the end";
  return c->joined.version == TRUTH_PHOTONS_VERSION && c->joined.size_bytes % sizeof(struct truth_photon) == 0
             ? SL_OK
             : SL_EFORMAT;
}

static int photon_check_consume(void *state, const struct sl_services *s, const void *args_,
                                const struct sl_batch *batch) {
  const struct photon_check_args *args = (const struct photon_check_args *)args_;
  struct photon_check *c = (struct photon_check *)state;
  c->has_matches = args->matches.offsets ? 1 : 0;
  SL_FOR_BATCH (event, batch) {
    const struct sl_event *e = &batch->events[event];
    const int has_truth = args->mc_photons.offsets[event] != args->mc_photons.offsets[event + 1];
    const char *reason = "";
    if (tally_has_error(&c->tally, e)) continue;
    int status = decode(c, &args->mc_photons, event, &reason);
    status = tally_decoded(&c->tally, s, e, status, has_truth, reason);
    if (status == 1) status = check_event(c, args, event);
    if (status < 0) {
      s->message(s->context, SL_ERROR, "out of memory");
      return status;
    }
  }
  return SL_OK;
}

/* --------------------------------------------------------------------------------------------------- the report */

static void report_counts(const uint64_t counts[REQUIREMENTS], const char *key, const struct sl_report *r) {
  r->begin_array(r->context, key);
  for (uint32_t k = 0; k < REQUIREMENTS; k++) r->integer(r->context, NULL, (int64_t)counts[k]);
  r->end_array(r->context);
}

static void report_photons(const struct photons *n, const char *name, const struct sl_report *r) {
  const double share = ratio((double)n->found, (double)n->count), error = rate_error(n->found, n->count);
  const double median = spread_median(&n->energy, energy_range), width = spread_width(&n->energy, energy_range);
  const double x = spread_width(&n->x, x_range_mm);
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", name);
  r->integer(r->context, "photons", (int64_t)n->count);
  r->integer(r->context, "found", (int64_t)n->found);
  r->number(r->context, "efficiency", share);
  r->number(r->context, "error", error);
  r->number(r->context, "energy_median", median);
  r->number(r->context, "energy_width", width);
  r->number(r->context, "x_width", x);
  report_counts(n->accepted, "accepted", r);
  r->end_object(r->context);
  if (n->count > 0)
    r->line(r->context,
            "photons, %-16s %7" PRIu64 " / %-7" PRIu64
            " %6.2f +- %5.2f %%  energy: median %6.2f %%  width %6.2f %%  x: width %5.1f mm",
            name, n->found, n->count, 100 * share, 100 * error, 100 * median, 100 * width, x);
}

static void report_masses(const uint64_t cells[MASS_CELLS], const char *key, const struct sl_report *r) {
  r->begin_array(r->context, key);
  for (uint32_t i = 0; i < MASS_CELLS; i++) r->integer(r->context, NULL, (int64_t)cells[i]);
  r->end_array(r->context);
}

static void report_pi0(const struct photon_check *c, const struct sl_report *r) {
  const double median = pi0_mass * (1 + spread_median(&c->mass, mass_range));
  const double width = pi0_mass * spread_width(&c->mass, mass_range);
  r->begin_object(r->context, "pi0");
  r->integer(r->context, "count", (int64_t)c->pi0);
  r->integer(r->context, "found", (int64_t)c->pi0_found);
  r->number(r->context, "mass_median", c->pi0_found ? median : (double)NAN);
  r->number(r->context, "mass_width", width);
  r->end_object(r->context);
  report_masses(c->pairs, "pairs_by_mass", r);
  report_masses(c->pi0_pairs, "pi0_by_mass", r);
  if (c->pi0 > 0)
    r->line(r->context,
            "pi0 with both photons above pair_et_min: %" PRIu64 " / %" PRIu64 "  mass: median %.1f MeV  width %.1f MeV",
            c->pi0_found, c->pi0, median, width);
  spread_report_ignored(&c->mass, "masses", r);
}

/* The effect of the requirements of neutral clusters, if the matches are connected. */
static void report_requirements(const struct photon_check *c, const struct sl_report *r) {
  const struct photons *all = &c->photons[ALL];
  report_counts(c->clusters, "clusters", r);
  report_counts(c->photon_clusters, "photon_clusters", r);
  report_counts(c->pi0_accepted, "pi0_accepted", r);
  if (!c->has_matches || c->clusters[ANY_CLUSTER] == 0) return;
  for (uint32_t k = 0; k < REQUIREMENTS; k++)
    r->line(r->context,
            "clusters of pairs, %-30s of photons: %6.2f %% of %-6" PRIu64 " others: %6.2f %% of %-6" PRIu64
            " pi0: %6.2f %%  photons of any ET: %6.2f %%",
            requirement_names[k], 100 * ratio((double)c->photon_clusters[k], (double)c->photon_clusters[ANY_CLUSTER]),
            c->photon_clusters[ANY_CLUSTER],
            100 * ratio((double)(c->clusters[k] - c->photon_clusters[k]),
                        (double)(c->clusters[ANY_CLUSTER] - c->photon_clusters[ANY_CLUSTER])),
            c->clusters[ANY_CLUSTER] - c->photon_clusters[ANY_CLUSTER],
            100 * ratio((double)c->pi0_accepted[k], (double)c->pi0_found),
            100 * ratio((double)all->accepted[k], (double)all->found));
}

static int photon_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  const struct photon_check *c = (const struct photon_check *)state;
  tally_report(&c->tally, r);
  r->integer(r->context, "photons_outside", (int64_t)c->outside);
  r->begin_array(r->context, "photons");
  for (uint32_t bin = 0; bin <= BINS; bin++) report_photons(&c->photons[bin], bins[bin].name, r);
  r->end_array(r->context);
  spread_report_ignored(&c->photons[ALL].energy, "energies", r);
  spread_report_ignored(&c->photons[ALL].x, "positions", r);
  report_pi0(c, r);
  report_requirements(c, r);
  tally_warn(&c->tally, s);
  return SL_OK;
}

CHECK_SINK(photon_check, photon_check, "clusters in the calorimeter compared with true photons");
