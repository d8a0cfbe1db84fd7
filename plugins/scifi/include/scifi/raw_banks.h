/* raw_banks.h: collection of the raw banks of the fibre tracker. A minimum-bias event has 240 banks; they have on
 * average 2,200 words (at most 4,000). */
#ifndef SCIFI_RAW_BANKS_H
#define SCIFI_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(scifi_clusters, scifi_banks, "SciFi cluster banks (type 64)", 256, 1024, 4096, 65536, 64);

#endif
