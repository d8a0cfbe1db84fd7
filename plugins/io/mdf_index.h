/* mdf_index.h: lists the records of a file by following the headers of records and banks. */
#ifndef IO_MDF_INDEX_H
#define IO_MDF_INDEX_H

#include <sluice/plugin.h>

/* Implements `index` of struct sl_source for a source of the data type (MDF_DATA_...). For packets, it also reads the
 * sizes of fragments and decompresses bodies, to count the events. */
int mdf_index(const char *path, uint32_t data_type, const struct sl_index_calls *calls);

#endif
