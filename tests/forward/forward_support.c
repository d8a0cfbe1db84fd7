/* forward_support.c: see forward_support.h. */
#include "forward_support.h"

#include "scratch.h"

static const float *array_of(const struct forward_constant *f, const char *field) {
  return sl_test_output(f->made, "forward", field);
}

void forward_constant_open(struct forward_constant *f) {
  char folder[SCRATCH_PATH_MAX];
  scratch_folder(folder);
  f->made = sl_test_new(FORWARD_PLUGIN, "constants");
  sl_test_set_text(f->made, "path", folder);
  assert_int_equal(sl_test_run(f->made), 0);
  f->view.z_layer = array_of(f, "z_layer");
  f->view.dxdy = array_of(f, "dxdy");
  f->view.kick = array_of(f, "kick");
  f->view.y_shift = array_of(f, "y_shift");
  f->view.bend = array_of(f, "bend");
  f->view.constants = array_of(f, "constants");
}

void forward_constant_give(const struct forward_constant *f, struct sl_test *t, const char *fields) {
  give(t, "forward", f->made, "forward", fields);
}

void forward_constant_close(struct forward_constant *f) { sl_test_free(f->made); }

void give(struct sl_test *to, const char *port, const struct sl_test *from, const char *output, const char *fields) {
  char names[256], *rest = names;
  snprintf(names, sizeof names, "%s", fields);
  for (const char *field; (field = strtok_r(rest, " ", &rest));)
    sl_test_input(to, port, field, sl_test_output(from, output, field), sl_test_output_count(from, output, field));
}

void case_add_track(struct forward_case *c, uint32_t event, float x, float y, float tx, float ty, float qop) {
  const uint32_t i = c->offsets[CASE_EVENTS];
  assert_true(i < CASE_TRACKS && (event + 1 == CASE_EVENTS || c->offsets[event + 1] == i));
  c->x[i] = x;
  c->y[i] = y;
  c->tx[i] = c->velo_tx[i] = tx;
  c->ty[i] = c->velo_ty[i] = ty;
  c->qop[i] = qop;
  c->velo_track[i] = i - c->offsets[event];
  c->ut_track[i] = qop == 0 ? FORWARD_NO_TRACK : c->velo_track[i];
  c->velo_z[i] = 770;
  c->velo_x[i] = x + tx * (770 - 2642);
  c->velo_y[i] = y + ty * (770 - 2642);
  for (uint32_t e = event; e < CASE_EVENTS; e++) c->offsets[e + 1] = i + 1;
}

void case_add_hit(struct forward_case *c, uint32_t event, uint32_t zone, float x) {
  uint32_t *count = &c->zone_counts[event][zone], place = *count;
  float *at = c->zone_x[event][zone];
  assert_true(*count < CASE_ZONE_HITS);
  for (; place > 0 && at[place - 1] > x; place--) at[place] = at[place - 1];
  at[place] = x;
  (*count)++;
}

void case_finish(struct forward_case *c) {
  uint32_t hits = 0;
  for (uint32_t event = 0; event < CASE_EVENTS; event++) {
    uint16_t *first = c->zone_first + event * (SCIFI_ZONES + 1);
    c->hit_offsets[event] = hits;
    for (uint32_t zone = 0; zone < SCIFI_ZONES; zone++) {
      first[zone] = (uint16_t)(hits - c->hit_offsets[event]);
      for (uint32_t i = 0; i < c->zone_counts[event][zone]; i++) c->hit_x[hits++] = c->zone_x[event][zone][i];
    }
    first[SCIFI_ZONES] = (uint16_t)(hits - c->hit_offsets[event]);
  }
  c->hit_offsets[CASE_EVENTS] = hits;
}

static void give_named(struct sl_test *t, const char *port, const char *fields, const char *const *names,
                       const void *const *values, uint32_t count, uint32_t items) {
  char wanted[256], *rest = wanted;
  snprintf(wanted, sizeof wanted, "%s", fields);
  for (const char *field; (field = strtok_r(rest, " ", &rest));) {
    uint32_t k = 0;
    while (k < count && strcmp(names[k], field) != 0) k++;
    assert_true(k < count);
    sl_test_input(t, port, field, values[k], items);
  }
}

void case_give_inputs(const struct forward_case *c, struct sl_test *t, const char *fields) {
  static const char *const names[] = {"velo_track", "ut_track", "x", "y", "tx", "ty", "qop"};
  const void *const values[] = {c->velo_track, c->ut_track, c->x, c->y, c->tx, c->ty, c->qop};
  sl_test_events(t, CASE_EVENTS);
  sl_test_input(t, "inputs", "offsets", c->offsets, CASE_EVENTS + 1);
  give_named(t, "inputs", fields, names, values, 7, c->offsets[CASE_EVENTS]);
}

void case_give_states(const struct forward_case *c, struct sl_test *t, const char *fields) {
  static const char *const names[] = {"x", "y", "z", "tx", "ty"};
  const void *const values[] = {c->velo_x, c->velo_y, c->velo_z, c->velo_tx, c->velo_ty};
  sl_test_input(t, "end_states", "offsets", c->offsets, CASE_EVENTS + 1);
  give_named(t, "end_states", fields, names, values, 5, c->offsets[CASE_EVENTS]);
}

void case_give_hits(const struct forward_case *c, struct sl_test *t) {
  sl_test_input(t, "hits", "offsets", c->hit_offsets, CASE_EVENTS + 1);
  sl_test_input(t, "hits", "zone_first", c->zone_first, CASE_EVENTS * (SCIFI_ZONES + 1));
  sl_test_input(t, "hits", "x", c->hit_x, c->hit_offsets[CASE_EVENTS]);
}

float random_between(float low, float high) {
  static uint32_t state = 7;
  state = state * 1664525u + 1013904223u;
  return low + (high - low) * (float)(state >> 8) / 16777216.0f;
}
