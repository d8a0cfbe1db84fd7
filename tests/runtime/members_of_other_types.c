/* members_of_other_types.c: must not compile: the type of each member except the first two differs from its entry. */
#include <sluice/plugin.h>

struct bad_args {
  struct sl_events events;
  const char *path;
  double cut;
  int32_t shifts[3];
  uint32_t *words;
};
#define SL_ARGS bad_args
static const struct sl_member bad_members[] SL_UNUSED = {
    SL_EVENTS(),
    SL_STRING(path, "", "fits"),
    SL_F32(cut, 10.0, 0.0, 50.0, "mm", "a double in the struct"),
    SL_F32_ARRAY(shifts, 3, "[1, 2, 3]", 0.0, 50.0, "mm", "integers in the struct"),
    SL_SCRATCH(words, u64, "half as wide in the struct", SL_ONE(SL_CONSTANT_TERM(1))),
};

int main(void) { return 0; }
