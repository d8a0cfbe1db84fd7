/* graph_reading.h: reads a graph in a test and keeps what came of it. */
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

/* Each asserts that result, graph and errors agree. end_reading frees. */
void read_request(const struct sl_graph_request *request, struct reading *reading);
void read_bytes(const char *text, size_t bytes, struct reading *reading); /* as text.yaml, for cpu */
void read_text(const char *text, struct reading *reading);
void end_reading(struct reading *reading);

#endif
