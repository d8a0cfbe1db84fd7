/* inspect.h: what a session shows to the layers above: report/, which shows a run, and trial/, which tries plugins.
 * What is returned lives as long as the session, or until it runs again.
 */
#ifndef SL_INSPECT_H
#define SL_INSPECT_H

#include "execute/setup.h"

#include <sluice/sluice.h>

const struct sl_setup *sl_session_setup(const struct sl_session *s);
const struct sl_options *sl_session_options(const struct sl_session *s);
const struct sl_graph *sl_session_graph(const struct sl_session *s);
const struct sl_layout *sl_session_layout(const struct sl_session *s);
/* Bytes of the arena, with the same slices, if no steps ran side by side; UINT64_MAX: such a layout is not possible. */
uint64_t sl_session_arena_of_one_branch(const struct sl_session *s);
/* Does the device have a memory of its own? Its description goes into `text`, that of several devices one after
 * another; "" if there is none. */
int sl_session_describe_device(const struct sl_session *s, char *text, size_t size);
/* What a sink reported, as lines of text and as JSON; NULL where it reported nothing. */
const char *sl_session_sink_lines(const struct sl_session *s, uint32_t node);
const char *sl_session_sink_json(const struct sl_session *s, uint32_t node);
uint64_t sl_session_events_read(const struct sl_session *s);
/* With options.race, before the first slice: only nodes of this node's algorithm are checked. */
void sl_session_race_only(struct sl_session *s, uint32_t node);
/* Checksum of all arrays of a constant. */
uint64_t sl_session_constant_checksum(const struct sl_session *s, uint32_t node);
/* Ends the file of --json with this text, NULL without memory. Does nothing if there is no file. */
int sl_session_put_report(struct sl_session *s, const char *text, size_t bytes);

/* ------------------------------------------------------------------------------------------------- step by step */

struct sl_flight;
struct sl_slot;

/* A run before a node, or before event lists are combined (then `node` is UINT32_MAX). On the target cpu or race, with
 * one slot, whose results are not delivered. */
struct sl_moment {
  const struct sl_session *session;
  const struct sl_step *step;
  uint32_t node;
  uint32_t event_count; /* of the slice, or of the part of one that runs */
  int is_whole;         /* it is the slice: fields begin where the input does */
  const struct sl_slot *slot;
  const struct sl_flight *flight;
};

/* 1: the step is left out; 0: it runs; SL_EINTERRUPTED: the slice ends here; another error: the run does. */
typedef int sl_look(void *context, const struct sl_moment *moment);

/* Address of a field at that moment. */
const void *sl_moment_storage(const struct sl_moment *m, int32_t storage);
/* Number of entries that the source filled of bound `bound` of its member `member`. */
uint64_t sl_moment_filled(const struct sl_moment *m, uint32_t member, uint32_t bound);
/* The moment before a session's first slice, when there are constants and nothing else. */
struct sl_moment sl_moment_first(const struct sl_session *s);

/* Fills a slice from the source, whose state the caller has opened, and runs it, with a call of `look` before each
 * node. Returns 1 if there may be more, 0 at the end of the input, or an error: with *source_failed that of the source.
 */
int sl_session_watch_slice(struct sl_session *s, void *source_state, sl_look *look, void *context, int *source_failed);

#endif
