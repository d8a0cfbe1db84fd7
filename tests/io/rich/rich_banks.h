/* rich_banks.h: a kind of raw bank that no plugin of this repository reads. */
#ifndef RICH_BANKS_H
#define RICH_BANKS_H

#include <io/raw_banks.h>

IO_RAW_BANKS(rich, rich_banks, "RICH banks (type 9)", 4, 64, 64, 4096, 9);

#endif
