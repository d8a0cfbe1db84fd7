/* match_network_file.h: reads the numbers of the network that judges matches (README.md, "The network"). */
#ifndef SCIFI_MATCH_NETWORK_FILE_H
#define SCIFI_MATCH_NETWORK_FILE_H

#include "geometry/statements.h"
#include "scifi/match_network.h"

struct scifi_match_network {
  float numbers[SCIFI_MATCH_NETWORK_NUMBERS]; /* as in `network` of scifi_matching_constants */
  uint32_t units;
};

/* Of a struct scifi_match_network. */
extern const struct statement_format scifi_match_network_format;

#endif
