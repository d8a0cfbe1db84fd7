/* inspect.h: access to a session for report/, which shows runs, and trial/, which tests plugins. Returned pointers are
 * valid as long as the session, or until it runs again.
 */
#ifndef SL_INSPECT_H
#define SL_INSPECT_H

#include "execute/setup.h"

#include <sluice/sluice.h>

struct sl_drawings;
struct sl_event_records;
struct sl_outputs;
struct sl_zmq_link;

const struct sl_setup *sl_session_setup(const struct sl_session *s);
const struct sl_options *sl_session_options(const struct sl_session *s);
/* The options with which the session was opened; they do not change. */
const struct sl_options *sl_session_options_given(const struct sl_session *s);
const struct sl_graph *sl_session_graph(const struct sl_session *s);
const struct sl_layout *sl_session_layout(const struct sl_session *s); /* the newest plan */
/* Size of the arena for the same slices without concurrent steps; UINT64_MAX if there is no such layout. */
uint64_t sl_session_arena_of_one_branch(const struct sl_session *s);
/* Returns 1 if the device has memory of its own. `text`: description of the devices, "" if there is none. */
int sl_session_describe_device(const struct sl_session *s, char *text, size_t size);
/* Report of a sink as lines of text and as JSON; NULL if it reported nothing. */
const char *sl_session_sink_lines(const struct sl_session *s, uint32_t node);
const char *sl_session_sink_json(const struct sl_session *s, uint32_t node);
/* Drawings of events on request (results/drawings.h), for any thread; NULL without options.draws. */
struct sl_drawings *sl_session_drawings(struct sl_session *s);
/* Sockets of ZeroMQ and their counts; NULL if there are none. */
const struct sl_zmq_link *sl_session_links(const struct sl_session *s);
/* Items, totals and histograms of the graph's outputs. */
const struct sl_outputs *sl_session_outputs(const struct sl_session *s);
/* Digests and named entries of events. */
const struct sl_event_records *sl_session_event_records(const struct sl_session *s);
uint64_t sl_session_events_read(const struct sl_session *s);
/* --resume: number of events that earlier processes have delivered. */
uint64_t sl_session_earlier_events(const struct sl_session *s);
/* With options.race, before the first slice: checks only nodes with the algorithm of this node. */
void sl_session_race_only(struct sl_session *s, uint32_t node);
/* Values of the conditions that events had. */
const struct sl_constant_conditions *sl_session_conditions(const struct sl_session *s);
/* Checksum of all arrays of a constant. */
uint64_t sl_session_constant_checksum(const struct sl_session *s, uint32_t node);
/* Writes the file of --json and ends it; `text` NULL: out of memory. Does nothing if there is no file. */
int sl_session_put_report(struct sl_session *s, const char *text, size_t bytes);

/* ------------------------------------------------------------------------------------------------- step by step */

struct sl_slice;
struct sl_slot;

/* State of a run before a node, or before event lists are combined (`node` UINT32_MAX). Only for the targets cpu and
 * race, with one slot; results are not delivered. */
struct sl_moment {
  const struct sl_session *session;
  const struct sl_step *step;
  uint32_t node;
  uint32_t event_count; /* number of events of the slice, or of the running part */
  int is_whole;         /* 1: whole slice, fields begin with the first event */
  const struct sl_slot *slot;
  const struct sl_slice *slice;
};

/* Returns 1 to skip the step, 0 to run it, SL_EINTERRUPTED to end the slice, another error to end the run. */
typedef int sl_inspect_function(void *context, const struct sl_moment *moment);

/* Called after a node has run; `step` of the moment is NULL. */
typedef void sl_inspect_ran_function(void *context, const struct sl_moment *moment);

/* Address of a field. */
const void *sl_moment_storage(const struct sl_moment *m, int32_t storage);
/* Number of entries that the source filled for bound `bound` of its member `member`. */
uint64_t sl_moment_filled(const struct sl_moment *m, uint32_t member, uint32_t bound);
/* The events, and their error words, which the caller may clear before a node to see its own. */
const struct sl_event *sl_moment_events(const struct sl_moment *m);
uint64_t *sl_moment_errors(const struct sl_moment *m);
/* State before the first slice of a session, when only constants exist. */
struct sl_moment sl_moment_first(const struct sl_session *s);

/* Fills a slice from the source, opened by the caller, and runs it with a call of `look` before each node and of `ran`,
 * which may be NULL, after it. Returns 1 if there may be more events, 0 at the end of the input, or an error;
 * *source_failed: it is an error of the source. */
int sl_session_inspect_slice(struct sl_session *s, void *source_state, sl_inspect_function *look,
                             sl_inspect_ran_function *ran, void *context, int *source_failed);

#endif
