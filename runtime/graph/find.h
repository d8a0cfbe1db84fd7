/* find.h: where graph files are. One that is named by a relative path and is not there is looked for by the same path
 * in the folders of SLUICE_GRAPH_PATH (colon-separated), then in that of the graphs that came with the library: of its
 * installation, or of its build tree. A path that begins with ./ or ../ says itself where the file is. */
#ifndef SL_FIND_H
#define SL_FIND_H

#include <limits.h>
#include <stddef.h>

/* The folder at place `index` of that order, whether or not those of SLUICE_GRAPH_PATH are there; 0 beyond the last. */
int sl_graph_folder(size_t index, char folder[PATH_MAX]);
/* May the file be in one of these folders? */
int sl_graph_is_searched(const char *path);
/* The path of a file that is named `path` and is expected at `beside`: that, if it is there or nowhere, else the first
 * found, in `found`. */
const char *sl_graph_find(const char *path, const char *beside, char found[PATH_MAX]);

#endif
