/* damage.h: tests sources of raw banks on damaged files. Each damage is drawn from a seed. Batches run in child
 * processes, so that a crash is reported as one failed case with its number. To replay, set SLUICE_TEST_SEED to the
 * seed and SLUICE_TEST_CASE to one damage. Reports failures through cmocka. */
#ifndef TEST_DAMAGE_H
#define TEST_DAMAGE_H

#include "source_driver.h"

#include <stddef.h>

enum { RECORDS_MAX = 64, EVENTS_MAX = 256 };

/* An undamaged file, and the events that the source of the driver delivers. */
struct original {
  struct driver *driver;
  struct bytes file;
  uint32_t record_count, event_count;
  size_t begin[RECORDS_MAX + 1]; /* offset of each record, then the end */
  struct seen seen[EVENTS_MAX];
};
/* Fills the other members from `driver` and `file`. */
void original_read(struct original *o);

/* A damaged file: bytes [begin, end) of the original are changed; the bytes after them are moved by `moved`. */
struct damage {
  struct bytes file;
  size_t begin, end;
  ptrdiff_t moved;
};
typedef struct damage damage_function(const struct original *o, uint64_t *random);
/* Changes one byte. */
damage_function damage_flip;
/* Zeroes a range, overwrites it with noise or other bytes of the file, removes it, or doubles it. */
damage_function damage_stretch;

/* Reads the damaged file: 1 if the result is correct. */
typedef int survival_function(const struct original *o, const struct damage *d);
/* Checks that all events of undamaged records are delivered, in order. */
survival_function survives;

void damage_run_cases(const struct original *o, damage_function *damage, survival_function *check, uint32_t count);

#endif
