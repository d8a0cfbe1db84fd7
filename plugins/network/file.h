/* file.h: reads the text of a network (README.md, "The file"). */
#ifndef NETWORK_FILE_H
#define NETWORK_FILE_H

#include "geometry/statements.h"
#include "network/event_model.h"

enum { NETWORK_NUMBERS_MAX = NETWORK_LAYERS_MAX * NETWORK_WIDTH_MAX * (NETWORK_WIDTH_MAX + 1) + NETWORK_WIDTH_MAX + 1 };

struct network_file {
  uint32_t activation, input_count, layers;
  uint32_t units[NETWORK_LAYERS_MAX];
  char inputs[NETWORK_INPUTS_MAX][STATEMENT_WORD_BYTES];
  double origin[NETWORK_INPUTS_MAX], width[NETWORK_INPUTS_MAX]; /* scaled input: (x - origin) / width */
  double linear[NETWORK_INPUTS_MAX];
  uint32_t scales, has_linear, has_output; /* statements read so far */
  uint32_t number_count;
  double numbers[NETWORK_NUMBERS_MAX]; /* of the collection, without the last factors */
};

/* Reads into a struct network_file. `text`: of the built-in network; NULL if only files are read. */
struct statement_format network_format(const char *name, const char *text);

#endif
