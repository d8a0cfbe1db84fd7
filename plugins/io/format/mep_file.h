/* mep_file.h: files that are nothing but packets of the event builder (mep.h), read as records without header, with
 * struct mdf_reader and its promises (mdf.h). */
#ifndef IO_MEP_FILE_H
#define IO_MEP_FILE_H

#include "mdf.h"

/* The next packet, as a record; 0 at the end of the file. */
int mep_next(struct mdf_reader *reader, struct mdf_record *record);
/* Could mep_next make something of these bytes? */
int mep_recognise(const uint8_t *data, uint64_t size);

#endif
