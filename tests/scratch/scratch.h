/* scratch.h: folders for files of a test. They are below TMPDIR and are removed with their content when the program
 * ends, also after a failed case. */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include <stddef.h>

enum { SCRATCH_PATH_MAX = 256 };

/* Makes a new, empty folder; ends the program on failure. */
void scratch_folder(char path[SCRATCH_PATH_MAX]);
/* Returns the path of a file that does not exist yet, in a new folder. */
void scratch_file(char path[SCRATCH_PATH_MAX]);

/* Writes a file in a folder, or removes it. Ends the program on failure. */
void scratch_write(const char *folder, const char *name, const void *bytes, size_t size);
void scratch_remove(const char *folder, const char *name);

#endif
