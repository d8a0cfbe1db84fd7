/* mep_file.h: files that contain only packets of the event builder (mep.h), read as records without header by struct
 * mdf_reader, with the same guarantees (mdf.h). */
#ifndef IO_MEP_FILE_H
#define IO_MEP_FILE_H

#include "mdf.h"

/* Reads the next packet as a record; returns 0 at the end of the file. */
int mep_next(struct mdf_reader *reader, struct mdf_record *record);
/* Returns 1 if the bytes contain a packet. */
int mep_recognise(const uint8_t *data, uint64_t size);

#endif
