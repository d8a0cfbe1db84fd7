/* source_driver.h: drives a source of raw banks, such as io.mdf_source, as the runtime would, from buffers of exactly
 * the capacities asked for, and collects what it delivers. */
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

/* An event as it came out. */
struct seen {
  struct sl_event event;
  uint32_t slice;
  uint32_t banks[DRIVER_KINDS];
  uint64_t words[DRIVER_KINDS];
  uint64_t digest; /* of all its banks */
};

struct driver {
  /* Set by the test before a run. Default: events_max 4, 4096 banks and 1 << 19 words a port, everything wanted. */
  uint32_t events_max;
  uint32_t bank_capacity[DRIVER_KINDS], word_capacity[DRIVER_KINDS];
  uint32_t unwanted[DRIVER_KINDS];     /* 1: all pointers null; 2: only `payload` null */
  uint32_t record_words;               /* room for records in a slice, and an event's limit; 0: nobody reads them */
  uint32_t stop_after_slices;          /* 0: run to the end */
  uint32_t workers;                    /* that share the work; 3 by default */
  const struct sl_input_range *ranges; /* of the paths of a run; NULL: whole files */
  void (*between_slices)(void *context);
  void (*on_message)(void *context); /* while the source says something */
  /* Looks at each slice while the ports hold it; what it returns other than 0 ends the run. */
  int (*on_slice)(void *context, struct driver *d, const struct sl_fill *fill);
  void *context;
  /* Filled by it. */
  struct seen *seen;
  uint32_t seen_count, seen_capacity, slices;
  uint64_t progress_done, progress_total;
  char *messages; /* one a line, with "note: ", "warning: " or "error: " */
  size_t messages_size;
  uint32_t absent_kinds; /* of the kinds that it reads, those that no event had: messages of their own */
  /* Private. */
  const struct sl_algorithm *algorithm;
  struct sl_plugin *expanded; /* owns `algorithm` */
  void *library, *args, *state;
};

/* Ends the program if the plugin cannot be loaded. */
void driver_start(struct driver *d); /* io.mdf_source */
void driver_start_with(struct driver *d, const char *algorithm);
/* The same with room for few banks, as small made-up files have them. */
void driver_start_small(struct driver *d, const char *algorithm);
void driver_stop(struct driver *d);
void driver_set(struct driver *d, const char *property, double value);
/* Reads files by path: what open or the last fill returned. Earlier results are forgotten. */
int driver_run(struct driver *d, const char *const *paths, uint32_t path_count);
/* The records of a file, by its headers. */
int driver_index(struct driver *d, const char *path, const struct sl_index_calls *calls);
/* Reads one file from memory. */
int driver_run_bytes(struct driver *d, const void *data, size_t size);

/* What a plugin is given: messages go to the driver. */
struct sl_services driver_services(struct driver *d);
/* The port of a kind, while a slice is looked at. */
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

/* A file of the shared data, or empty bytes, with the reason printed. */
struct bytes shared_file(const char *name);

#endif
