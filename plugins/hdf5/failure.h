/* failure.h: errors of the HDF5 library as messages of ours. */
#ifndef HDF5_FAILURE_H
#define HDF5_FAILURE_H

#include <sluice/plugin.h>

/* Before anything else. The library prints its errors unless it is told not to, and cleans up at the program's exit,
 * where it crashes if a file could not be closed (1.10): files are closed by who opened them. */
void hdf5_begin(void);
/* Reports "WHERE: cannot STEP: REASON", where the reason is the system's if there is one, else the innermost one that
 * the library knows. Returns SL_EIO. */
int hdf5_fail(const struct sl_services *s, const char *where, const char *step);

#endif
