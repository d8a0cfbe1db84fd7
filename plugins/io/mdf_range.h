/* mdf_range.h: a part of a file between two record boundaries (struct sl_input_range). Its reader sees the whole file,
 * so a damaged record at the end of the range is read as in the whole file. */
#ifndef IO_MDF_RANGE_H
#define IO_MDF_RANGE_H

#include "input_file.h"

struct mdf_range {
  uint64_t begin, end;   /* end 0: end of the file or pipe */
  uint64_t first_record; /* records before the range */
};

/* Returns 1 if a part of the file is requested. `requested` may be NULL. */
int mdf_range_is_part(const struct sl_input_range *requested);
/* Converts the requested range (NULL: the whole file) of a mapped file and checks that it begins and ends at records.
 * Counts the records before it if first_record is unknown. Returns 0, or SL_EINVAL after a message that names the
 * nearest records. */
int mdf_range_find(struct mdf_range *range, const struct sl_services *s, const char *name, const struct input_file *f,
                   uint32_t is_bare, const struct sl_input_range *requested);

#endif
