/* place.h: the folder that contains this code, to find files installed with it. */
#ifndef SL_PLACE_H
#define SL_PLACE_H

#include <limits.h>
#include <stddef.h>

enum { SL_PLACES_MAX = 2 };

/* Returns the folder of the file that contains this code: libsluice, or a program that links it statically (a test);
 * for a program, the second folder is the parent. Returns the number of folders; 0 if unknown. */
size_t sl_own_places(char places[SL_PLACES_MAX][PATH_MAX]);

#endif
