/* about.h: what a graph file says of itself. */
#ifndef SL_ABOUT_H
#define SL_ABOUT_H

#include <stddef.h>

/* The file's own `description`; without one, the first line of the comment at its head; or nothing. SL_EGRAPH where the
 * file is no YAML map: then `text` has the reason. */
int sl_graph_about(const char *path, char *text, size_t size);

#endif
