/* Needs a function that does not exist: refused when the file is opened, not when the function is called. */
#include <sluice/plugin.h>
int nobody_has_this(const struct sl_launch *l, const void *args);
#define BAD_RUN nobody_has_this
#include "template.h"
