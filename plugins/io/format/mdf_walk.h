/* mdf_walk.h: what a file of MDF records, or one that is nothing but packets (MEP), looks like from header to header:
 * what streams, indices and ranges have in common. */
#ifndef IO_MDF_WALK_H
#define IO_MDF_WALK_H

#include "mdf.h"

/* Has the file something for a source of that data type (MDF_DATA_...)? *is_bare: packets without records around them.
 */
int mdf_walk_recognise(const uint8_t *data, uint64_t size, uint32_t data_type, uint32_t *is_bare);
/* mdf_next, or mep_next: the contents of a record are still to be checked, and mdf_distrust to be called. */
int mdf_walk_next(struct mdf_reader *reader, uint32_t is_bare, struct mdf_record *record);
/* Checks the contents of the record that was just read, and cuts it if another begins within it. The checksum is looked
 * at only where the contents are damaged. */
void mdf_walk_check(struct mdf_reader *reader, uint32_t is_bare, struct mdf_record *record);
/* Does a whole record with a sound header begin at that byte? */
int mdf_walk_begins(const uint8_t *data, uint64_t size, uint32_t is_bare, uint64_t offset);
/* Is the body of a sound record of that data type? Whoever writes packets does not always say so in the header. */
int mdf_walk_has_type(const struct mdf_record *record, uint32_t data_type, uint32_t is_bare, const uint8_t *body);

#endif
