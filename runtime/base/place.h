/* place.h: where this code stands, to find what belongs to it. */
#ifndef SL_PLACE_H
#define SL_PLACE_H

#include <limits.h>
#include <stddef.h>

enum { SL_PLACES_MAX = 2 };

/* The folder of the file that holds this code. That is libsluice; or a program that has it built in (a test), whose
 * parent folder is the second. Returns how many there are; 0 where that cannot be told. */
size_t sl_own_places(char places[SL_PLACES_MAX][PATH_MAX]);

#endif
