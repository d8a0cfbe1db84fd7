/* scratch.h: folders for what a test writes. They are under TMPDIR, and go with all in them when the program ends, also
 * after a case that failed half-way.
 */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

enum { SCRATCH_PATH_MAX = 256 };

/* A new, empty folder. Ends the program where there can be none. */
void scratch_folder(char path[SCRATCH_PATH_MAX]);
/* The path of a file that is not there yet, alone in its folder. */
void scratch_file(char path[SCRATCH_PATH_MAX]);

#endif
