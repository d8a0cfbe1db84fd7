/* The label of names is the label of fields in the metrics. */
#define BAD_MORE_ARGS    struct bad_values_views many;
#define BAD_MORE_MEMBERS , SL_LIST_IN(many, bad_values, "value", "any")
#define BAD_CAPACITY     SL_ITEMS(SL_ONE(SL_ITEMS_TERM(in))), SL_INDEX_NAMES(many, "field", value)
#include "template.h"
