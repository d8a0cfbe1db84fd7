/* glow.count_bytes: another plugin that wants banks of the same type, and of one more. */
#include <io/raw_banks.h>

IO_RAW_BANKS(glow, glow_banks, "RICH banks and others (types 9 and 85)", 4, 64, 64, 4096, 9, 85);

#define COUNTED_BANKS glow_banks
#include "../rich/count_bytes.h"
