/* graph_reading.h: reads a graph in a test and stores the result. */
#ifndef GRAPH_READING_H
#define GRAPH_READING_H

#include "graph/graph.h"

/* A graph read, with its messages as printed. */
struct reading {
  struct sl_diagnostics *diagnostics;
  struct sl_graph *graph;
  char *messages;
  int result;
};

/* Each function asserts that result, graph and errors are consistent. end_reading frees the reading. */
void read_request(const struct sl_graph_request *request, struct reading *reading);
void read_bytes(const char *text, size_t bytes, struct reading *reading); /* as text.yaml, for cpu */
void read_text(const char *text, struct reading *reading);
void end_reading(struct reading *reading);

#endif
