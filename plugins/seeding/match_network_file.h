/* match_network_file.h: reads the numbers of the network that judges matches (README.md, "The network"). */
#ifndef SCIFI_MATCH_NETWORK_FILE_H
#define SCIFI_MATCH_NETWORK_FILE_H

#include "io/statements.h"
#include "scifi/match_network.h"

/* An io_description_read; the description is the array `network`. */
uint32_t scifi_match_network_read(const char *text, size_t bytes, void *network, char *reason, size_t reason_size);

#endif
