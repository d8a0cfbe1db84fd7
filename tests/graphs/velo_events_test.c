/* velo_events_test.c: graphs/velo_pv.yaml on the six sample events, compared with an independent implementation in
 * double precision: numbers, hits of all tracks by checksum, and vertices to the printed digits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include <sluice/sluice.h>

#include <sys/stat.h>

#include <cmocka.h>

enum { EVENTS = 6, VERTICES = 7, DIGITS = 20 };

struct figures {
  uint32_t clusters, candidates, tracks, hits, backward, checksum;
};

/* clusters; candidates; tracks of four and more hits + accepted three-hit tracks; hits on tracks; backward; checksum */
static const struct figures expected[EVENTS] = {
    {3744, 555, 406 + 114, 3042, 226, 0xe96cfa57}, {984, 120, 95 + 21, 717, 48, 0x3edb6c4b},
    {1586, 227, 187 + 31, 1290, 109, 0x5ea5f5d5},  {1575, 227, 184 + 32, 1365, 81, 0xa0afb1fc},
    {2340, 283, 232 + 41, 1998, 59, 0xd3ef3837},   {746, 94, 82 + 10, 613, 36, 0x7787dd73},
};

/* z in mm, and the sum of the weights of the tracks. */
static const char expected_vertices[EVENTS][VERTICES][DIGITS] = {
    {"-73.14(69.8)", "-20.33(9.6)", "2.48(64.4)", "17.94(19.0)", "78.54(48.5)", "91.86(38.6)"},
    {"-28.09(13.4)", "-23.14(12.7)", "-5.38(17.8)", "32.29(9.1)"},
    {"-63.35(3.4)", "18.45(15.6)", "81.65(41.5)", "82.70(27.3)", "93.82(15.8)"},
    {"-42.26(7.5)", "-5.05(27.4)", "25.43(18.1)", "67.67(58.0)"},
    {"-127.69(38.1)", "-122.96(11.0)", "-45.34(7.3)", "-9.98(36.5)", "-1.00(16.5)", "42.21(23.7)"},
    {"-105.25(6.8)", "-40.70(10.4)", "81.33(25.1)"},
};

static struct figures found[EVENTS];
static char found_vertices[EVENTS][VERTICES][DIGITS];
static char data[512], graph[512];

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

/* The checksum of MDF files (plugins/io/README.md) over words. */
static uint32_t hash_word(uint32_t h, uint32_t word) {
  for (int b = 0; b < 4; b++) {
    h += (uint32_t)(int32_t)(int8_t)(word >> 8 * b);
    h += h << 10;
    h ^= h >> 6;
  }
  return h;
}

static uint32_t track_checksum(const struct sl_output_view *tracks, uint32_t first, uint32_t last) {
  const uint32_t *hit_offsets = field(tracks, "hit_offsets"), *id = field(tracks, "hit_id");
  uint32_t h = 0;
  for (uint32_t t = first; t < last; t++) {
    for (uint32_t i = hit_offsets[t]; i < hit_offsets[t + 1]; i++) h = hash_word(h, id[i]);
    h = hash_word(h, 0);
  }
  h += h << 3;
  h ^= h >> 11;
  return h + (h << 15);
}

static void print_vertices(const struct sl_output_view *vertices, uint32_t event, char (*into)[DIGITS]) {
  const uint32_t *offsets = field(vertices, "offsets"), first = offsets[event], count = offsets[event + 1] - first;
  const float *z = field(vertices, "z"), *weight = field(vertices, "weight");
  assert_true(count < VERTICES);
  for (uint32_t i = 0; i < count; i++)
    snprintf(into[i], DIGITS, "%.2f(%.1f)", (double)z[first + i], (double)weight[first + i]);
}

static int on_batch(void *context, const struct sl_batch *batch) {
  (void)context;
  const struct sl_output_view *hits = output(batch, "clusters"), *tracks = output(batch, "tracks");
  const struct sl_output_view *candidates = output(batch, "search.candidates"),
                              *states = output(batch, "fit.beamline_states");
  const uint32_t *hit_first = field(hits, "offsets"), *track_first = field(tracks, "offsets");
  const uint32_t *candidate_first = field(candidates, "offsets"), *hit_offsets = field(tracks, "hit_offsets");
  const uint8_t *backward = field(states, "backward");
  for (uint32_t e = 0; e < batch->event_count; e++) {
    const uint64_t number = batch->events[e].number;
    assert_in_range(number, 6001, 6006);
    assert_int_equal(batch->events[e].run, 6718861);
    struct figures *f = &found[number - 6001];
    const uint32_t first = track_first[e], last = track_first[e + 1];
    f->clusters = hit_first[e + 1] - hit_first[e];
    f->candidates = candidate_first[e + 1] - candidate_first[e];
    f->tracks = last - first;
    f->hits = hit_offsets[last] - hit_offsets[first];
    for (uint32_t t = first; t < last; t++) f->backward += backward[t];
    f->checksum = track_checksum(tracks, first, last);
    print_vertices(output(batch, "pv"), e, found_vertices[number - 6001]);
  }
  return 0;
}

static void six_events_agree_with_the_table(void **state) {
  const char *variant = *state;
  char geometry[600], input[600], text[900];
  snprintf(geometry, sizeof geometry, "geometry=%s/lhcb/geometry", data);
  snprintf(input, sizeof input, "%s/lhcb/minbias.mdf", data);
  snprintf(text, sizeof text,
           "sluice: 1\ninclude: [%s]\noutputs: [clusters, search.candidates, tracks, fit.beamline_states, pv]\n"
           "nodes: { search: { set: { variant: %s } } }\n",
           graph, variant);
  memset(found, 0, sizeof found);
  memset(found_vertices, 0, sizeof found_vertices);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = sl_options_default();
  o.graph_path = "table.yaml";
  o.graph_text = text;
  o.graph_text_bytes = strlen(text);
  o.input_paths = (const char *const[]){input, NULL};
  o.sets = (const char *const[]){geometry, NULL};
  o.on_batch = on_batch;
  struct sl_session *session = NULL;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  if (status != SL_OK) sl_diagnostics_print(d, stderr);
  assert_int_equal(status, SL_OK);
  assert_int_equal(sl_session_summary(session)->events, EVENTS);
  for (int e = 0; e < EVENTS; e++) {
    print_message("event %d: %u clusters, %u candidates, %u tracks, %u hits, %u backward, %08x\n", e, found[e].clusters,
                  found[e].candidates, found[e].tracks, found[e].hits, found[e].backward, found[e].checksum);
    assert_memory_equal(&found[e], &expected[e], sizeof expected[e]);
    for (int v = 0; v < VERTICES; v++) assert_string_equal(found_vertices[e][v], expected_vertices[e][v]);
  }
  sl_session_close(session);
  sl_diagnostics_free(d);
}

int main(void) {
  const char *root = getenv("SLUICE_ROOT"), *folder = getenv("SLUICE_DATA");
  snprintf(graph, sizeof graph, "%s/graphs/velo_pv.yaml", root ? root : ".");
  if (folder)
    snprintf(data, sizeof data, "%s", folder);
  else
    snprintf(data, sizeof data, "%s/../shared/data", root ? root : ".");
  char sample[600];
  struct stat status;
  snprintf(sample, sizeof sample, "%s/lhcb/minbias.mdf", data);
  if (stat(sample, &status) != 0) {
    printf("skipped: %s is absent; set SLUICE_DATA to the folder of the samples\n", sample);
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(six_events_agree_with_the_table, "shared"),
      cmocka_unit_test_prestate(six_events_agree_with_the_table, "tuned"),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
