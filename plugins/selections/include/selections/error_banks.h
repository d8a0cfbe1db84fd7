/* error_banks.h: collection of the banks in which detectors report errors. */
#ifndef SELECTIONS_ERROR_BANKS_H
#define SELECTIONS_ERROR_BANKS_H

#include "io/raw_banks.h"

/* VeloError, MuonError, UTFull, UTError, CaloError, RichError, PlumeError, FTError */
IO_RARE_RAW_BANKS(error_banks, error_banks, "error banks of the detectors (types 29, 50, 67, 68, 78, 81, 86, 88)", 4,
                  4096, 64, 262144, 29, 50, 67, 68, 78, 81, 86, 88);

#endif
