/* raw_banks.h: collection of the raw banks of the muon chambers. A minimum-bias event has 10 banks (version 3: 44) with
 * 230 words on average (at most 400). */
#ifndef MUON_RAW_BANKS_H
#define MUON_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(muon_digits, muon_banks, "muon banks (type 13)", 48, 256, 1024, 16384, 13);

#endif
