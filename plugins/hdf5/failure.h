/* failure.h: errors of the HDF5 library as messages of ours. */
#ifndef HDF5_FAILURE_H
#define HDF5_FAILURE_H

/* Before anything else. The library prints its errors unless it is told not to, and cleans up at the program's exit,
 * where it crashes if a file could not be closed (1.10): files are closed by who opened them. */
void hdf5_begin(void);
/* Why the last call failed: the system's reason if there is one, else the innermost one that the library knows. */
struct hdf5_reason {
  char text[256];
};
struct hdf5_reason hdf5_reason(void);

#endif
