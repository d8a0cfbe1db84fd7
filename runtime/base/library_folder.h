/* library_folder.h: the folder that contains this code, to find files installed with it. */
#ifndef SL_LIBRARY_FOLDER_H
#define SL_LIBRARY_FOLDER_H

#include <limits.h>
#include <stddef.h>

enum { SL_LIBRARY_FOLDERS_MAX = 2 };

/* Returns the folder of the file that contains this code: libsluice, or a program that links it statically (a test);
 * for a program, the second folder is the parent. Returns the number of folders; 0 if unknown. */
size_t sl_library_folders(char roots[SL_LIBRARY_FOLDERS_MAX][PATH_MAX]);

#endif
