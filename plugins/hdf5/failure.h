/* failure.h: converts errors of the HDF5 library to messages. */
#ifndef HDF5_FAILURE_H
#define HDF5_FAILURE_H

/* Call before any other function. Disables the error printing of the library, and its cleanup at exit, which crashes
 * if a file could not be closed (HDF5 1.10). */
void hdf5_begin(void);
/* Reason of the last failure: that of the system if there is one, otherwise the innermost one of the library. */
struct hdf5_reason {
  char text[256];
};
struct hdf5_reason hdf5_reason(void);

#endif
