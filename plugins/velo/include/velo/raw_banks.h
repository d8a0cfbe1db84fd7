/* raw_banks.h: collections of the raw banks of the VELO. A minimum-bias event has 208 banks; they have on average 2,100
 * words of retina clusters (at most 6,000) or 2,600 words of super-pixels (at most 5,200). */
#ifndef VELO_RAW_BANKS_H
#define VELO_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(velo_superpixels, velo_superpixel_banks, "VELO super-pixel banks (types 63 and 8)", 256, 1024, 4096, 65536,
             63, 8);
IO_RAW_BANKS(velo_clusters, velo_retina_banks, "VELO retina cluster banks (type 73)", 256, 1024, 4096, 65536, 73);

#endif
