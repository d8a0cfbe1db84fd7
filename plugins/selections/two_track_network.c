/* selections.two_track_network: the network that judges vertices of two tracks (README.md, "Two-track network"). */
#include "selections/two_track_network.h"

#include "io/statements.h"
#include "two_track_network_text.h"

#define SL_ARGS two_track_network_args
#define TWO_TRACK_NETWORK(M)                                                             \
  M(FILE_IN, path, "", "", "file of the network's weights; empty: the built-in weights") \
  M(OUT, network, two_track_network, "its numbers, as two_track_network.h has them")
SL_HOST_ARGUMENTS(two_track_network, TWO_TRACK_NETWORK);

struct reader {
  float *numbers;
  uint32_t first, second; /* units so far */
  uint32_t has_inputs, has_lambda, has_output;
};

static const float number_max = 1e6f;

static int read_number(struct io_statement *s, const char *what, float *to) {
  return io_statement_number(s, what, -number_max, number_max, to);
}

/* BIAS WEIGHT..., `step` numbers apart. */
static int read_unit(struct io_statement *s, float *bias, float *weights, uint32_t count, uint32_t step) {
  if (!read_number(s, "bias", bias)) return 0;
  for (uint32_t i = 0; i < count; i++)
    if (!read_number(s, "weight", weights + (size_t)step * i)) return 0;
  return 1;
}

/* inputs NAME..., in the order in which weights of a unit stand */
static int read_inputs(struct io_statement *s, struct reader *r) {
#define NAME_(name) #name,
  static const char *const names[] = {TWO_TRACK_INPUTS(NAME_)};
#undef NAME_
  for (uint32_t i = 0; i < TWO_TRACK_INPUT_COUNT; i++)
    if (!io_statement_expect(s, names[i])) return 0;
  return io_statement_once(s, &r->has_inputs, 0);
}

static int read_first(struct io_statement *s, struct reader *r) {
  if (r->first == TWO_TRACK_UNITS) return io_statement_refuse(s, "more than %d units", TWO_TRACK_UNITS);
  const uint32_t unit = r->first++;
  return read_unit(s, r->numbers + TWO_TRACK_FIRST_BIAS + unit,
                   r->numbers + TWO_TRACK_FIRST + (size_t)TWO_TRACK_INPUT_COUNT * unit, TWO_TRACK_INPUT_COUNT, 1);
}

static int read_second(struct io_statement *s, struct reader *r) {
  if (r->second == TWO_TRACK_UNITS) return io_statement_refuse(s, "more than %d units", TWO_TRACK_UNITS);
  const uint32_t unit = r->second++;
  return read_unit(s, r->numbers + TWO_TRACK_SECOND_BIAS + unit, r->numbers + TWO_TRACK_SECOND + unit, TWO_TRACK_UNITS,
                   TWO_TRACK_UNITS);
}

static int read_output(struct io_statement *s, struct reader *r) {
  return io_statement_once(s, &r->has_output, 0) &&
         read_unit(s, r->numbers + TWO_TRACK_OUTPUT_BIAS, r->numbers + TWO_TRACK_OUTPUT, TWO_TRACK_UNITS, 1);
}

static int read_line(struct io_statement *s, void *into) {
  struct reader *r = (struct reader *)into;
  if (io_statement_is(s, "inputs")) return read_inputs(s, r);
  if (io_statement_is(s, "lambda"))
    return io_statement_once(s, &r->has_lambda, 0) &&
           io_statement_number(s, "lambda", 0, number_max, r->numbers + TWO_TRACK_LAMBDA);
  if (io_statement_is(s, "first")) return read_first(s, r);
  if (io_statement_is(s, "second")) return read_second(s, r);
  if (io_statement_is(s, "output")) return read_output(s, r);
  return io_statement_unknown(s);
}

static const char *missing(const struct reader *r) {
  if (!r->has_inputs) return "inputs";
  if (!r->has_lambda) return "lambda";
  return r->has_output ? NULL : "output";
}

/* An io_description_read; the description is the array `numbers`. */
static uint32_t read_network(const char *text, size_t bytes, void *numbers, char *reason, size_t reason_size) {
  struct reader r = {.numbers = (float *)numbers};
  uint32_t lines = 0;
  const uint32_t line = io_statements_read(text, bytes, read_line, &r, reason, reason_size, &lines);
  if (line != 0) return line;
  const int has_units = r.first == TWO_TRACK_UNITS && r.second == TWO_TRACK_UNITS;
  if (!missing(&r) && has_units) return 0;
  if (missing(&r))
    snprintf(reason, reason_size, "%s is missing", missing(&r));
  else
    snprintf(reason, reason_size, "%u and %u units, expected %d of each layer", r.first, r.second, TWO_TRACK_UNITS);
  return lines;
}

static int make(const struct sl_services *s, const struct two_track_network_args *args) {
  float *numbers = s->make_array(s->context, "network", "numbers", TWO_TRACK_NUMBERS);
  if (!numbers) return SL_ENOMEM;
  return io_description_load(s, args->path, two_track_network_text, "two_track.network", read_network, numbers);
}

SL_CONSTANT(two_track_network, "the network that judges vertices of two tracks, LHCb's or a file's", make);
