/* raw_banks.h: the raw banks of the fibre tracker. An event has 240 of them; a minimum-bias event on average (at most)
 * 2,200 (4,000) words. */
#ifndef SCIFI_RAW_BANKS_H
#define SCIFI_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(scifi_clusters, scifi_banks, "SciFi cluster banks (type 64)", 256, 1024, 4096, 65536, 64);

#endif
