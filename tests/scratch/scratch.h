/* scratch.h: folders for what a test writes. They are under TMPDIR, and go with all in them when the program ends, also
 * after a case that failed half-way.
 */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include <stddef.h>

enum { SCRATCH_PATH_MAX = 256 };

/* A new, empty folder. Ends the program where there can be none. */
void scratch_folder(char path[SCRATCH_PATH_MAX]);
/* The path of a file that is not there yet, alone in its folder. */
void scratch_file(char path[SCRATCH_PATH_MAX]);

/* Writes a file of that name in a folder, or removes it. Writing that fails ends the program. */
void scratch_write(const char *folder, const char *name, const void *bytes, size_t size);
void scratch_remove(const char *folder, const char *name);

#endif
