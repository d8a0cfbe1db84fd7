/* mdf_walk.h: walks a file of MDF records, or of packets (MEP) only, from header to header. Used by streams, indices
 * and ranges. `is_bare`: packets that are not in MDF records. */
#ifndef IO_MDF_WALK_H
#define IO_MDF_WALK_H

#include "mdf.h"

/* Returns 1 if the file contains records or packets for a source of the data type (MDF_DATA_...); sets *is_bare. */
int mdf_walk_recognise(const uint8_t *data, uint64_t size, uint32_t data_type, uint32_t *is_bare);
/* Calls mdf_next or mep_next. The caller must check the contents of the record, and call mdf_cut_damaged if they are
 * damaged. */
int mdf_walk_next(struct mdf_reader *reader, uint32_t is_bare, struct mdf_record *record);
/* Checks the contents of the record just read; it ends early if another record begins within it. The checksum is
 * computed only for damaged contents. */
void mdf_walk_check(struct mdf_reader *reader, uint32_t is_bare, struct mdf_record *record);
/* Returns 1 if a complete record with a sound header begins at `offset`. */
int mdf_walk_begins(const uint8_t *data, uint64_t size, uint32_t is_bare, uint64_t offset);
/* Returns 1 if the body of a sound record has the data type. Some writers of packets do not set it in the header. */
int mdf_walk_has_type(const struct mdf_record *record, uint32_t data_type, uint32_t is_bare, const uint8_t *body);

#endif
