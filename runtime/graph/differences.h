/* differences.h: the settings that differ between two graphs. See differences.c. */
#ifndef SL_GRAPH_DIFFERENCES_H
#define SL_GRAPH_DIFFERENCES_H

/* Compares two canonical texts (struct sl_graph, `text`). Returns a line per difference, each ended by a newline, in
 * the order of the names: "NODE.PROPERTY: old -> new", "NODE: new, PLUGIN.ALGORITHM", "NODE: removed". To be freed;
 * NULL if out of memory. */
char *sl_graph_differences(const char *before, const char *after);

#endif
