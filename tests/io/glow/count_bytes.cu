/* glow.count_bytes: a second plugin that reads banks of type 9, and also of type 85. */
#include <io/raw_banks.h>

IO_RAW_BANKS(glow, glow_banks, "RICH banks and others (types 9 and 85)", 4, 64, 64, 4096, 9, 85);

#define COUNTED_BANKS glow_banks
#include "../rich/count_bytes.h"
