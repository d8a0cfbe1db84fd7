/* output_file.h: what HDF5 files of all sinks have in common. */
#ifndef HDF5_OUTPUT_FILE_H
#define HDF5_OUTPUT_FILE_H

#include <sluice/plugin.h>

#include <hdf5.h>

/* Access to files with one writer and several readers. Negative if it fails; to be closed with H5Pclose. */
hid_t hdf5_access_list(void);
/* Creates a group that lists its members in order of creation. Negative if it fails. */
hid_t hdf5_create_group(hid_t parent, const char *name);
/* Sets the attributes of the file that describe the run, and `complete`: 0. Returns 0 or a negative number. */
int hdf5_describe_run(hid_t file, const struct sl_run *run);
/* Abandons the file, readable up to the last flush. Data cached by the library is discarded, including the file
 * size, because a reader would refuse the file if the size did not match. */
void hdf5_cut_off(hid_t file);

#endif
