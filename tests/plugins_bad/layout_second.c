/* Second of two plugins with a collection bad_values; here its values have another type. */
#define BAD_NAME     "layout_second"
#define BAD_VALUE(F) F(value, f64, PER_ITEM, "", "a value")
#include "template.h"
