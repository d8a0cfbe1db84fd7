/* graphviz.h: runs the program `dot` of Graphviz. */
#ifndef SL_GRAPHVIZ_H
#define SL_GRAPHVIZ_H

#include <stddef.h>

/* Lays out the text that the descriptor `dot_text` reads, from its beginning, and writes it to `svg`. Returns SL_OK;
 * SL_EIO with the reason, also if there is no such program; SL_ENOMEM. */
int sl_graphviz_run(int dot_text, int svg, char *reason, size_t reason_size);

#endif
