/* match_network_file.h: reads the numbers of the network that judges matches (README.md, "The network"). */
#ifndef SEEDING_MATCH_NETWORK_FILE_H
#define SEEDING_MATCH_NETWORK_FILE_H

#include "io/statements.h"
#include "seeding/match_network.h"

/* An io_description_read; the description is the array `network`. */
uint32_t match_network_read(const char *text, size_t bytes, void *network, char *reason, size_t reason_size);

#endif
