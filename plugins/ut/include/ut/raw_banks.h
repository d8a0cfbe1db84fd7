/* raw_banks.h: the raw banks of the UT. A minimum-bias event has on average (at most) 180 banks and 1,400 (2,600) words
 * of version 3; of version 4 some 2,700. */
#ifndef UT_RAW_BANKS_H
#define UT_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(ut_clusters, ut_banks, "UT banks (type 66)", 256, 1024, 4096, 65536, 66);

#endif
