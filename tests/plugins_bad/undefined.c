/* Needs a function that nobody has: refused when it is opened, not when it is called. */
#include <sluice/plugin.h>
int nobody_has_this(const struct sl_launch *l, const void *args);
#define BAD_RUN nobody_has_this
#include "template.h"
