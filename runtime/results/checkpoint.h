/* checkpoint.h: how far a run has come, in a file, so that a run that was killed can be continued. See checkpoint.c. */
#ifndef SL_CHECKPOINT_H
#define SL_CHECKPOINT_H

#include "execute/observer.h"

struct sl_configurations;
struct sl_delivery;
struct sl_files;
struct sl_outputs;
struct sl_reading;
struct sl_rotation;

struct sl_checkpoint {
  struct sl_setup *setup;
  struct sl_files *files;
  struct sl_rotation *rotation;
  struct sl_outputs *outputs;
  struct sl_delivery *delivery;
  struct sl_reading *reading;
  struct sl_configurations *configurations;
  uint32_t file;   /* input file of the last delivered event */
  uint64_t events; /* number of events of this file that were delivered */
  int is_complete; /* the run that is to be continued has read all its input */
};

extern const struct sl_observer_calls sl_checkpoint_observer; /* its context: struct sl_checkpoint */

/* Checks --checkpoint and --resume. With --resume, reads the file and sets the state of the run. Without the options it
 * does nothing. */
int sl_checkpoint_open(struct sl_checkpoint *c);
/* Writes the file, then gives the files that the sinks have completed their final names. Without --checkpoint it does
 * nothing. */
enum { SL_RUN_CONTINUES, SL_RUN_STOPPED, SL_RUN_ENDED }; /* stopped: no files are open; ended: all input was read */
int sl_checkpoint_write(const struct sl_checkpoint *c, int state);

#endif
