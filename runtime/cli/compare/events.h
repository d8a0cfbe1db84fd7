/* events.h: the events of a run, with the digests of their outputs and the named entries that they pass, and their
 * comparison. */
#ifndef SL_CLI_COMPARE_EVENTS_H
#define SL_CLI_COMPARE_EVENTS_H

#include "base/document.h"

#include <stdint.h>

struct cli_event {
  uint64_t number;
  uint32_t run, error; /* error: SL_EVENT_... */
};

/* A named entry: "Hlt1TrackMVA" of decide.decisions. */
struct cli_entry {
  char *output, *name;
};

/* All members are filled by functions; zero-initialised, freed by cli_events_free. */
struct cli_events {
  char **outputs; /* names of the outputs with digests; NULL-terminated */
  struct cli_entry *entries;
  struct cli_event *events;
  uint64_t *digests; /* output_count per event */
  uint32_t *bits;    /* `words` per event: entries that it passes */
  uint32_t output_count, entry_count, words;
  uint64_t count, capacity;
  int has_failed; /* memory is out */
};

/* Add an output with digests; an entry; an event, which gets no entries and digests of 0. Call in this order. */
void cli_events_add_output(struct cli_events *e, const char *name);
void cli_events_add_entry(struct cli_events *e, const char *output, const char *name);
void cli_events_add(struct cli_events *e, struct cli_event event);
/* The newest event passes an entry; an index out of range is ignored. */
void cli_events_pass(struct cli_events *e, uint64_t event, uint32_t entry);
void cli_events_free(struct cli_events *e);

/* Reads "event_records" of a summary. CLI_OK, also if there are none; CLI_WRONG with a message if they are malformed.
 */
int cli_events_read(struct cli_events *e, struct sl_document *d);

/* Prints the events that differ: other errors, other entries (only entries of both runs count), and other digests; the
 * first ones, or `all`. CLI_FAILED if some differ, CLI_WRONG with a message if the runs read other events. */
int cli_events_compare(const struct cli_events *a, const struct cli_events *b, int all);

#endif
