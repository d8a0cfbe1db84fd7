/* followed.h: the source of the graph on the files of a followed folder, one after another. See followed.c. */
#ifndef SL_FOLLOWED_H
#define SL_FOLLOWED_H

#include "execute/setup.h"
#include "input/follow.h"

/* The file that is read. Protected by the lock of the source. */
struct sl_followed {
  struct sl_follow_file file;
  const char *paths[2]; /* the inputs of the source: the path of the file, then NULL */
  int is_open;
  int is_recognised;     /* the source has recognised a file by its first bytes */
  uint64_t events;       /* events of the file so far, including skipped ones */
  uint64_t skipped_left; /* events that an earlier run has delivered, and that are still to be skipped */
};

/* Closes the source, if it is open. `path`: the file of a followed folder, for messages; or NULL. */
void sl_source_close(struct sl_setup *s, const char *path);
/* Opens the next file, unless one is open. Waits up to `wait_ms` for one. Returns SL_FOLLOW_FILE, SL_FOLLOW_LATER or
 * SL_FOLLOW_END; or an error that ends the run. */
int sl_followed_open(struct sl_setup *s, struct sl_followed *f, uint32_t wait_ms);
/* Records the next events of the file and gives them its number. Returns 1 if they are to be skipped, else 0. */
int sl_followed_read(const struct sl_setup *s, struct sl_followed *f, struct sl_event *events, uint32_t count);
/* Closes the file after `fill` has returned `status`, 0 or an error. Returns 0, or the error if it ends the run. */
int sl_followed_end(struct sl_setup *s, struct sl_followed *f, int status);

#endif
