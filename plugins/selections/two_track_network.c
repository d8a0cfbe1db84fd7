/* selections.two_track_network: loads the weights of the two-track network (README.md, "Two-track network"). */
#include "selections/two_track_network.h"

#include "geometry/statements.h"
#include "two_track_network_text.h"

#include <string.h>

#define SL_ARGS two_track_network_args
#define TWO_TRACK_NETWORK(M)                                                             \
  M(FILE_IN, path, "", "", "file of the network's weights; empty: the built-in weights") \
  M(OUT, network, two_track_network, "weights, biases and lambda, in the order of two_track_network.h")
SL_HOST_ARGUMENTS(two_track_network, TWO_TRACK_NETWORK);

struct reader {
  float numbers[TWO_TRACK_NUMBERS];
  uint32_t first, second; /* units read so far */
};

static const double number_max = 1e6;

/* BIAS WEIGHT..., `step` numbers apart. */
static int read_unit(struct statement *s, float *bias, float *weights, uint32_t count, uint32_t step) {
  if (!statement_f32(s, "bias", -number_max, number_max, bias)) return 0;
  for (uint32_t i = 0; i < count; i++)
    if (!statement_f32(s, "weight", -number_max, number_max, weights + (size_t)step * i)) return 0;
  return 1;
}

/* inputs NAME..., in the order of the weights of a unit */
static int read_inputs(struct statement *s, void *into, uint32_t index) {
#define NAME_(name) #name,
  static const char *const names[] = {TWO_TRACK_INPUTS(NAME_)};
#undef NAME_
  (void)into, (void)index;
  for (uint32_t i = 0; i < TWO_TRACK_INPUT_COUNT; i++)
    if (!statement_expect(s, names[i])) return 0;
  return 1;
}

static int read_first(struct statement *s, void *into, uint32_t index) {
  struct reader *r = (struct reader *)into;
  (void)index;
  if (r->first == TWO_TRACK_UNITS) return statement_refuse(s, "more than %d units", TWO_TRACK_UNITS);
  const uint32_t unit = r->first++;
  return read_unit(s, r->numbers + TWO_TRACK_FIRST_BIAS + unit,
                   r->numbers + TWO_TRACK_FIRST + (size_t)TWO_TRACK_INPUT_COUNT * unit, TWO_TRACK_INPUT_COUNT, 1);
}

static int read_second(struct statement *s, void *into, uint32_t index) {
  struct reader *r = (struct reader *)into;
  (void)index;
  if (r->second == TWO_TRACK_UNITS) return statement_refuse(s, "more than %d units", TWO_TRACK_UNITS);
  const uint32_t unit = r->second++;
  return read_unit(s, r->numbers + TWO_TRACK_SECOND_BIAS + unit, r->numbers + TWO_TRACK_SECOND + unit, TWO_TRACK_UNITS,
                   TWO_TRACK_UNITS);
}

static int read_output(struct statement *s, void *into, uint32_t index) {
  struct reader *r = (struct reader *)into;
  (void)index;
  return read_unit(s, r->numbers + TWO_TRACK_OUTPUT_BIAS, r->numbers + TWO_TRACK_OUTPUT, TWO_TRACK_UNITS, 1);
}

static const struct statement_kind kinds[] = {
    {"inputs", .read = read_inputs},
    {"lambda", .fields = {STATEMENT_FIELD(NULL, "lambda", f32, 0, 1e6, struct reader, numbers[TWO_TRACK_LAMBDA])}},
    {"first", .repeats = 1, .read = read_first},
    {"second", .repeats = 1, .read = read_second},
    {"output", .read = read_output}};

static int complete(struct statement *s, void *into) {
  const struct reader *r = (const struct reader *)into;
  if (r->first == TWO_TRACK_UNITS && r->second == TWO_TRACK_UNITS) return 1;
  return statement_refuse(s, "%u units in the first layer and %u in the second, expected %d each", r->first, r->second,
                          TWO_TRACK_UNITS);
}

static const struct statement_format format = {"two_track.network",
                                               two_track_network_text,
                                               kinds,
                                               sizeof kinds / sizeof kinds[0],
                                               sizeof(struct reader),
                                               complete};

static int make(const struct sl_services *s, const struct two_track_network_args *args) {
  float *numbers = s->make_array(s->context, "network", "numbers", TWO_TRACK_NUMBERS);
  if (!numbers) return SL_ENOMEM;
  struct reader r;
  const int status = statements_load(&format, s, args->path, &r);
  if (status == SL_OK) memcpy(numbers, r.numbers, sizeof r.numbers);
  return status;
}

SL_CONSTANT(two_track_network, "weights of the two-track network, built in or from a file", make);
