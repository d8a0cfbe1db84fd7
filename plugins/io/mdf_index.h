/* mdf_index.h: the records of a file, by their headers and those of their banks. */
#ifndef IO_MDF_INDEX_H
#define IO_MDF_INDEX_H

#include <sluice/plugin.h>

/* struct sl_source, `index`, of a source of that data type (MDF_DATA_...). Of packets the sizes of fragments are read
 * as well, and bodies that are compressed: what tells how many events there are. */
int mdf_index(const char *path, uint32_t data_type, const struct sl_index_calls *calls);

#endif
