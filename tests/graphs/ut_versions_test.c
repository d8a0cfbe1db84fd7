/* ut_versions_test.c: simulated events with UT banks of versions 3 and 4 give the same hits and VELO-UT tracks, except
 * for losses of the formats (tests/sim/ut_versions_test.c): ids may differ by one strip, and 1 % of the clusters are
 * split in version 3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include <sluice/sluice.h>

#include <inttypes.h>
#include <math.h>

#include <cmocka.h>

enum { EVENTS = 200, TRACKS_MAX = 40000, HITS_MAX = 4, VERSIONS = 2, FIRST_VERSION = 3 };

struct track {
  uint32_t event, velo_track, hit_count, ids[HITS_MAX];
  double qop;
};

struct found {
  uint32_t hit_count[EVENTS], track_count;
  struct track tracks[TRACKS_MAX];
};
static struct found found[VERSIONS];
static char graph[512];

static const void *field(const struct sl_output_view *v, const char *name) {
  for (uint32_t f = 0; f < v->collection->field_count; f++)
    if (strcmp(v->collection->fields[f].name, name) == 0) return v->fields[f];
  fail_msg("%s has no field %s", v->name, name);
  return NULL;
}

static const struct sl_output_view *output(const struct sl_batch *batch, const char *name) {
  for (uint32_t o = 0; o < batch->output_count; o++)
    if (strcmp(batch->outputs[o].name, name) == 0) return &batch->outputs[o];
  fail_msg("no output %s", name);
  return NULL;
}

/* Called with the batches in order of events. */
static int on_batch(void *context, const struct sl_batch *batch) {
  struct found *f = context;
  const struct sl_output_view *hits = output(batch, "ut_hits"), *tracks = output(batch, "ut_tracks");
  const uint32_t *hit_first = field(hits, "offsets"), *track_first = field(tracks, "offsets");
  const uint32_t *first = field(tracks, "hit_offsets"), *velo_track = field(tracks, "velo_track");
  const uint32_t *ids = field(tracks, "hit_id");
  const float *qop = field(tracks, "qop");
  for (uint32_t e = 0; e < batch->event_count; e++) {
    const uint32_t event = (uint32_t)batch->events[e].number;
    assert_true(event < EVENTS);
    f->hit_count[event] = hit_first[e + 1] - hit_first[e];
    for (uint32_t t = track_first[e]; t < track_first[e + 1]; t++) {
      assert_true(f->track_count < TRACKS_MAX && first[t + 1] - first[t] <= HITS_MAX);
      struct track *track = &f->tracks[f->track_count++];
      *track = (struct track){event, velo_track[t], first[t + 1] - first[t], {0}, (double)qop[t]};
      memcpy(track->ids, ids + first[t], track->hit_count * sizeof track->ids[0]);
    }
  }
  return 0;
}

static void run(uint32_t version) {
  char setting[64];
  snprintf(setting, sizeof setting, "raw.ut_version=%u", version);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = sl_options_default();
  o.graph_path = graph;
  o.events = EVENTS;
  o.sets = (const char *const[]){setting, NULL};
  o.on_batch = on_batch;
  o.context = &found[version - FIRST_VERSION];
  struct sl_session *session = NULL;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  if (status != SL_OK) sl_diagnostics_print(d, stderr);
  assert_int_equal(status, SL_OK);
  sl_session_close(session);
  sl_diagnostics_free(d);
}

static int start(void **state) {
  (void)state;
  for (uint32_t v = 0; v < VERSIONS; v++) run(FIRST_VERSION + v);
  return 0;
}

static void version_3_has_all_hits_and_those_of_split_clusters(void **state) {
  (void)state;
  uint64_t sums[VERSIONS] = {0, 0};
  for (uint32_t e = 0; e < EVENTS; e++) {
    assert_true(found[0].hit_count[e] >= found[1].hit_count[e]);
    for (uint32_t v = 0; v < VERSIONS; v++) sums[v] += found[v].hit_count[e];
  }
  print_message("hits of versions 3 and 4: %" PRIu64 ", %" PRIu64 "\n", sums[0], sums[1]);
  assert_true(sums[1] > 200000 && sums[0] - sums[1] > 0 && (double)(sums[0] - sums[1]) < 0.01 * (double)sums[1]);
}

static int compare_tracks(const struct track *a, const struct track *b) {
  if (a->event != b->event) return a->event < b->event ? -1 : 1;
  return a->velo_track < b->velo_track ? -1 : a->velo_track > b->velo_track;
}

/* Whether the tracks have the same hits; ids may differ by one strip. */
static int has_same_hits(const struct track *v3, const struct track *v4) {
  for (uint32_t i = 0; i < v4->hit_count; i++)
    if (v4->ids[i] - v3->ids[i] > 1) return 0;
  return v3->hit_count == v4->hit_count;
}

static void nearly_all_tracks_are_the_same(void **state) {
  (void)state;
  const struct found *v3 = &found[0], *v4 = &found[1];
  uint32_t both = 0, same = 0, same_momentum = 0;
  for (uint32_t i = 0, k = 0; i < v3->track_count && k < v4->track_count;) {
    const struct track *a = &v3->tracks[i], *b = &v4->tracks[k];
    const int order = compare_tracks(a, b);
    i += order <= 0;
    k += order >= 0;
    if (order != 0) continue;
    both++;
    same += has_same_hits(a, b);
    same_momentum += fabs(a->qop / b->qop - 1) < 0.01;
  }
  print_message("tracks: %u, %u, %u of them of the same VELO tracks, %u with the same hits, %u with q/p within 1 %%\n",
                v3->track_count, v4->track_count, both, same, same_momentum);
  assert_true(v4->track_count > 10000);
  assert_true(both > 0.995 * v3->track_count && both > 0.995 * v4->track_count);
  assert_true(same > 0.99 * both && same_momentum > 0.85 * both);
}

int main(void) {
  const char *root = getenv("SLUICE_ROOT");
  snprintf(graph, sizeof graph, "%s/graphs/velo_ut.yaml", root ? root : ".");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_3_has_all_hits_and_those_of_split_clusters),
      cmocka_unit_test(nearly_all_tracks_are_the_same),
  };
  return cmocka_run_group_tests(tests, start, NULL);
}
