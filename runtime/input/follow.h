/* follow.h: files of a followed folder (sluice.h), from the side of the session. See follow.c. */
#ifndef SL_FOLLOW_H
#define SL_FOLLOW_H

#include <sluice/sluice.h>

#include <limits.h>

/* Attaches it to a session until sl_follow_detach. SL_EINVAL if it has a session or no first file. */
int sl_follow_attach(struct sl_follow *f);
void sl_follow_detach(struct sl_follow *f);

/* A file that was taken. */
struct sl_follow_file {
  char path[PATH_MAX];
  uint32_t number, reserved;
  uint64_t events_before; /* in files taken before it */
  uint64_t skip_events;   /* its first events, which an earlier run has delivered */
};
/* Returns the first file, for which the run is planned; NULL if it was refused. Valid until the next file is taken. */
const struct sl_follow_file *sl_follow_first(const struct sl_follow *f);
/* Takes the next file, the first one first; waits up to `wait_ms`. Returns SL_FOLLOW_FILE, SL_FOLLOW_LATER if there is
 * none yet, SL_FOLLOW_END, or SL_ENOMEM. */
enum { SL_FOLLOW_END, SL_FOLLOW_FILE, SL_FOLLOW_LATER };
int sl_follow_next(struct sl_follow *f, uint32_t wait_ms, struct sl_follow_file *file);
/* Refuses a file that was taken: it is not read, or not to the end, and not moved. `format`: what is wrong, after the
 * path and a colon; NULL: it was reported. */
void sl_follow_refuse(struct sl_follow *f, uint32_t number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The source was opened on a file; `events` more events of a file were read; a file has ended. */
void sl_follow_opened(struct sl_follow *f);
void sl_follow_read(struct sl_follow *f, uint32_t number, uint64_t events);
void sl_follow_ended(struct sl_follow *f, uint32_t number);
/* The first `events` events of the file were delivered. */
void sl_follow_delivered(struct sl_follow *f, uint32_t number, uint64_t events);
/* Copies the path of a file with events that are not delivered yet. */
void sl_follow_path(struct sl_follow *f, uint32_t number, char path[PATH_MAX]);
/* Returns 1 if a file written there would be taken as an input. */
int sl_follow_would_take(const struct sl_follow *f, const char *path);

/* How far the input was delivered: `events` events of the file `name`, and all files taken before it. */
struct sl_follow_position {
  char name[NAME_MAX + 1]; /* "": nothing was delivered */
  uint64_t events;
  uint64_t events_before; /* in files taken before it */
  uint32_t is_whole;      /* all events of the file were delivered, or it was refused */
  uint32_t number;
};
struct sl_follow_position sl_follow_position_of(struct sl_follow *f);
/* Continues where an earlier run ended: before sl_follow_wait. Files in `processed` are not taken. The file of `at` is
 * taken first, without its first at->events events; with at->is_whole, or if it is gone, which is reported, it is not.
 * The texts are copied. Returns SL_ENOMEM on failure. */
int sl_follow_resume(struct sl_follow *f, const struct sl_follow_position *at, const char *const *processed);
int sl_follow_is_resumed(const struct sl_follow *f); /* 1 after sl_follow_resume */

/* --checkpoint: from now on files are moved to the folder `done` by sl_follow_release only. */
void sl_follow_hold(struct sl_follow *f);
/* Moves the files with only delivered events. */
void sl_follow_release(struct sl_follow *f);
int sl_follow_is_held(struct sl_follow *f, const char *name); /* 1 for a file that sl_follow_release will move */
/* Moves a file that an earlier run has held, if it is still there. */
void sl_follow_move(struct sl_follow *f, const char *name);
/* Names of the files in the folder that need not be taken again: a NULL-terminated array, to be freed with its texts by
 * the caller. NULL if out of memory. */
char **sl_follow_processed(struct sl_follow *f);

#endif
