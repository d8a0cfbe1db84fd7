/* raw_banks.h: raw banks of the calorimeters. A minimum-bias event has on average (at most) 28 banks and 1,940 (2,500)
 * words of type 21, or 63 banks of 39 words of type 77. Banks of the hadronic calorimeter also have type 77.
 */
#ifndef CALO_RAW_BANKS_H
#define CALO_RAW_BANKS_H

#include "io/raw_banks.h"

IO_RAW_BANKS(calo_digits, calo_banks, "calorimeter banks (types 21 and 77)", 96, 2048, 4096, 131072, 21, 77);

#endif
