/* raw_banks.h: the raw banks of PLUME. */
#ifndef PLUME_RAW_BANKS_H
#define PLUME_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(plume, plume_banks, "PLUME banks (type 84)", 4, 64, 64, 4096, 84);

#endif
