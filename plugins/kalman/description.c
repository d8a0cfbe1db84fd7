/* description.c: reads the constants of the transport of tracks. Statements `term` belong to the `polynomial` before.
 */
#include "kalman/description.h"

#include "geometry/statements.h"
#include "kalman_nominal_text.h"

#include <stdlib.h>

const char *const kalman_output_names[KALMAN_OUTPUTS] = {"x", "y", "tx", "ty"};

struct reader {
  struct kalman_description d;
  uint32_t format, is_begun;
  int leg, output; /* of the polynomial that is read now, if `is_begun` */
  int filled, expected;
  struct kalman_term terms[KALMAN_TERMS_MAX];
};

/* Returns 1 unless the polynomial that was begun lacks terms, else 0 after the reason. */
static int is_complete(struct statement *s, const struct reader *r) {
  if (!r->is_begun || r->filled == r->expected) return 1;
  return statement_refuse(s, "polynomial %d %s has %d of %d terms", r->leg, kalman_output_names[r->output], r->filled,
                          r->expected);
}

/* leg LEG from Z to Z x_max X y_max Y bend B */
static int check_leg(struct statement *s, void *into, uint32_t l) {
  const struct kalman_leg *leg = &((const struct reader *)into)->d.legs[l];
  if (leg->z_end <= leg->z_begin) return statement_refuse(s, "leg %u does not lead downstream", l);
  if (leg->bend == 0 || kalman_is_pointing(kalman_kind((int)l))) return 1;
  return statement_refuse(s, "the bend of leg %u is not 0: u is the slope there", l);
}

/* polynomial LEG OUTPUT */
static int begin_polynomial(struct statement *s, void *into, uint32_t index) {
  struct reader *r = (struct reader *)into;
  if (!is_complete(s, r)) return 0;
  r->is_begun = 1;
  r->leg = (int)index / KALMAN_OUTPUTS;
  r->output = (int)index % KALMAN_OUTPUTS;
  r->filled = 0;
  r->expected = kalman_list_terms(kalman_kind(r->leg), kalman_is_y(r->output), r->terms);
  return 1;
}

/* term COEFFICIENT POWER..., powers of X, Y, u, v and phi */
static int read_term(struct statement *s, void *into, uint32_t unused) {
  struct reader *r = (struct reader *)into;
  (void)unused;
  if (!r->is_begun) return statement_refuse(s, "a term without a polynomial");
  if (r->filled == r->expected)
    return statement_refuse(s, "polynomial %d %s has %d terms", r->leg, kalman_output_names[r->output], r->expected);
  const int *expected = r->terms[r->filled].power;
  uint32_t power[KALMAN_VARIABLES];
  int is_equal = 1;
  if (!statement_f64(s, "a coefficient", -1e9, 1e9, &r->d.legs[r->leg].coefficients[r->output][r->filled++])) return 0;
  for (int k = 0; k < KALMAN_VARIABLES; k++) {
    if (!statement_u32(s, "a power", 0, 15, &power[k])) return 0;
    is_equal &= (int)power[k] == expected[k];
  }
  if (is_equal) return 1;
  return statement_refuse(s, "powers %u %u %u %u %u, expected %d %d %d %d %d", power[0], power[1], power[2], power[3],
                          power[4], expected[0], expected[1], expected[2], expected[3], expected[4]);
}

#define FIELD(word, low, high, member) STATEMENT_FIELD(word, NULL, f64, low, high, struct kalman_leg, member)
static const struct statement_kind kinds[] = {
    {"kalman", .fields = {STATEMENT_FIELD(NULL, "format", u32, KALMAN_FORMAT, KALMAN_FORMAT, struct reader, format)}},
    {"leg", .index = {{.count = KALMAN_LEGS}}, .read = check_leg, STATEMENT_ELEMENTS(struct reader, d.legs),
     .fields = {FIELD("from", 1, 20000, z_begin), FIELD("to", 1, 20000, z_end), FIELD("x_max", 1, 10000, x_max),
                FIELD("y_max", 1, 10000, y_max), FIELD("bend", -10000, 10000, bend)}},
    {"polynomial",
     .index = {{.count = KALMAN_LEGS, .what = "leg"}, {.count = KALMAN_OUTPUTS, .names = kalman_output_names}},
     .read = begin_polynomial},
    {"term", .repeats = 1, .read = read_term}};

static int complete(struct statement *s, void *into) {
  const struct reader *r = (const struct reader *)into;
  if (!is_complete(s, r)) return 0;
  for (uint32_t l = 1; l < KALMAN_LEGS; l++)
    if (r->d.legs[l].z_begin != r->d.legs[l - 1].z_end)
      return statement_refuse(s, "leg %u does not begin where leg %u ends", l, l - 1);
  return 1;
}

static const struct statement_format format = {
    "nominal.kalman", kalman_nominal_text, kinds, sizeof kinds / sizeof kinds[0], sizeof(struct reader), complete};

uint32_t kalman_read(const char *text, size_t bytes, struct kalman_description *d, char *reason, size_t reason_size) {
  struct statement s = {.reason = reason, .reason_size = reason_size};
  struct reader *r = (struct reader *)malloc(sizeof *r);
  if (!r) return statement_refuse(&s, "no memory"), 1;
  const uint32_t line = statements_read(&format, text, bytes, r, reason, reason_size);
  *d = r->d;
  free(r);
  return line;
}

int kalman_load_path(const struct sl_services *services, const char *path, struct kalman_description *d) {
  struct reader *r = (struct reader *)malloc(sizeof *r);
  const int status = r ? statements_load(&format, services, path, r) : SL_ENOMEM;
  if (status == SL_OK) *d = r->d;
  free(r);
  return status;
}

void kalman_round(const struct kalman_description *d, struct kalman_polynomials *p) {
  for (int l = 0; l < KALMAN_LEGS; l++)
    kalman_round_leg(l, &d->legs[l], &p->legs[l], p->coefficients + kalman_first_coefficient(l));
}
