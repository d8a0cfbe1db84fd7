/* file.c: reads the text of a network. */
#include "file.h"

#include <string.h>

static const double number_max = 1e6;
static const char *const activations[NETWORK_ACTIVATIONS] = NETWORK_ACTIVATION_NAMES;

/* inputs NAME... */
static int read_inputs(struct statement *s, void *into, uint32_t index) {
  struct network_file *f = (struct network_file *)into;
  char word[STATEMENT_WORD_BYTES];
  (void)index;
  while (statement_word(s, word, sizeof word)) {
    if (f->input_count == NETWORK_INPUTS_MAX) return statement_refuse(s, "more than %d inputs", NETWORK_INPUTS_MAX);
    for (uint32_t i = 0; i < f->input_count; i++)
      if (strcmp(f->inputs[i], word) == 0) return statement_refuse(s, "the input \"%s\" a second time", word);
    f->origin[f->input_count] = 0;
    f->width[f->input_count] = 1;
    memcpy(f->inputs[f->input_count++], word, sizeof word);
  }
  return f->input_count > 0 ? 1 : statement_refuse(s, "there are no inputs");
}

static int has_inputs(struct statement *s, const struct network_file *f) {
  return f->input_count > 0 ? 1 : statement_refuse(s, "\"inputs\" must come before \"%s\"", s->keyword);
}

/* activation NAME */
static int read_activation(struct statement *s, void *into, uint32_t index) {
  struct network_file *f = (struct network_file *)into;
  (void)index;
  if (!statement_name(s, "activation", activations + NETWORK_RELU, NETWORK_ACTIVATIONS - NETWORK_RELU, &f->activation))
    return 0;
  f->activation += NETWORK_RELU;
  return 1;
}

/* scale INPUT ORIGIN WIDTH, in the order of the inputs */
static int read_scale(struct statement *s, void *into, uint32_t index) {
  struct network_file *f = (struct network_file *)into;
  (void)index;
  if (!has_inputs(s, f)) return 0;
  if (f->number_count > 0) return statement_refuse(s, "a scale after the first unit");
  if (f->scales == f->input_count) return statement_refuse(s, "more scales than inputs");
  const uint32_t i = f->scales++;
  return statement_expect(s, f->inputs[i]) && statement_f64(s, "origin", -1e9, 1e9, &f->origin[i]) &&
         statement_f64(s, "width", 1e-9, 1e9, &f->width[i]);
}

/* linear FACTOR..., one per input */
static int read_linear(struct statement *s, void *into, uint32_t index) {
  struct network_file *f = (struct network_file *)into;
  (void)index;
  if (!has_inputs(s, f)) return 0;
  if (f->has_linear) return statement_refuse(s, "linear a second time");
  f->has_linear = 1;
  for (uint32_t i = 0; i < f->input_count; i++)
    if (!statement_f64(s, "factor", -number_max, number_max, &f->linear[i])) return 0;
  return 1;
}

/* The layer that was read last is complete. */
static int end_layer(struct statement *s, const struct network_file *f) {
  if (f->layers == 0) return 1;
  const uint32_t units = f->units[f->layers - 1];
  if (units == 0) return statement_refuse(s, "hidden layer %u has no units", f->layers);
  if (f->activation == NETWORK_GROUP_SORT && units % 2)
    return statement_refuse(s, "hidden layer %u has %u units; group_sort needs an even number", f->layers, units);
  return 1;
}

/* layer */
static int read_layer(struct statement *s, void *into, uint32_t index) {
  struct network_file *f = (struct network_file *)into;
  (void)index;
  if (!has_inputs(s, f) || !end_layer(s, f)) return 0;
  if (f->activation == NETWORK_NONE) return statement_refuse(s, "\"activation\" must come before \"layer\"");
  if (f->scales > 0 && f->scales < f->input_count)
    return statement_refuse(s, "%u scales for %u inputs; all inputs have a scale, or none", f->scales, f->input_count);
  if (f->has_output) return statement_refuse(s, "a layer after the output");
  if (f->layers == NETWORK_LAYERS_MAX) return statement_refuse(s, "more than %d hidden layers", NETWORK_LAYERS_MAX);
  f->layers++;
  return 1;
}

/* BIAS WEIGHT... Weights of scaled inputs become weights of inputs. */
static int read_numbers(struct statement *s, struct network_file *f, uint32_t is_first, uint32_t count) {
  double *bias = &f->numbers[f->number_count++];
  if (!statement_f64(s, "bias", -number_max, number_max, bias)) return 0;
  for (uint32_t i = 0; i < count; i++) {
    double *weight = &f->numbers[f->number_count++];
    if (!statement_f64(s, "weight", -number_max, number_max, weight)) return 0;
    if (!is_first) continue;
    *weight /= f->width[i];
    *bias -= *weight * f->origin[i];
  }
  return 1;
}

static uint32_t inputs_of_layer(const struct network_file *f, uint32_t layer) {
  return layer == 0 ? f->input_count : f->units[layer - 1];
}

/* unit BIAS WEIGHT... */
static int read_unit(struct statement *s, void *into, uint32_t index) {
  struct network_file *f = (struct network_file *)into;
  (void)index;
  if (f->layers == 0) return statement_refuse(s, "\"layer\" must come before the first unit");
  if (f->has_output) return statement_refuse(s, "a unit after the output");
  uint32_t *units = &f->units[f->layers - 1];
  if (*units == NETWORK_WIDTH_MAX)
    return statement_refuse(s, "more than %d units in hidden layer %u", NETWORK_WIDTH_MAX, f->layers);
  ++*units;
  return read_numbers(s, f, f->layers == 1, inputs_of_layer(f, f->layers - 1));
}

/* output BIAS WEIGHT... */
static int read_output(struct statement *s, void *into, uint32_t index) {
  struct network_file *f = (struct network_file *)into;
  (void)index;
  if (f->layers == 0) return statement_refuse(s, "\"layer\" must come before the output");
  f->has_output = 1;
  return end_layer(s, f) && read_numbers(s, f, 0, inputs_of_layer(f, f->layers));
}

/* Factors of scaled inputs become factors of inputs. */
static int complete(struct statement *s, void *into) {
  struct network_file *f = (struct network_file *)into;
  if (f->activation == NETWORK_RELU && f->has_linear)
    return statement_refuse(s, "\"linear\" is for networks with the activation group_sort");
  double *bias = &f->numbers[f->number_count - 1 - f->units[f->layers - 1]];
  for (uint32_t i = 0; i < f->input_count; i++) {
    f->linear[i] /= f->width[i];
    *bias -= f->linear[i] * f->origin[i];
  }
  return 1;
}

struct statement_format network_format(const char *name, const char *text) {
  static const struct statement_kind kinds[] = {{"inputs", .read = read_inputs},
                                                {"activation", .read = read_activation},
                                                {"scale", .repeats = 1, .read = read_scale},
                                                {"linear", .repeats = 1, .read = read_linear},
                                                {"layer", .repeats = 1, .read = read_layer},
                                                {"unit", .repeats = 1, .read = read_unit},
                                                {"output", .read = read_output}};
  const struct statement_format format = {
      name, text, kinds, sizeof kinds / sizeof kinds[0], sizeof(struct network_file), complete};
  return format;
}
