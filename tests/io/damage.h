/* damage.h: sources of raw banks on damaged files. Damages are drawn from a seed; batches of them run in child
 * processes, so that a crash is one failed case with a number. SLUICE_TEST_SEED replays: it sets the seed,
 * SLUICE_TEST_CASE one single damage. Fails the test by cmocka's means. */
#ifndef TEST_DAMAGE_H
#define TEST_DAMAGE_H

#include "source_driver.h"

#include <stddef.h>

enum { RECORDS_MAX = 64, EVENTS_MAX = 256 };

/* A sound file, and what the driver's source makes of it. */
struct original {
  struct driver *driver;
  struct bytes file;
  uint32_t record_count, event_count;
  size_t begin[RECORDS_MAX + 1]; /* of each record, then the end */
  struct seen seen[EVENTS_MAX];
};
/* Fills the rest from `driver` and `file`. */
void original_read(struct original *o);

/* Bytes [begin, end) of the original were touched; what follows them moved by `moved`. */
struct damage {
  struct bytes file;
  size_t begin, end;
  ptrdiff_t moved;
};
typedef struct damage damage_function(const struct original *o, uint64_t *random);
/* One byte changed. */
damage_function damage_flip;
/* A stretch that is zeroed, overwritten with noise or with other bytes of the file, cut out, or doubled. */
damage_function damage_stretch;

/* Reads the damaged file: 1 if it was right. */
typedef int survival_function(const struct original *o, const struct damage *d);
/* All events of records that were not touched are there, in order. */
survival_function survives;

void damage_run_cases(const struct original *o, damage_function *damage, survival_function *check, uint32_t count);

#endif
