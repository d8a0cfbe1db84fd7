/* raw_banks.h: the raw banks of the muon chambers. A minimum-bias event has on average (at most) 10 banks (version 3:
 * 44) with 230 (400) words. */
#ifndef MUON_RAW_BANKS_H
#define MUON_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(muon_digits, muon_banks, "muon banks (type 13)", 48, 256, 1024, 16384, 13);

#endif
