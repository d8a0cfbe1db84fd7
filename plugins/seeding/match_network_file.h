/* match_network_file.h: reads the file of the matching network (README.md, "The network"). */
#ifndef SEEDING_MATCH_NETWORK_FILE_H
#define SEEDING_MATCH_NETWORK_FILE_H

#include "geometry/statements.h"
#include "seeding/match_network.h"

struct match_network {
  float numbers[MATCH_NETWORK_NUMBERS]; /* as in `network` of matching_constants */
  uint32_t units;
};

/* Reads into a struct match_network. */
extern const struct statement_format match_network_format;

#endif
