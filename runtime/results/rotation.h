/* rotation.h: when the sinks of a run begin new files, and the names of these files. See rotation.c. */
#ifndef SL_ROTATION_H
#define SL_ROTATION_H

#include "base/output.h"
#include "execute/observer.h"

#include <limits.h>
#include <time.h>

struct sl_checkpoint;
struct sl_delivery;
struct sl_outputs;
struct sl_sinks;

/* A file that a sink writes. */
struct sl_rotated_file {
  struct sl_output *output;
  char *pattern;
  uint32_t entry; /* in the list of files */
};

struct sl_rotation {
  struct sl_setup *setup;
  struct sl_sinks *sinks;
  struct sl_outputs *outputs;
  const struct sl_delivery *delivery;
  /* --rotate; 0: not by this */
  uint64_t bytes, ns;
  int by_run;
  uint64_t number; /* of the present files */
  time_t begin_s;
  uint64_t begin_ns;
  uint64_t first_event; /* number of events delivered before the present files */
  uint32_t run;         /* of the last event without an error */
  int knows_run;
  struct sl_rotated_file *files;
  uint32_t file_count;
  /* --checkpoint: files that the sinks have completed and that get their names when the checkpoint is written */
  struct sl_checkpoint *checkpoint;
  int (*after)(struct sl_checkpoint *checkpoint); /* called after each rotation */
  struct sl_output_complete *complete;
  uint32_t complete_count, complete_capacity;
};

extern const struct sl_observer_calls sl_rotation_observer; /* its context: struct sl_rotation */

static inline int sl_rotation_is_on(const struct sl_rotation *r) { return r->bytes || r->ns || r->by_run; }
/* Reads --rotate, and checks that the paths of sinks are patterns. Without the option it does nothing. */
int sl_rotation_open(struct sl_rotation *r);
/* When all sinks are open: reports that none of them has a file. */
int sl_rotation_check(const struct sl_rotation *r);
void sl_rotation_begin(struct sl_rotation *r); /* the run begins */
void sl_rotation_close(struct sl_rotation *r);
/* The configuration changes: all sinks have ended their files, and begin the next ones when they are opened again. */
void sl_rotation_change(struct sl_rotation *r);
/* The path of the present file for a pattern that was checked. SL_EINVAL, reported, if the file exists. */
int sl_rotation_path(const struct sl_rotation *r, const struct sl_services *s, const char *pattern,
                     char path[PATH_MAX]);
/* Enters the file that a sink has opened for a pattern. */
int sl_rotation_add(struct sl_rotation *r, const char *pattern, uint32_t entry, struct sl_output *output);
/* Where a file that is completed now is entered, or NULL if it gets its name at once. *status becomes SL_ENOMEM if
 * there is no memory. */
struct sl_output_complete *sl_rotation_complete(struct sl_rotation *r, int *status);
/* Returns a pattern of glob(3) for the temporary files of a path or, with `is_pattern`, of a pattern that was checked,
 * in which number and time stand for any digits. To be freed; NULL if out of memory. */
char *sl_rotation_glob(const char *pattern, int is_pattern);
struct sl_rotated_file *sl_rotation_find(const struct sl_rotation *r, const struct sl_output *output);

#endif
