/* about.h: the description in a graph file. */
#ifndef SL_ABOUT_H
#define SL_ABOUT_H

#include <stddef.h>

/* Copies the file's `description` to `text`; without one, the first line of the comment at its head, or nothing.
 * Returns SL_EGRAPH, with the reason in `text`, if the file is not a YAML map. */
int sl_graph_about(const char *path, char *text, size_t size);

#endif
