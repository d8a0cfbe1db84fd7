/* folder.h: the names of the files in a watched folder, in order, and which of them are complete. See folder.c. */
#ifndef SL_FOLDER_H
#define SL_FOLDER_H

#include <sluice/sluice.h>

struct sl_folder;

struct sl_folder_options {
  const char *path, *pattern; /* borrowed until sl_folder_close */
  uint32_t complete;          /* SL_COMPLETE_... */
  uint32_t rescan_ms;         /* time between two scans, and for which a file must not change (SL_COMPLETE_CLOSE) */
  struct sl_diagnostics *diagnostics;
};

/* Starts to watch the folder. Returns SL_ENOMEM on failure; a folder that cannot be read is reported and scanned
 * again. */
int sl_folder_open(const struct sl_folder_options *options, struct sl_folder **folder);
void sl_folder_close(struct sl_folder *f);
/* Learns what has changed; scans the folder if a scan is due or if `must_scan`. Returns SL_ENOMEM on failure. */
int sl_folder_update(struct sl_folder *f, int must_scan);
/* Blocks until something may have changed, up to `ms`. */
void sl_folder_wait(const struct sl_folder *f, uint32_t ms);
/* Returns the first name of a complete file that was not taken, or NULL. Valid until the next call of another function.
 */
const char *sl_folder_first(struct sl_folder *f);
/* Marks a file as taken. Returns 0 if there is no file of that name. */
int sl_folder_take(struct sl_folder *f, const char *name);
/* Removes a name: the file was moved away. */
/* Copies the names that were taken, NULL-terminated. NULL if out of memory. */
char **sl_folder_taken(const struct sl_folder *f);
void sl_folder_forget(struct sl_folder *f, const char *name);
/* Number of complete files that were not taken, of files that disappeared before they were taken, and of files that may
 * still be written. */
uint64_t sl_folder_waiting(const struct sl_folder *f);
uint64_t sl_folder_gone(const struct sl_folder *f);
uint64_t sl_folder_incomplete(const struct sl_folder *f);
/* Returns 1 if there are incomplete files that a later scan may find complete. */
int sl_folder_is_undecided(const struct sl_folder *f);
/* Number of names that are kept. */
size_t sl_folder_names(const struct sl_folder *f);
/* Time at which a file last became complete, or, if none did, at which the folder was opened. */
uint64_t sl_folder_arrival_ns(const struct sl_folder *f);
/* Returns 1 if a file of this name can be taken: it matches the pattern, does not begin with a dot, and does not end
 * with ".part" or ".part" and a number. */
int sl_folder_takes(const char *pattern, const char *name);

#endif
