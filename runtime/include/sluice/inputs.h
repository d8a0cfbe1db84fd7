/* inputs.h: inputs of a run that are not files named before it begins: events from the memory of a program, and files
 * that arrive in a folder. Part of sluice.h.
 */
#ifndef SLUICE_INPUTS_H
#define SLUICE_INPUTS_H

#include <sluice/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SL_API __attribute__((visibility("default")))

struct sl_diagnostics;

/* ------------------------------------------------------------------------------------------ events from memory */

/* Events from the memory of a program, handed over by its own threads while a session runs: see docs/embedding.md. The
 * feed is passed to a session as options.feed; the graph's source must be one that takes a feed.
 *
 *   struct sl_feed *feed = sl_feed_new(NULL);
 *   options.feed = feed;
 *   ... sl_session_open; in another thread: sl_session_run ...
 *   while (...) sl_feed_give_event(feed, &event, -1, NULL);
 *   sl_feed_end(feed);
 *
 * Nothing is copied except into slices. The array of blocks and the memory that an entry points to are borrowed until
 * the entry is released: until on_release is called for it, or, if the caller waits for it, until sl_feed_wait returns.
 * Any thread may call these functions, several threads at once; entries are numbered in the order of the calls.
 * Callbacks of the run and on_release must not wait (pass timeout 0), because the thing waited for may need the
 * callback to return.
 */
struct sl_feed;

struct sl_feed_options {
  uint32_t size;        /* sizeof(struct sl_feed_options) */
  uint32_t entries_max; /* most entries that are not packed yet; giving another one waits. 0: 4,096 */
  void *context;
  /* Called once for each accepted entry, in order, as soon as the runtime no longer reads its memory: when its events
   * are in slices, or when the run ends earlier. Called from a thread of the run, of sl_session_close or of
   * sl_feed_free, one call at a time. */
  void (*on_release)(void *context, void *owner);
  /* 1: entries are given with sl_feed_give_arrays only; the graph's own source keeps its outputs and properties, and
   * the entries take the place of its events. 0: the graph's source must take a feed. */
  uint32_t is_arrays, reserved;
};
/* `options` NULL: the defaults. Returns NULL if out of memory or if options->size is wrong. */
SL_API struct sl_feed *sl_feed_new(const struct sl_feed_options *options);
/* Ends the feed and releases the entries that no session will take. No other thread may be in a call for this feed or
 * make one later; a session that uses it may still be open and running. NULL: does nothing. */
SL_API void sl_feed_free(struct sl_feed *feed);

/* An event as blocks (sluice/services.h). For io.feed_source, a block is the payload of a raw bank. */
struct sl_feed_event {
  uint32_t size; /* sizeof(struct sl_feed_event) */
  uint32_t block_count;
  const struct sl_feed_block *blocks;
  uint64_t number; /* event number and run, if the event's data does not contain them (LHCb's ODIN bank does) */
  uint32_t run, reserved;
  void *owner; /* passed to on_release */
};
/* Gives an event as one entry; *index, if `index` is not NULL, becomes the entry's number, counted from 0. Waits for
 * room up to `timeout_ms`; negative: without limit. Returns 1: accepted; 0: no room within the timeout;
 * SL_EINTERRUPTED: the feed was ended or its run is over; SL_EINVAL: the entry is invalid (wrong size, or `blocks` NULL
 * with block_count > 0); SL_ENOMEM. An entry that was not accepted is not released. Wrong event data is not an error
 * here; the run reports it as an error of the event. */
SL_API int sl_feed_give_event(struct sl_feed *feed, const struct sl_feed_event *event, int32_t timeout_ms,
                              uint64_t *index);
/* Gives a packet of events as one entry, with the return values of sl_feed_give_event. For io.feed_source: one
 * event-builder packet (MEP) without anything around it. */
SL_API int sl_feed_give_packet(struct sl_feed *feed, const void *packet, uint64_t bytes, void *owner,
                               int32_t timeout_ms, uint64_t *index);
/* One or several events as arrays, one for each field (sluice/services.h). */
struct sl_feed_arrays {
  uint32_t size; /* sizeof(struct sl_feed_arrays) */
  uint32_t array_count;
  const struct sl_feed_array *arrays;
  uint64_t event_count;
  uint64_t
      number; /* event number of the first event; the others follow. SL_FEED_COUNTED: events of the feed are counted */
  uint32_t run, reserved;
  void *owner; /* passed to on_release */
};
#define SL_FEED_COUNTED UINT64_MAX
/* Gives events as one entry, with the return values of sl_feed_give_event, to a record source or, with is_arrays, to
 * any graph. The arrays' names are those of ports and fields of the graph's source; all fields that the graph reads are
 * needed. Wrong names, types and counts end the run with an error. */
SL_API int sl_feed_give_arrays(struct sl_feed *feed, const struct sl_feed_arrays *events, int32_t timeout_ms,
                               uint64_t *index);
/* Ends the input: the run processes the entries given so far, then finishes. Further calls do nothing. */
SL_API void sl_feed_end(struct sl_feed *feed);
/* Waits until all events of entry `index` and of all earlier entries have passed the sinks and on_batch. Returns 1:
 * they have; 0: not within the timeout; SL_EINTERRUPTED: the run ended before they did. */
SL_API int sl_feed_wait(struct sl_feed *feed, uint64_t index, int32_t timeout_ms);

/* ----------------------------------------------------------------------------------- files that arrive in a folder */

/* The files of a folder as input of a run, in the order of their names, as they become complete: see docs/running.md.
 *
 *   struct sl_follow *follow = NULL;
 *   if (sl_follow_new(&follow_options, d, &follow) == 0 && sl_follow_wait(follow, -1) == 1) {
 *     options.follow = follow;
 *     ... sl_session_open, sl_session_run, sl_session_close ...
 *   }
 *   sl_follow_free(follow);
 *
 * The source of the graph is chosen, and memory is planned, for the first file. If no source recognises it or its
 * header is wrong, sl_session_open returns SL_EFORMAT; the file is left out, and the program may wait and open again.
 */
struct sl_follow;

/* When a file counts as complete. */
enum {
  SL_COMPLETE_RENAME, /* it has a name that matches: it was moved into the folder, or a scan finds it */
  SL_COMPLETE_CLOSE   /* it was moved into the folder, or the program that wrote it has closed it */
};
struct sl_follow_options {
  uint32_t size;             /* sizeof(struct sl_follow_options) */
  uint32_t complete;         /* SL_COMPLETE_... */
  const char *folder;        /* files in folders below it are not taken */
  const char *pattern;       /* of names, as in a shell; NULL: "*" */
  const char *done;          /* folder to which files are moved when all their events are delivered; NULL: none */
  double until_idle_seconds; /* the input ends when no file arrived for so long; 0: it does not end by itself */
};
/* Starts to watch the folder. The texts are copied; `d` is borrowed until sl_follow_free. Returns SL_EINVAL with a
 * message if an option is wrong or a folder cannot be used. */
SL_API int sl_follow_new(const struct sl_follow_options *options, struct sl_diagnostics *d, struct sl_follow **follow);
/* Waits for the first file, up to `timeout_ms`; negative: without limit. Not during a session. Returns 1: there is one;
 * 0: not within the timeout; SL_EINTERRUPTED: the input has ended; SL_ENOMEM. */
SL_API int sl_follow_wait(struct sl_follow *follow, int32_t timeout_ms);
/* Ends the input: the run processes the file that it reads, then finishes. From any thread. */
SL_API void sl_follow_end(struct sl_follow *follow);
/* Continues where the run of a checkpoint (options.checkpoint_path, options.resume) ended; before sl_follow_wait.
 * Without such a file it does nothing. SL_EINVAL, reported, if the file is no checkpoint of a followed folder. `sums`
 * may be NULL; it gets a JSON object with the sums of that run (docs/running.md, `follow`), to be freed, or NULL. */
SL_API int sl_follow_continue(struct sl_follow *follow, const char *path, struct sl_diagnostics *d, char **sums);
/* A session that uses it may still be open. NULL: does nothing. */
SL_API void sl_follow_free(struct sl_follow *follow);

struct sl_follow_summary {
  const char *folder; /* as given */
  uint64_t taken;     /* files that were opened and read */
  uint64_t refused;   /* files that were not read, or not to the end */
  uint64_t late;      /* files with a name that sorts before the name of a file taken earlier */
  uint64_t waiting;   /* complete files that were not taken yet */
  uint64_t moved;     /* files moved to the folder `done` */
};
/* Returns the counts so far. From any thread. */
SL_API struct sl_follow_summary sl_follow_count(struct sl_follow *follow);

#ifdef __cplusplus
}
#endif
#endif
