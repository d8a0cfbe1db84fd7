/* mdf_range.h: a part of a file, from one record to another (struct sl_input_range). A reader of it sees the whole
 * file, so that a damaged record at its end is what it is to a reader of the file. */
#ifndef IO_MDF_RANGE_H
#define IO_MDF_RANGE_H

#include "input_file.h"

struct mdf_range {
  uint64_t begin, end;   /* end 0: of the file, which may be a pipe */
  uint64_t first_record; /* records before it */
};

/* Is anything but the whole file asked for? NULL: no. */
int mdf_range_is_part(const struct sl_input_range *asked);
/* What is asked for of a mapped file of records, or of packets alone if `is_bare`; NULL: all of it. Counts the records
 * before it where that is not known: 0; or SL_EINVAL, which was told, with the records that begin around. */
int mdf_range_find(struct mdf_range *range, const struct sl_services *s, const char *name, const struct input_file *f,
                   uint32_t is_bare, const struct sl_input_range *asked);

#endif
