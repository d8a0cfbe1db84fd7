/* rich.count_bytes: an external plugin reads the banks that it declares. */
#include "rich_banks.h"

#define COUNTED_BANKS rich_banks
#include "count_bytes.h"
