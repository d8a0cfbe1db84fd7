/* request.h: what sl_graph_read is asked for (graph/graph.h): the graph's file and what changes it. */
#ifndef SL_REQUEST_H
#define SL_REQUEST_H

#include <stddef.h>
#include <stdint.h>

struct sl_registry;
struct sl_source;

struct sl_override {
  const char *key;   /* NODE.PROPERTY, PARAMETER, or NODE for --use */
  const char *value; /* YAML scalar, or PLUGIN.ALGORITHM */
};

struct sl_graph_request {
  const char *path; /* file name, used in messages */
  const char *text; /* if not NULL, the document itself; `path` is not read */
  size_t text_bytes;
  const char *const *with_paths; /* NULL-terminated files that are merged after it, or NULL */
  const char *target;
  struct sl_registry *registry;          /* loads the plugins that the graph needs */
  const struct sl_override *sets, *uses; /* in command-line order */
  uint32_t set_count, use_count;
  uint32_t origins; /* 1: make text_with_origins */
  /* The first bytes of the first input; input_name NULL: no input. If the graph's source reads no files, it is replaced
   * by a source that recognises these bytes, unless --use names a source. */
  const char *input_name;
  const char *input_option; /* option that names the input, in messages: "-i" */
  const unsigned char *input_bytes;
  size_t input_count;
  int input_is_pipe;     /* further bytes may follow, even if there are none yet */
  int *input_is_refused; /* becomes 1 if no source recognises the input, or its header is wrong; or NULL */
  int is_fed;            /* 1: the program feeds events from memory, without input files; the source must take a feed */
  /* Not NULL: the program feeds arrays; these functions replace those of the graph's source. */
  const struct sl_source *arrays_source;
  uint32_t arrays_state_bytes;
};

#endif
