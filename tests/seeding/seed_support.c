/* seed_support.c: see seed_support.h. */
#include "seed_support.h"

#include "scratch.h"

int seed_is_shared = 1, seed_is_tuned = 0;

static const float *array_of(const struct seeding_constant *s, const char *field) {
  return sl_test_output(s->made, "seeding", field);
}

void seeding_constant_open(struct seeding_constant *s) {
  char folder[SCRATCH_PATH_MAX];
  scratch_folder(folder);
  s->made = sl_test_new(SEEDING_PLUGIN, "constants");
  sl_test_set_text(s->made, "path", folder);
  assert_int_equal(sl_test_run(s->made), 0);
  s->view.d = array_of(s, "d");
  s->view.bend = array_of(s, "bend");
  s->view.cases = array_of(s, "cases");
  s->view.constants = array_of(s, "constants");
}

void seeding_constant_give(const struct seeding_constant *s, struct sl_test *t, const char *fields) {
  give(t, "seeding", s->made, "seeding", fields);
}

void seeding_constant_close(struct seeding_constant *s) { sl_test_free(s->made); }

double seed_x(double a, double b, double c, uint32_t i) {
  static const double z[SCIFI_X_LAYERS] = {7826.106, 8035.9048, 8508.1064, 8717.9043, 9193.1064, 9402.9043};
  const double d = z[i] - 8520;
  return a + b * d + c * d * d * (1 - 0.00028 * d);
}
