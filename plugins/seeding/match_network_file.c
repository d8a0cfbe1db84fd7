/* match_network_file.c: see match_network_file.h. */
#include "match_network_file.h"

struct reader {
  float *network;
  uint32_t has_inputs, units, has_output;
};

/* inputs NAME..., in the order in which weights of a unit stand */
static int read_inputs(struct io_statement *s, struct reader *r) {
#define NAME_(name) #name,
  static const char *const names[] = {MATCH_INPUTS(NAME_)};
#undef NAME_
  for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++)
    if (!io_statement_expect(s, names[i])) return 0;
  return io_statement_once(s, &r->has_inputs, 0);
}

static const float number_max = 1e6f;

/* unit BIAS OUTPUT WEIGHT..., one for each input */
static int read_unit(struct io_statement *s, struct reader *r) {
  if (r->units == MATCH_HIDDEN) return io_statement_refuse(s, "more than %d units", MATCH_HIDDEN);
  float *n = r->network + r->units;
  if (!io_statement_number(s, "bias", -number_max, number_max, n + MATCH_NETWORK_BIASES)) return 0;
  if (!io_statement_number(s, "output", -number_max, number_max, n + MATCH_NETWORK_OUTPUTS)) return 0;
  for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++)
    if (!io_statement_number(s, "weight", -number_max, number_max, n + MATCH_NETWORK_WEIGHTS + MATCH_HIDDEN * i))
      return 0;
  r->units++;
  return 1;
}

/* output BIAS */
static int read_output(struct io_statement *s, struct reader *r) {
  return io_statement_once(s, &r->has_output, 0) &&
         io_statement_number(s, "bias", -number_max, number_max, r->network + MATCH_NETWORK_OUTPUT_BIAS);
}

static int read_line(struct io_statement *s, void *into) {
  struct reader *r = (struct reader *)into;
  if (io_statement_is(s, "inputs")) return read_inputs(s, r);
  if (io_statement_is(s, "unit")) return read_unit(s, r);
  if (io_statement_is(s, "output")) return read_output(s, r);
  return io_statement_unknown(s);
}

uint32_t match_network_read(const char *text, size_t bytes, void *network, char *reason, size_t reason_size) {
  struct reader r = {.network = (float *)network};
  uint32_t lines = 0;
  const uint32_t line = io_statements_read(text, bytes, read_line, &r, reason, reason_size, &lines);
  if (line != 0) return line;
  if (r.has_inputs && r.has_output && r.units == MATCH_HIDDEN) {
    r.network[MATCH_NETWORK_IS_THERE] = 1.0f;
    return 0;
  }
  if (r.has_inputs && r.has_output)
    snprintf(reason, reason_size, "%u units, expected %d", r.units, MATCH_HIDDEN);
  else
    snprintf(reason, reason_size, "%s is missing", r.has_inputs ? "output" : "inputs");
  return lines;
}
