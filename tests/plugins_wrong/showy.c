/* showy.c: a plugin that exports symbols other than its descriptor. */
#include "wrong.h"

__attribute__((visibility("default"))) int showy_counter = 1;

struct table_args {
  struct wrong_table table;
};
#define SL_ARGS table_args
static const struct sl_member table_members[] = {SL_OUT(table, wrong_table, "one entry")};
static int make(const struct sl_services *s, const struct table_args *a) {
  (void)a;
  uint32_t *entry = s->make_array(s->context, "table", "entry", 1);
  if (entry) *entry = (uint32_t)showy_counter;
  return entry ? SL_OK : SL_ENOMEM;
}
SL_CONSTANT(table, "one entry", make);
static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(table)};
SL_PLUGIN("showy", "1.0.0", "exports too much");
