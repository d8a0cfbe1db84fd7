/* find.h: the search for graph files. A relative path that does not exist is searched in the folders of
 * SLUICE_GRAPH_PATH (separated by colons), then in the folder of the graphs that came with the library, in its
 * installation or build tree. A path that begins with ./ or ../ is not searched. */
#ifndef SL_FIND_H
#define SL_FIND_H

#include <limits.h>
#include <stddef.h>

/* Copies folder `index` of the search order, whether or not it exists (folders of SLUICE_GRAPH_PATH); returns 0 beyond
 * the last one. */
int sl_graph_folder(size_t index, char folder[PATH_MAX]);
/* Returns 1 if the path is searched in these folders. */
int sl_graph_is_searched(const char *path);
/* Returns the location of the file named `path`: `beside`, where it is expected, if it exists there or nowhere; else
 * the first one found, stored in `found`. */
const char *sl_graph_find(const char *path, const char *beside, char found[PATH_MAX]);

#endif
