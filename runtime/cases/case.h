/* case.h: a case: one node with its inputs, properties and outputs for one slice, in memory and as a file *.slc. The
 * format is described in docs/capture.md. A case knows collections by their fields, so that it can be read without the
 * plugin.
 */
#ifndef SL_CASE_H
#define SL_CASE_H

#include "base/diagnostics.h"
#include "plugin/registry.h"
#include "plugin/tables.h"

enum { SL_CASE_VERSION = 1, SL_CASE_ALIGNMENT = 64 };
#define SL_CASE_MAGIC "SLCASE\r\n"

/* A port, or one producer of a list port. */
struct sl_case_port {
  const char *name;
  const char *producer;                   /* list port: name of the producer; otherwise NULL */
  const char *reference;                  /* field reference: name of the field; otherwise NULL */
  const struct sl_collection *declared;   /* as in the tables of a plugin, without the sizes of dimensions */
  const struct sl_collection *collection; /* with the sizes of dimensions */
  const void **values;                    /* per field; NULL: not in the case */
  uint64_t *counts;                       /* per field: number of values */
};

struct sl_case_property {
  const char *name;
  const char *text;         /* a string or an enumeration; otherwise NULL */
  const char *const *items; /* numbers as text, one per value */
  uint32_t count, is_array;
};

struct sl_case {
  const char *algorithm; /* "plugin.algorithm" */
  const char *node;
  uint32_t block_threads, is_shared; /* is_shared: the node does not use its tuned version */
  uint32_t event_count;
  uint32_t *runs;
  uint64_t *numbers; /* run and event number of each event */
  uint32_t has_list; /* 1: the node runs on the events `list` */
  uint32_t list_count;
  const uint32_t *list;
  struct sl_case_property *properties;
  struct sl_case_port *inputs, *outputs;
  uint32_t property_count, input_count, output_count;
  uint32_t has_outputs;   /* 0: the node did not end normally */
  const uint64_t *errors; /* per event, as of sl_test_event_error; NULL: no event has one */
  struct sl_case_memory *memory;
};

/* An empty case, or NULL if out of memory. sl_case_free frees all that sl_case_get returned. */
struct sl_case *sl_case_new(void);
void sl_case_free(struct sl_case *c);
/* Zeroed memory of the case, aligned to SL_CASE_ALIGNMENT; NULL if out of memory. */
void *sl_case_get(struct sl_case *c, uint64_t count, size_t bytes);

/* Reads a file of any content. Returns SL_OK with the case; or SL_EIO, SL_EFORMAT or SL_ENOMEM with the reason. */
int sl_case_read(const char *path, struct sl_case **c, char *reason, size_t reason_size);
/* Checks that the arrays of the ports, the list and the errors fit the number of events: lengths, ascending offsets,
 * event lists. Returns SL_EFORMAT with the reason. */
int sl_case_check(const struct sl_case *c, char *reason, size_t reason_size);
/* Writes a file; errors are reported in `d`. */
int sl_case_write(const struct sl_case *c, const char *path, uint64_t *bytes, struct sl_diagnostics *d);

/* Number of items, and of subitems of each group, by the arrays of the port. */
void sl_case_bounds(const struct sl_case_port *p, uint64_t bounds[SL_BOUNDS_MAX]);
/* Values of the OFFSETS field, or of the ITEM_OFFSETS field of a bound; NULL: not in the case. */
const uint32_t *sl_case_offsets(const struct sl_case_port *p, uint32_t bound);

#endif
