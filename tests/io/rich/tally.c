/* rich.tally: a sink with an open input: counts the banks of each connected kind. */
#include <io/raw_banks.h>
#include <stdint.h>

struct tally_args {
  struct io_raw_banks_view_ports banks;
};
#define SL_ARGS tally_args
static const struct sl_member tally_members[] = {
    SL_OPEN_IN(banks, io_raw_banks, IO_RAW_BANKS_TRAIT, "offsets", "banks of all kinds to count"),
};

enum { KINDS_MAX = 64 };
struct tally {
  const char *names[KINDS_MAX];
  int64_t banks[KINDS_MAX];
  uint32_t count, connected[KINDS_MAX];
};

static int tally_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct tally_args *args = (const struct tally_args *)args_;
  struct tally *t = (struct tally *)state;
  (void)s, (void)output_path;
  if (args->banks.count > KINDS_MAX) return SL_EINVAL;
  t->count = args->banks.count;
  for (uint32_t i = 0; i < t->count; i++) t->names[i] = args->banks.ports[i].name;
  return SL_OK;
}

static int tally_consume(void *state, const struct sl_services *s, const void *args_, const struct sl_batch *batch) {
  const struct tally_args *args = (const struct tally_args *)args_;
  struct tally *t = (struct tally *)state;
  (void)s;
  for (uint32_t i = 0; i < t->count; i++) {
    const uint32_t *offsets = args->banks.at[i].offsets;
    t->connected[i] = offsets != NULL;
    if (offsets) t->banks[i] += offsets[batch->event_count] - offsets[0];
  }
  return SL_OK;
}

static int tally_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  const struct tally *t = (const struct tally *)state;
  (void)s;
  for (uint32_t i = 0; i < t->count; i++)
    if (t->connected[i]) report->integer(report->context, t->names[i], t->banks[i]);
  return SL_OK;
}

static const struct sl_sink tally_functions = {
    .open = tally_open, .consume = tally_consume, .finish = tally_finish, .close = NULL};

SL_SINK(tally, "counts raw banks of all kinds", struct tally, tally_functions);
