/* ut_check.c: truth.ut_check, how well hits of the UT, and VELO tracks that go on there, agree with the true particles
 * (README.md).
 *
 * Hits: how many of the truth's ids are found, how many of those found stand in the truth, and how many ids were found
 * twice; where none stands in the truth, there are no ghosts to count. Tracks: as in velo_check.c, with purity and hit
 * efficiency of the hits in the UT. Momentum: of tracks of long
 * particles with hits in the UT, how far q/p is from the true one, in bins of the true p.
 */
#include "association.h"
#include "mc_particles.h"
#include "spread.h"
#include "tally.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define SL_ARGS ut_check_args
#define UT_CHECK(M)                                                                                              \
  M(IN, hits, ut_hits, "offsets id", "any order")                                                                \
  M(IN, tracks, ut_tracks, "offsets hit_offsets velo_track qop hit_id", "any order")                             \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_id", "those that go on")                              \
  M(IN, states, velo_end_states, "offsets tx ty", "of these")                                                    \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload", "any order") \
  M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")
SL_HOST_ARGUMENTS(ut_check, UT_CHECK);

/* ----------------------------------------------------------------------------------------------- categories */

enum { ELECTRONS = 1, NOT_LONG = 2 };

struct category {
  const char *name;
  uint32_t flags; /* MC_...: all are needed */
  uint32_t choice;
  float p_min, pt_min; /* MeV; p and pT must be larger */
};

static const struct category categories[] = {
    {"velo", MC_HAS_VELO, 0, -1, -1},
    {"velo and UT", MC_HAS_VELO | MC_HAS_UT, 0, -1, -1},
    {"velo and UT, p > 5 GeV", MC_HAS_VELO | MC_HAS_UT, 0, 5000, -1},
    {"velo, not long", MC_HAS_VELO, NOT_LONG, -1, -1},
    {"velo and UT, not long", MC_HAS_VELO | MC_HAS_UT, NOT_LONG, -1, -1},
    {"velo and UT, not long, p > 5 GeV", MC_HAS_VELO | MC_HAS_UT, NOT_LONG, 5000, -1},
    {"long", MC_IS_LONG, 0, -1, -1},
    {"long, p > 5 GeV", MC_IS_LONG, 0, 5000, -1},
    {"long, p > 3 GeV, pt > 0.5 GeV", MC_IS_LONG, 0, 3000, 500},
    {"long, p > 5 GeV, pt > 1 GeV", MC_IS_LONG, 0, 5000, 1000},
    {"long from B", MC_IS_LONG | MC_FROM_BEAUTY, 0, -1, -1},
    {"long from B, p > 5 GeV", MC_IS_LONG | MC_FROM_BEAUTY, 0, 5000, -1},
    {"long electrons", MC_IS_LONG, ELECTRONS, -1, -1},
    {"long electrons from B", MC_IS_LONG | MC_FROM_BEAUTY, ELECTRONS, -1, -1},
    {"long electrons from B, p > 5 GeV", MC_IS_LONG | MC_FROM_BEAUTY, ELECTRONS, 5000, -1},
};
enum { CATEGORIES = sizeof categories / sizeof categories[0] };

static int belongs(const struct category *c, const struct mc_particle *p) {
  return (p->flags & c->flags) == c->flags && mc_is_electron(p) == ((c->choice & ELECTRONS) != 0) &&
         !((c->choice & NOT_LONG) && (p->flags & MC_IS_LONG)) && p->p > c->p_min && p->pt > c->pt_min &&
         mc_in_acceptance(p);
}

/* Bins of the true momentum, MeV. */
static const struct {
  const char *name;
  float end;
} momenta[] = {{"p < 3 GeV", 3e3f},    {"3 to 5 GeV", 5e3f},   {"5 to 10 GeV", 1e4f},
               {"10 to 20 GeV", 2e4f}, {"20 to 50 GeV", 5e4f}, {"p > 50 GeV", INFINITY}};
enum { MOMENTA = sizeof momenta / sizeof momenta[0], ALL = MOMENTA };
static const double residual_range = 3; /* of a spread */

/* ----------------------------------------------------------------------------------------------- the check */

struct id_list {
  uint32_t *ids;
  uint32_t count, capacity;
};

struct ut_check {
  struct mc_event mc;
  struct association association;
  uint32_t id_mask;
  struct tally tally;
  struct id_list found, true_ids;
  uint64_t hits, hits_in_truth, hits_twice, true_hits, true_hits_found;
  uint64_t tracks, ghosts, fast_tracks, fast_ghosts;
  struct category_counts counts[CATEGORIES];
  struct spread residuals[MOMENTA + 1]; /* (q/p) / (true q/p) - 1 */
  uint64_t right_charges[MOMENTA + 1];
};

static int ut_check_open(void *state, const struct sl_services *s, const void *args, const char *output_path) {
  struct ut_check *c = (struct ut_check *)state;
  (void)s, (void)output_path;
  *c = (struct ut_check){.id_mask = association_velo_mask(((const struct ut_check_args *)args)->mask_fraction_bits),
                         .tally.truth = "MC particles"};
  return SL_OK;
}

static void ut_check_close(void *state) {
  struct ut_check *c = (struct ut_check *)state;
  mc_event_free(&c->mc);
  association_free(&c->association);
  free(c->found.ids);
  free(c->true_ids.ids);
}

static int compare_ids(const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

static int append_ids(struct id_list *list, const uint32_t *ids, uint32_t count) {
  if (list->count + count > list->capacity) {
    const uint32_t capacity = 2 * (list->count + count);
    uint32_t *larger = (uint32_t *)realloc(list->ids, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    list->ids = larger;
    list->capacity = capacity;
  }
  for (uint32_t i = 0; i < count; i++) list->ids[list->count++] = ids[i];
  return SL_OK;
}

/* Sorts, and takes out what is there twice; returns how many that were. */
static uint32_t make_unique(struct id_list *list) {
  uint32_t kept = 0;
  if (list->count > 0) qsort(list->ids, list->count, sizeof *list->ids, compare_ids);
  for (uint32_t i = 0; i < list->count; i++)
    if (kept == 0 || list->ids[i] != list->ids[kept - 1]) list->ids[kept++] = list->ids[i];
  const uint32_t twice = list->count - kept;
  list->count = kept;
  return twice;
}

static int check_hits(struct ut_check *c, const struct ut_hits_view *hits, uint32_t event) {
  const uint32_t first = hits->offsets[event], count = hits->offsets[event + 1] - first;
  c->found.count = c->true_ids.count = 0;
  int status = count > 0 ? append_ids(&c->found, hits->id + first, count) : SL_OK;
  for (uint32_t i = 0; status == SL_OK && i < c->mc.particle_count; i++) {
    const struct mc_hits *ut = &c->mc.particles[i].ut;
    if (ut->count > 0) status = append_ids(&c->true_ids, c->mc.ids + ut->first, ut->count);
  }
  if (status < 0) return status;
  c->hits += count;
  c->hits_twice += make_unique(&c->found);
  make_unique(&c->true_ids);
  c->true_hits += c->true_ids.count;
  uint32_t both = 0;
  for (uint32_t i = 0, k = 0; i < c->found.count && k < c->true_ids.count;) {
    if (c->found.ids[i] == c->true_ids.ids[k]) both++;
    if (c->found.ids[i] <= c->true_ids.ids[k])
      i++;
    else
      k++;
  }
  c->hits_in_truth += both;
  c->true_hits_found += both;
  return SL_OK;
}

static void count_match(struct ut_check *c, const struct match *match, uint32_t hit_count, double qop) {
  const struct mc_particle *particle = &c->mc.particles[match->particle];
  for (uint32_t k = 0; k < CATEGORIES; k++) {
    if (!belongs(&categories[k], particle)) continue;
    c->counts[k].matches++;
    c->counts[k].purity_sum += (double)match->shared_ut_hits / hit_count;
    c->counts[k].hit_efficiency_sum += ratio(match->shared_ut_hits, particle->ut.count);
  }
  const uint32_t wanted = MC_IS_LONG | MC_HAS_UT;
  if ((particle->flags & wanted) != wanted || mc_is_electron(particle) || !(particle->p > 0) || particle->charge == 0)
    return;
  const double relative = qop * (double)particle->p / (double)particle->charge;
  uint32_t bin = 0;
  while (bin + 1 < MOMENTA && particle->p >= momenta[bin].end) bin++;
  spread_add(&c->residuals[bin], residual_range, relative - 1);
  spread_add(&c->residuals[ALL], residual_range, relative - 1);
  c->right_charges[bin] += relative > 0;
  c->right_charges[ALL] += relative > 0;
}

static void count_particles(struct ut_check *c) {
  for (uint32_t i = 0; i < c->mc.particle_count; i++)
    for (uint32_t k = 0; k < CATEGORIES; k++)
      if (belongs(&categories[k], &c->mc.particles[i])) category_add(&c->counts[k], c->association.tracks[i]);
}

/* Whether a track has p > 3 GeV and pT > 0.5 GeV. */
static int is_fast(const struct ut_check_args *args, uint32_t state, double qop) {
  const double tx = (double)args->states.tx[state], ty = (double)args->states.ty[state], slope2 = tx * tx + ty * ty;
  const double p_min = 3000, pt_min = 500, p = 1 / fabs(qop);
  return p > p_min && p * sqrt(slope2 / (1 + slope2)) > pt_min;
}

/* Compares what an event has with the particles in c->mc. */
static int check_event(struct ut_check *c, const struct ut_check_args *args, uint32_t event) {
  const struct ut_tracks_view *tracks = &args->tracks;
  const struct velo_tracks_view *velo = &args->velo_tracks;
  if (association_begin(&c->association, &c->mc, c->id_mask)) return SL_ENOMEM;
  for (uint32_t track = tracks->offsets[event]; track < tracks->offsets[event + 1]; track++) {
    const uint32_t first = tracks->hit_offsets[track], count = tracks->hit_offsets[track + 1] - first;
    const uint32_t velo_track = velo->offsets[event] + tracks->velo_track[track];
    const uint32_t velo_first = velo->hit_offsets[velo_track];
    const double qop = (double)tracks->qop[track];
    association_match_ut(&c->association, velo->hit_id + velo_first, velo->hit_offsets[velo_track + 1] - velo_first,
                         tracks->hit_id + first, count);
    const uint64_t fast = is_fast(args, args->states.offsets[event] + tracks->velo_track[track], qop) ? 1 : 0;
    const uint64_t ghost = c->association.match_count == 0 ? 1 : 0;
    c->tracks++;
    c->ghosts += ghost;
    c->fast_tracks += fast;
    c->fast_ghosts += fast & ghost;
    for (uint32_t i = 0; i < c->association.match_count; i++) count_match(c, &c->association.matches[i], count, qop);
  }
  count_particles(c);
  return check_hits(c, &args->hits, event);
}

static int ut_check_consume(void *state, const struct sl_services *s, const void *args_, const struct sl_batch *batch) {
  const struct ut_check_args *args = (const struct ut_check_args *)args_;
  struct ut_check *c = (struct ut_check *)state;
  SL_FOR_BATCH (event, batch) {
    const struct sl_event *e = &batch->events[event];
    const int has_truth = args->mc_particles.offsets[event] != args->mc_particles.offsets[event + 1];
    const char *reason;
    if (tally_has_error(&c->tally, e)) continue;
    int status = mc_event_decode(&c->mc, &args->mc_particles, event, &reason);
    status = tally_decoded(&c->tally, s, e, status, has_truth, reason);
    if (status == 1) status = check_event(c, args, event);
    if (status < 0) {
      s->message(s->context, SL_ERROR, "out of memory");
      return status;
    }
  }
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------------- the report */

static void report_momentum(const struct sl_report *r, const struct ut_check *c, uint32_t bin) {
  const char *name = bin == ALL ? "all" : momenta[bin].name;
  const struct spread *residuals = &c->residuals[bin];
  const double charge = ratio((double)c->right_charges[bin], (double)residuals->count);
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", name);
  r->integer(r->context, "tracks", (int64_t)residuals->count);
  r->number(r->context, "mean", spread_mean(residuals));
  r->number(r->context, "width", spread_width(residuals, residual_range));
  r->number(r->context, "right_charge", charge);
  r->end_object(r->context);
  if (residuals->count == 0) return;
  r->line(r->context, "q/p, %-29s %7" PRIu64 " tracks  width %6.2f %%  mean %6.2f %%  charge right %6.2f %%", name,
          residuals->count, 100 * spread_width(residuals, residual_range), 100 * spread_mean(residuals), 100 * charge);
}

static int ut_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct ut_check *c = (struct ut_check *)state;
  const double efficiency = ratio((double)c->true_hits_found, (double)c->true_hits);
  const double purity = ratio((double)c->hits_in_truth, (double)c->hits);
  const int is_comparable = c->hits == 0 || c->hits_in_truth > 0;
  const double ghost_rate = is_comparable ? ratio((double)c->ghosts, (double)c->tracks) : (double)NAN;
  const double fast_ghost_rate = is_comparable ? ratio((double)c->fast_ghosts, (double)c->fast_tracks) : (double)NAN;
  tally_report(&c->tally, r);
  r->integer(r->context, "hits", (int64_t)c->hits);
  r->integer(r->context, "hits_in_truth", (int64_t)c->hits_in_truth);
  r->integer(r->context, "hits_twice", (int64_t)c->hits_twice);
  r->integer(r->context, "true_hits", (int64_t)c->true_hits);
  r->integer(r->context, "true_hits_found", (int64_t)c->true_hits_found);
  r->number(r->context, "hit_efficiency", efficiency);
  r->number(r->context, "hit_purity", purity);
  r->integer(r->context, "tracks", (int64_t)c->tracks);
  r->integer(r->context, "ghosts", (int64_t)c->ghosts);
  r->number(r->context, "ghost_rate", ghost_rate);
  r->integer(r->context, "fast_tracks", (int64_t)c->fast_tracks);
  r->integer(r->context, "fast_ghosts", (int64_t)c->fast_ghosts);
  r->number(r->context, "fast_ghost_rate", fast_ghost_rate);
  r->line(r->context,
          "UT hits of %" PRIu64 " events: %" PRIu64 ", %.2f %% of them true, %.2f %% of %" PRIu64
          " true ones found, %" PRIu64 " found twice",
          c->tally.events, c->hits, 100 * purity, 100 * efficiency, c->true_hits, c->hits_twice);
  if (is_comparable)
    r->line(r->context,
            "VELO-UT tracks: %" PRIu64 ", ghosts %" PRIu64 " (%.2f %%); p > 3 GeV and pt > 0.5 GeV: %" PRIu64
            ", ghosts %" PRIu64 " (%.2f %%)",
            c->tracks, c->ghosts, 100 * ghost_rate, c->fast_tracks, c->fast_ghosts, 100 * fast_ghost_rate);
  else
    r->line(r->context, "VELO-UT tracks: %" PRIu64, c->tracks);
  r->begin_array(r->context, "categories");
  for (uint32_t k = 0; k < CATEGORIES; k++) category_report(&c->counts[k], categories[k].name, r);
  r->end_array(r->context);
  r->begin_array(r->context, "momentum");
  for (uint32_t bin = 0; bin <= MOMENTA; bin++) report_momentum(r, c, bin);
  r->end_array(r->context);
  tally_warn(&c->tally, s);
  if (!is_comparable)
    s->message(s->context, SL_WARNING, "no UT hit's id stands in the truth: truth without the UT, or of other events");
  return SL_OK;
}

static const struct sl_sink ut_check_functions = {
    .open = ut_check_open, .consume = ut_check_consume, .finish = ut_check_finish, .close = ut_check_close};

SL_SINK(ut_check, "UT hits and VELO-UT tracks compared with the true particles", struct ut_check, ut_check_functions);
