/* ut_check.c: truth.ut_check, how well hits of the UT, and VELO tracks that go on there, agree with the true particles
 * (README.md).
 *
 * Hits: how many of the truth's ids are found, how many of those found stand in the truth, and how many ids were found
 * twice; where none stands in the truth, there are no ghosts to count. Tracks: as track_check.h has it. Momentum: of
 * tracks of long particles with hits in the UT.
 */
#include "momenta.h"
#include "track_check.h"
#include "ut/event_model.h"

#include <sluice/plugin.h>

#include <inttypes.h>
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

static const double momentum_range = 3; /* of the spreads */

/* ----------------------------------------------------------------------------------------------- the check */

struct id_list {
  uint32_t *ids;
  uint32_t count, capacity;
};

struct ut_check {
  struct track_check tracks; /* the first member */
  struct id_list found, true_ids;
  uint64_t hits, hits_in_truth, hits_twice, true_hits, true_hits_found;
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
  const struct mc_event *mc = &c->tracks.mc;
  c->found.count = c->true_ids.count = 0;
  int status = count > 0 ? append_ids(&c->found, hits->id + first, count) : SL_OK;
  for (uint32_t i = 0; status == SL_OK && i < mc->particle_count; i++) {
    const struct mc_hits *ut = &mc->particles[i].ut;
    if (ut->count > 0) status = append_ids(&c->true_ids, mc->ids + ut->first, ut->count);
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

static int check_event(struct track_check *tracks_check, const void *args_, uint32_t event) {
  struct ut_check *c = (struct ut_check *)tracks_check;
  const struct ut_check_args *args = (const struct ut_check_args *)args_;
  const struct ut_tracks_view *tracks = &args->tracks;
  for (uint32_t i = tracks->offsets[event]; i < tracks->offsets[event + 1]; i++) {
    const uint32_t first = tracks->hit_offsets[i], velo_track = tracks->velo_track[i];
    const double qop = (double)tracks->qop[i];
    const struct track_hits track = {.in = {[MC_VELO] = velo_hits_of(&args->velo_tracks, event, velo_track),
                                            [MC_UT] = {tracks->hit_id + first, tracks->hit_offsets[i + 1] - first}}};
    track_check_add_momentum(&c->tracks, &track, &args->states, args->states.offsets[event] + velo_track, qop);
    const struct association *a = &c->tracks.association;
    for (uint32_t k = 0; k < a->match_count; k++)
      momenta_add(&c->momenta, momentum_range, &c->tracks.mc.particles[a->matches[k].particle], MC_IS_LONG | MC_HAS_UT,
                  qop);
  }
  return check_hits(c, &args->hits, event);
}

static int ut_check_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  return track_check_consume(&((struct ut_check *)state)->tracks, s, batch,
                             &((const struct ut_check_args *)args)->mc_particles, check_event, args);
}

/* ----------------------------------------------------------------------------------------------- the report */

static int ut_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct ut_check *c = (struct ut_check *)state;
  const double efficiency = ratio((double)c->true_hits_found, (double)c->true_hits);
  const double purity = ratio((double)c->hits_in_truth, (double)c->hits);
  const int is_comparable = c->hits == 0 || c->hits_in_truth > 0;
  tally_report(&c->tracks.tally, r);
  r->integer(r->context, "hits", (int64_t)c->hits);
  r->integer(r->context, "hits_in_truth", (int64_t)c->hits_in_truth);
  r->integer(r->context, "hits_twice", (int64_t)c->hits_twice);
  r->integer(r->context, "true_hits", (int64_t)c->true_hits);
  r->integer(r->context, "true_hits_found", (int64_t)c->true_hits_found);
  r->number(r->context, "hit_efficiency", efficiency);
  r->number(r->context, "hit_purity", purity);
  r->line(r->context,
          "UT hits of %" PRIu64 " events: %" PRIu64 ", %.2f %% of them true, %.2f %% of %" PRIu64
          " true ones found, %" PRIu64 " found twice",
          c->tracks.tally.events, c->hits, 100 * purity, 100 * efficiency, c->true_hits, c->hits_twice);
  track_check_report_ghosts(&c->tracks, r, "VELO-UT tracks", is_comparable);
  track_check_report_categories(&c->tracks, r);
  momenta_report(&c->momenta, momentum_range, r);
  tally_warn(&c->tracks.tally, s);
  if (!is_comparable)
    s->message(s->context, SL_WARNING, "no UT hit's id stands in the truth: truth without the UT, or of other events");
  return SL_OK;
}

static const struct sl_sink ut_check_functions = {
    .open = ut_check_open, .consume = ut_check_consume, .finish = ut_check_finish, .close = ut_check_close};

SL_SINK(ut_check, "UT hits and VELO-UT tracks compared with the true particles", struct ut_check, ut_check_functions);
