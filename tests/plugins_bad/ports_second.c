/* Second of two plugins with collections for the same port. */
#define bad_values            other_values
#define bad_values_view       other_values_view
#define bad_values_collection other_values_collection
#define BAD_NAME              "ports_second"
#define BAD_TRAIT             &shared_trait
#include <sluice/plugin.h>
static const struct sl_trait shared_trait = {"bad.values", "values", NULL, 0, 0, NULL};
#include "template.h"
