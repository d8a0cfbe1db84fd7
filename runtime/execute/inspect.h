/* inspect.h: what a session shows of itself to those above: report/, which shows a run, and trial/, which tries
 * plugins. Nothing is changed through it. What is returned lives as long as the session, or until it runs again.
 */
#ifndef SL_INSPECT_H
#define SL_INSPECT_H

#include "layout/layout.h"

#include <sluice/sluice.h>

const struct sl_options *sl_session_options(const struct sl_session *s);
const struct sl_registry *sl_session_registry(const struct sl_session *s);
const struct sl_graph *sl_session_graph(const struct sl_session *s);
const struct sl_layout *sl_session_layout(const struct sl_session *s);
uint32_t sl_session_slice_events(const struct sl_session *s);
/* What the arena would have, with the same slices, if no steps ran side by side; UINT64_MAX: that could not be planned.
 */
uint64_t sl_session_arena_of_one_branch(const struct sl_session *s);
/* Does the device have a memory of its own? What its backend says of it, or of all
 * of several, goes into `text`, "" where that is nothing. */
int sl_session_describe_device(const struct sl_session *s, char *text, size_t size);
/* What a sink reported, as lines of text and as JSON; NULL where it reported nothing. */
const char *sl_session_sink_lines(const struct sl_session *s, uint32_t node);
const char *sl_session_sink_json(const struct sl_session *s, uint32_t node);
/* The services that a node gets, what the source is opened with, how many values the array of a constant has, and how
 * many events were read. */
const struct sl_services *sl_session_services(const struct sl_session *s, uint32_t node);
const void *sl_session_source_args(const struct sl_session *s);
uint64_t sl_session_array_count(const struct sl_session *s, int32_t storage);
uint64_t sl_session_events_read(const struct sl_session *s);
/* With options.race, before the first slice: only nodes of this one's algorithm are looked at. */
void sl_session_race_only(struct sl_session *s, uint32_t node);
/* With options.race: what was found first, or NULL. */
const char *sl_session_finding(const struct sl_session *s);
const struct sl_diagnostics *sl_session_diagnostics(const struct sl_session *s);
/* Of all that a constant made. */
uint64_t sl_session_constant_checksum(const struct sl_session *s, uint32_t node);
/* Ends the file of --json with this text, NULL where memory is out. Nothing where there is no such file. */
int sl_session_put_report(struct sl_session *s, const char *text, size_t bytes);

#endif
