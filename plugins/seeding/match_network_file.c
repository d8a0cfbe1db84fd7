/* match_network_file.c: see match_network_file.h. */
#include "match_network_file.h"

#include "match_network_text.h"

static const double number_max = 1e6;

/* inputs NAME..., in the order of a unit's weights */
static int read_inputs(struct statement *s, void *into, uint32_t index) {
#define NAME_(name) #name,
  static const char *const names[] = {MATCH_INPUTS(NAME_)};
#undef NAME_
  (void)into, (void)index;
  for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++)
    if (!statement_expect(s, names[i])) return 0;
  return 1;
}

/* unit BIAS OUTPUT WEIGHT..., one for each input */
static int read_unit(struct statement *s, void *into, uint32_t index) {
  struct match_network *r = (struct match_network *)into;
  (void)index;
  if (r->units == MATCH_HIDDEN) return statement_refuse(s, "more than %d units", MATCH_HIDDEN);
  float *n = r->numbers + r->units++;
  if (!statement_f32(s, "bias", -number_max, number_max, n + MATCH_NETWORK_BIASES) ||
      !statement_f32(s, "output", -number_max, number_max, n + MATCH_NETWORK_OUTPUTS))
    return 0;
  for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++)
    if (!statement_f32(s, "weight", -number_max, number_max, n + MATCH_NETWORK_WEIGHTS + MATCH_HIDDEN * i)) return 0;
  return 1;
}

static const struct statement_kind kinds[] = {
    {"inputs", .read = read_inputs},
    {"unit", .repeats = 1, .read = read_unit},
    {"output", .fields = {STATEMENT_FIELD(NULL, "bias", f32, -1e6, 1e6, struct match_network,
                                          numbers[MATCH_NETWORK_OUTPUT_BIAS])}}};

static int complete(struct statement *s, void *into) {
  struct match_network *r = (struct match_network *)into;
  r->numbers[MATCH_NETWORK_IS_PRESENT] = 1.0f;
  if (r->units == MATCH_HIDDEN) return 1;
  return statement_refuse(s, "%u units, expected %d", r->units, MATCH_HIDDEN);
}

const struct statement_format match_network_format = {"matching.network",
                                                      match_network_text,
                                                      kinds,
                                                      sizeof kinds / sizeof kinds[0],
                                                      sizeof(struct match_network),
                                                      complete};
