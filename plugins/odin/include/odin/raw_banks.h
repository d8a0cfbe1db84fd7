/* raw_banks.h: collection of the raw banks of ODIN. */
#ifndef ODIN_RAW_BANKS_H
#define ODIN_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(odin, odin_banks, "ODIN banks (type 16)", 1, 64, 16, 1024, 16);

#endif
