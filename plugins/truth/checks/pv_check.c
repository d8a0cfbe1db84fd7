/* pv_check.c: truth.pv_check, primary vertices compared with the true collisions (README.md).
 * vertex_score.h has the rules and counts. This file decodes the truth and reports totals, a table by number of
 * tracks (`bins`) and a table by distance to the next vertex (`distance_bins`). Events with an error, without banks
 * of vertices or with malformed ones are not counted. If the banks of an event have no vertex, all reconstructed
 * vertices are false; if no event has one, the false rate is undefined. */
#include "tally.h"
#include "vertex_score.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <math.h>

#define SL_ARGS pv_check_args
#define PV_CHECK(M)                                                                                             \
  M(IN, vertices, pv_vertices, "offsets ignored x y z c_xx c_yy c_zz weight", "reconstructed primary vertices") \
  M(IN, mc_vertices, mc_vertex_banks, "offsets source_id version size_bytes first_word payload",                \
    "banks with true vertices")                                                                                 \
  M(U32, tracks_min, 4, 1, 1000, "", "smallest number of tracks of a reconstructible true vertex")              \
  M(F32, isolation, 10, 0, 1000, "mm", "a true vertex without another one in this distance is isolated")
SL_HOST_ARGUMENTS(pv_check, PV_CHECK);

struct pv_check {
  struct tally tally;
  struct mc_vertices mc;
  struct vertex_score score;
  uint64_t true_vertices, ignored_tracks;
};

static int pv_check_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct pv_check_args *args = (const struct pv_check_args *)args_;
  struct pv_check *c = (struct pv_check *)state;
  (void)s, (void)output_path;
  c->tally.truth = "MC vertices";
  c->score.tracks_min = args->tracks_min;
  c->score.isolation = args->isolation;
  return SL_OK;
}

static void pv_check_close(void *state) {
  struct pv_check *c = (struct pv_check *)state;
  mc_vertices_free(&c->mc);
  vertex_score_free(&c->score);
}

static int pv_check_consume(void *state, const struct sl_services *s, const void *args_, const struct sl_batch *batch) {
  const struct pv_check_args *args = (const struct pv_check_args *)args_;
  struct pv_check *c = (struct pv_check *)state;
  SL_FOR_BATCH (event, batch) {
    const struct sl_event *e = &batch->events[event];
    const int has_truth = args->mc_vertices.offsets[event] != args->mc_vertices.offsets[event + 1];
    const char *reason;
    if (tally_has_error(&c->tally, e)) continue;
    c->ignored_tracks += args->vertices.ignored[event];
    int status = mc_vertices_decode(&c->mc, &args->mc_vertices, event, &reason);
    status = tally_decoded(&c->tally, s, e, status, has_truth, reason);
    if (status == 1) {
      c->true_vertices += c->mc.count;
      status = vertex_score_event(&c->score, &c->mc, &args->vertices, event);
    }
    if (status < 0) {
      s->message(s->context, SL_ERROR, "out of memory");
      return status;
    }
  }
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------------- the report */

static double efficiency_of(const struct score_truth *t) {
  return ratio((double)t->reconstructed, (double)t->reconstructible);
}

static double efficiency_all_of(const struct score_truth *t) {
  return ratio((double)t->matched, (double)t->reconstructible);
}

/* NaN (null in JSON) if the truth has no vertices. */
static double false_rate_of(const struct pv_check *c, const struct score_row *row) {
  if (c->true_vertices == 0) return (double)NAN;
  const double pairs = (double)row->spreads[SCORE_X].count;
  return ratio((double)row->false_vertices, pairs + (double)row->false_vertices);
}

static void report_truth(const struct sl_report *r, const struct score_truth *t) {
  r->integer(r->context, "reconstructible", (int64_t)t->reconstructible);
  r->integer(r->context, "reconstructed", (int64_t)t->reconstructed);
  r->integer(r->context, "matched", (int64_t)t->matched);
  r->integer(r->context, "clones", (int64_t)t->clones);
  r->number(r->context, "efficiency", efficiency_of(t));
  r->number(r->context, "efficiency_all", efficiency_all_of(t));
}

static void report_spread(const struct sl_report *r, const struct score_row *row, uint32_t quantity,
                          const char *const keys[3]) {
  const struct spread *s = &row->spreads[quantity];
  r->number(r->context, keys[0], spread_width(s, score_range(quantity)));
  r->number(r->context, keys[1], spread_rms(s));
  r->number(r->context, keys[2], spread_mean(s));
}

static void report_row(const struct sl_report *r, const struct pv_check *c, const struct score_row *row) {
  static const char *const keys[SCORE_QUANTITIES][3] = {
      {"resolution_x_mm", "resolution_x_rms_mm", "resolution_x_mean_mm"},
      {"resolution_y_mm", "resolution_y_rms_mm", "resolution_y_mean_mm"},
      {"resolution_z_mm", "resolution_z_rms_mm", "resolution_z_mean_mm"},
      {"pull_x", "pull_x_rms", "pull_x_mean"},
      {"pull_y", "pull_y_rms", "pull_y_mean"},
      {"pull_z", "pull_z_rms", "pull_z_mean"}};
  const uint64_t pairs = row->spreads[SCORE_X].count;
  report_truth(r, &row->truth);
  r->integer(r->context, "vertices", (int64_t)row->vertices);
  r->integer(r->context, "false", (int64_t)row->false_vertices);
  r->number(r->context, "false_rate", false_rate_of(c, row));
  r->integer(r->context, "pairs", (int64_t)pairs);
  r->number(r->context, "mean_weight", ratio(row->pairs_weight, (double)pairs));
  for (uint32_t k = 0; k < SCORE_QUANTITIES; k++) report_spread(r, row, k, keys[k]);
}

static void report_table(const struct sl_report *r, const struct pv_check *c, const char *name, const char *from,
                         const char *below, const double *edges, const struct score_row *rows, uint32_t bins) {
  r->begin_array(r->context, name);
  for (uint32_t k = 0; k < bins; k++) {
    r->begin_object(r->context, NULL);
    r->number(r->context, from, edges[k]);
    if (k + 1 < bins) r->number(r->context, below, edges[k + 1]);
    report_row(r, c, &rows[k]);
    r->end_object(r->context);
  }
  r->end_array(r->context);
}

static void report_isolation(const struct sl_report *r, const char *name, const struct score_truth *t) {
  r->begin_object(r->context, name);
  report_truth(r, t);
  r->end_object(r->context);
}

static void print_truth(const struct sl_report *r, const char *name, const struct score_truth *t) {
  if (t->reconstructible == 0) return;
  r->line(r->context, "%-34s %7" PRIu64 " / %-7" PRIu64 " %6.2f %%  with unreconstructible vertices %6.2f %%", name,
          t->reconstructed, t->reconstructible, 100 * efficiency_of(t), 100 * efficiency_all_of(t));
}

static void print_spreads(const struct sl_report *r, const struct score_row *row) {
  static const char *const names[3] = {"x", "y", "z"};
  for (uint32_t k = 0; k < 3; k++) spread_report_ignored(&row->spreads[SCORE_X + k], names[k], r);
  if (row->spreads[SCORE_X].count == 0) return;
  for (uint32_t k = 0; k < 3; k++) {
    const struct spread *residual = &row->spreads[SCORE_X + k], *pull = &row->spreads[SCORE_PULL_X + k];
    r->line(r->context, "%s: resolution %7.1f um (rms %7.1f), bias %6.1f um, pull %5.2f (rms %5.2f)", names[k],
            1000 * spread_width(residual, score_range(SCORE_X + k)), 1000 * spread_rms(residual),
            1000 * spread_mean(residual), spread_width(pull, score_range(SCORE_PULL_X + k)), spread_rms(pull));
  }
}

static void print_found(const struct sl_report *r, const struct pv_check *c) {
  const struct score_row *all = &c->score.all;
  if (c->true_vertices == 0)
    r->line(r->context, "primary vertices of %" PRIu64 " %s: %" PRIu64 ", none in the truth", c->tally.events,
            sl_plural(c->tally.events, "event", "events"), all->vertices);
  else
    r->line(r->context,
            "primary vertices of %" PRIu64 " %s: %" PRIu64 ", false %" PRIu64 " (%.2f %%), clones %" PRIu64
            " (%.2f %%)",
            c->tally.events, sl_plural(c->tally.events, "event", "events"), all->vertices, all->false_vertices,
            100 * false_rate_of(c, all), all->truth.clones,
            100 * ratio((double)all->truth.clones, (double)all->truth.matched));
}

static int pv_check_finish(void *state, const struct sl_services *s, const struct sl_report *r) {
  struct pv_check *c = (struct pv_check *)state;
  const struct vertex_score *score = &c->score;
  const struct score_row *all = &score->all;
  tally_report(&c->tally, r);
  r->integer(r->context, "true_vertices", (int64_t)c->true_vertices);
  r->integer(r->context, "ignored_tracks", (int64_t)c->ignored_tracks);
  report_row(r, c, all);
  report_isolation(r, "isolated", &score->isolated);
  report_isolation(r, "close", &score->close);
  report_table(r, c, "bins", "tracks_from", "tracks_below", score_track_edges, score->by_tracks, SCORE_TRACK_BINS);
  report_table(r, c, "distance_bins", "distance_from_mm", "distance_below_mm", score_distance_edges, score->by_distance,
               SCORE_DISTANCE_BINS);
  print_found(r, c);
  print_truth(r, "all", &all->truth);
  print_truth(r, "isolated", &score->isolated);
  print_truth(r, "close", &score->close);
  print_spreads(r, all);
  tally_warn(&c->tally, s);
  if (c->ignored_tracks > 0)
    s->message(s->context, SL_WARNING, "%" PRIu64 " %s with values that are not finite %s ignored", c->ignored_tracks,
               sl_plural(c->ignored_tracks, "track", "tracks"), sl_plural(c->ignored_tracks, "was", "were"));
  if (c->tally.events > 0 && c->true_vertices == 0)
    s->message(s->context, SL_WARNING, "the truth has no vertex in any event: the rate of false vertices is undefined");
  return SL_OK;
}

CHECK_SINK(pv_check, pv_check, "primary vertices compared with the true collisions");
