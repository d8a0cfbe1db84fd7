/* network.weights: the weights of a small dense network, built in or from a file (README.md). */
#include "electron_network_text.h"
#include "file.h"
#include "forward_network_text.h"
#include "forward_no_ut_network_text.h"
#include "matching_network_text.h"
#include "muon_network_text.h"
#include "two_track_network_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files of the folder built_in; their texts are embedded by CMakeLists.txt. */
#define BUILT_IN(N)          N(electron) N(forward) N(forward_no_ut) N(matching) N(muon) N(two_track)
#define BUILT_IN_TEXT_(name) {#name, name##_network_text},
static const struct { const char *name, *text; } built_in_networks[] = {BUILT_IN(BUILT_IN_TEXT_)};
#define BUILT_IN_NAME_(name) #name ", "

#define SL_ARGS weights_args
#define WEIGHTS(M)                                                                                   \
  M(FILE_IN, network, "none", "", "a built-in network: " BUILT_IN(BUILT_IN_NAME_) "a file, or none") \
  M(OUT, weights, network, "weights of the network; `none`: no network")
SL_HOST_ARGUMENTS(weights, WEIGHTS);

/* Reads the built-in network `name`, or the file. */
static int load(const struct sl_services *s, const char *name, struct network_file *file) {
  char built_in[64];
  for (size_t i = 0; i < sizeof built_in_networks / sizeof built_in_networks[0]; i++) {
    if (strcmp(built_in_networks[i].name, name) != 0) continue;
    snprintf(built_in, sizeof built_in, "%s.network", name);
    const struct statement_format format = network_format(built_in, built_in_networks[i].text);
    return statements_load(&format, s, NULL, file);
  }
  const struct statement_format format = network_format(NULL, NULL);
  return statements_load(&format, s, name, file);
}

/* Writes the arrays of the collection. */
static int write_network(const struct sl_services *s, const struct network_file *f) {
  uint32_t name_bytes = 1;
  for (uint32_t i = 0; i < f->input_count; i++) name_bytes += (uint32_t)strlen(f->inputs[i]) + 1;
  uint32_t *shape = s->make_array(s->context, "weights", "shape", NETWORK_UNITS + f->layers);
  char *names = s->make_array(s->context, "weights", "names", name_bytes);
  const uint32_t number_count = f->number_count + f->input_count;
  float *numbers = s->make_array(s->context, "weights", "numbers", number_count > 0 ? number_count : 1);
  if (!shape || !names || !numbers) return SL_ENOMEM;
  shape[NETWORK_ACTIVATION] = f->activation;
  shape[NETWORK_INPUTS] = f->input_count;
  shape[NETWORK_LAYERS] = f->layers;
  memcpy(shape + NETWORK_UNITS, f->units, sizeof(uint32_t) * f->layers);
  for (uint32_t i = 0; i < f->input_count; i++) {
    const size_t bytes = strlen(f->inputs[i]) + 1;
    memcpy(names, f->inputs[i], bytes);
    names += bytes;
  }
  *names = '\0';
  for (uint32_t i = 0; i < f->number_count; i++) numbers[i] = (float)f->numbers[i];
  for (uint32_t i = 0; i < f->input_count; i++) numbers[f->number_count + i] = (float)f->linear[i];
  return SL_OK;
}

static int make(const struct sl_services *s, const struct weights_args *args) {
  struct network_file *file = (struct network_file *)calloc(1, sizeof *file);
  if (!file) return SL_ENOMEM;
  int status = SL_OK;
  if (!*args->network) {
    s->message(s->context, SL_ERROR, "`network` is empty, expected the name of a built-in network, a file, or none");
    status = SL_EINVAL;
  } else if (strcmp(args->network, "none") != 0) {
    status = load(s, args->network, file);
  }
  if (status == SL_OK) status = write_network(s, file);
  free(file);
  return status;
}

SL_CONSTANT(weights, "weights of a small dense network, built in or from a file", make);
