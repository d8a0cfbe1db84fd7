/* arrays.h: entries of a feed that hold arrays of values for the fields of the source's outputs. */
#ifndef SL_ARRAYS_H
#define SL_ARRAYS_H

#include "records/filling.h"

/* The entry that is being appended. */
struct sl_arrays {
  const struct sl_feed_entry *entry; /* NULL: none */
  uint64_t next;                     /* its first event that is in no slice */
  uint64_t number;                   /* event number of its first event */
};

/* Checks an entry and begins with its first event: 0, or an error that it reported. `count`: number of events before
 * it, for an entry without a number. */
int sl_arrays_begin(struct sl_arrays *arrays, const struct sl_services *s, struct sl_filling *f,
                    const struct sl_feed_entry *entry, uint64_t count);
/* Appends events of the entry to the slice: 1 if all are in slices, 0 if the slice is full, or an error. */
int sl_arrays_append(struct sl_arrays *arrays, const struct sl_services *s, struct sl_filling *f, struct sl_fill *fill);

#endif
