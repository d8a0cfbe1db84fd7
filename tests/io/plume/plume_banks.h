/* plume_banks.h: a kind of raw bank that no plugin of the tree knows. */
#ifndef PLUME_BANKS_H
#define PLUME_BANKS_H

#include <io/raw_banks.h>

IO_RAW_BANKS(plume, plume_banks, "PLUME banks (type 84)", 4, 64, 64, 4096, 84);

#endif
