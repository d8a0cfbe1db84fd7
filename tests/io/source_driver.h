/* source_driver.h: runs a source of raw banks, such as io.mdf_source, as the runtime does, with buffers of exactly the
 * given capacities, and collects the delivered events. */
#ifndef TEST_SOURCE_DRIVER_H
#define TEST_SOURCE_DRIVER_H

#include "mdf_writer.h"

#include <sluice/plugin.h>

#include <io/raw_banks.h>
#include <io/raw_record.h>

enum { DRIVER_EVENTS_MAX = 64 };

enum {
  DRIVER_odin,
  DRIVER_velo_superpixels,
  DRIVER_velo_clusters,
  DRIVER_mc_particles,
  DRIVER_mc_vertices,
  DRIVER_KINDS
};

/* A delivered event. */
struct seen {
  struct sl_event event;
  uint32_t slice;
  uint32_t banks[DRIVER_KINDS];
  uint64_t words[DRIVER_KINDS];
  uint64_t digest; /* digest of all its banks */
};

struct driver {
  /* Set by the test before a run. Default: events_max 4, 4096 banks and 1 << 19 words per port, all kinds read. */
  uint32_t events_max;
  uint32_t bank_capacity[DRIVER_KINDS], word_capacity[DRIVER_KINDS];
  uint32_t not_read[DRIVER_KINDS]; /* 1: all pointers null; 2: only `payload` null */
  uint32_t record_words;      /* capacity for records of a slice, and limit for an event; 0: records are not read */
  uint32_t stop_after_slices; /* 0: run to the end */
  uint32_t workers;           /* number of workers; 3 by default */
  const struct sl_input_range *ranges; /* ranges of the paths of a run; NULL: whole files */
  void (*between_slices)(void *context);
  void (*on_message)(void *context); /* called for each message of the source */
  /* Called for each slice while its data are valid; a result other than 0 ends the run. */
  int (*on_slice)(void *context, struct driver *d, const struct sl_fill *fill);
  void *context;
  /* Filled by the run. */
  struct seen *seen;
  uint32_t seen_count, seen_capacity, slices;
  uint64_t progress_done, progress_total;
  char *messages; /* one per line, after "note: ", "warning: " or "error: " */
  size_t messages_size;
  uint32_t absent_kinds; /* number of messages about kinds that are read and that no event had */
  /* Private. */
  const struct sl_algorithm *algorithm;
  struct sl_plugin *expanded; /* owns `algorithm` */
  void *library, *args, *state;
};

/* Ends the program if the plugin cannot be loaded. */
void driver_start(struct driver *d); /* io.mdf_source */
void driver_start_with(struct driver *d, const char *algorithm);
/* With the plugin of another file. */
void driver_start_from(struct driver *d, const char *library, const char *algorithm);
/* driver_start_with, with room for few banks, which suffices for small files made by tests. */
void driver_start_small(struct driver *d, const char *algorithm);
void driver_stop(struct driver *d);
void driver_set(struct driver *d, const char *property, double value);
/* Reads files by path; returns the result of open or of the last fill. Earlier results are discarded. */
int driver_run(struct driver *d, const char *const *paths, uint32_t path_count);
/* Lists the records of a file by its headers. */
int driver_index(struct driver *d, const char *path, const struct sl_index_calls *calls);
/* Reads one file from memory. */
int driver_run_bytes(struct driver *d, const void *data, size_t size);

/* Reads the bytes of a file from a pipe, into which another thread writes them in pieces. SIGPIPE must be ignored if
 * the run may end early. */
int driver_run_pipe(struct driver *d, const struct bytes *file, size_t piece);
/* Returns 1 if events have the same number, run, offset, error and banks. */
int seen_is_same(const struct seen *a, const struct seen *b);

/* Returns services for a plugin; messages go to the driver. */
struct sl_services driver_services(struct driver *d);
/* Returns the port of a kind; valid in on_slice. */
const struct io_raw_banks *driver_port(const struct driver *d, uint32_t kind);
const char *driver_port_name(uint32_t kind);
const struct io_raw_record *driver_record(const struct driver *d);

/* A file in memory, as a descriptor and a path. */
struct memory_file {
  int descriptor;
  char path[40];
};
struct memory_file memory_file_new(const void *data, size_t size);
void memory_file_free(struct memory_file *f);

/* Returns a file of the shared data, or empty bytes after printing the reason. */
struct bytes shared_file(const char *name);

#endif
