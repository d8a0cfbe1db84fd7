/* A former name for an algorithm that the plugin does not have. */
#include <sluice/plugin.h>

static const struct sl_former_name former_names[] = {{"good.copied", "copy"}, {"good.copy", "copie"}};
#define BAD_FORMER_COUNT 2
#define BAD_FORMER_NAMES former_names
#include "template.h"
