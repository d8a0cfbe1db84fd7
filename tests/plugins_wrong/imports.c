/* imports.c: a plugin with a table of the symbols IMPORTS(M), which it imports. With WITH_KERNEL it has a kernel in
 * addition to its constant. tests/cli/imports_test.py builds it for many symbols. */
#include "wrong.h"

/* Weak, because the libraries of some symbols are not available. */
#define DECLARE(i, symbol) extern void import_##i(void) __asm__(symbol) __attribute__((weak));
#define ENTRY(i, symbol)   import_##i,
IMPORTS(DECLARE)
extern void (*const imported[])(void) __attribute__((visibility("hidden")));
void (*const imported[])(void) = {IMPORTS(ENTRY) 0};

struct table_args {
  struct wrong_table table;
};
#define SL_ARGS table_args
static const struct sl_member table_members[] = {SL_OUT(table, wrong_table, "one entry")};
static int make(const struct sl_services *s, const struct table_args *a) {
  (void)a;
  uint32_t *entry = s->make_array(s->context, "table", "entry", 1);
  if (entry) *entry = imported[0] != 0;
  return entry ? SL_OK : SL_ENOMEM;
}
SL_CONSTANT(table, "one entry", make);
#undef SL_ARGS

#ifdef WITH_KERNEL
struct copy_args {
  struct sl_events events;
  struct wrong_numbers_view numbers;
  struct wrong_kept kept;
};
#define SL_ARGS copy_args
static const struct sl_member copy_members[] = {
    SL_EVENTS(),
    SL_IN(numbers, wrong_numbers, "offsets value", "any"),
    SL_OUT(kept, wrong_kept, "nothing", SL_SHARES_OFFSETS(numbers)),
};
static int run(const struct sl_launch *l, const struct copy_args *a) {
  (void)l, (void)a;
  return SL_OK;
}
SL_ALGORITHM(copy, "copies nothing", 64, run);
static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(table), SL_ENTRY(copy)};
#else
static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(table)};
#endif
SL_PLUGIN("imports", "1.0.0", "takes symbols from elsewhere");
