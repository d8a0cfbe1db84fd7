/* First of two plugins with collections for the same port; this one is correct. */
#define BAD_NAME  "ports_first"
#define BAD_TRAIT &shared_trait
#include <sluice/plugin.h>
static const struct sl_trait shared_trait = {"bad.values", "values", NULL, 0, 0, NULL};
#include "template.h"
