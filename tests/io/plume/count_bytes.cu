/* plume.count_bytes: a plugin from elsewhere reads the banks that it declares. */
#include "plume_banks.h"

#define COUNTED_BANKS plume_banks
#include "count_bytes.h"
