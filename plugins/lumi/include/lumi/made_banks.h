/* made_banks.h: the raw banks of luminosity summaries. */
#ifndef LUMI_MADE_BANKS_H
#define LUMI_MADE_BANKS_H

#include "io/made_banks.h"

IO_MADE_BANKS(luminosity_summary, luminosity_summary_banks, "HltLumiSummary banks (type 56)", 56, 2, 0x0100);

#endif
