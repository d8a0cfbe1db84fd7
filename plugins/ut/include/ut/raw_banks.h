/* raw_banks.h: collection of the raw banks of the UT. A minimum-bias event has 180 banks; they have on average 1,400
 * words of version 3 (at most 2,600), or about 2,700 words of version 4. */
#ifndef UT_RAW_BANKS_H
#define UT_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(ut_clusters, ut_banks, "UT banks (type 66)", 256, 1024, 4096, 65536, 66);

#endif
