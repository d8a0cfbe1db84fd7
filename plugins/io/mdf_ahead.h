/* mdf_ahead.h: windows of records that are processed ahead of delivery.
 *
 * 1. A stream finds the records of a window by their headers.
 * 2. Workers verify the checksums, decompress the bodies and inspect the contents, in any order.
 * 3. The stream delivers the records in file order; errors are reported only then.
 * A window has up to MDF_WINDOW_RECORDS records per worker, enough to keep all lanes of a hasher busy, and ends earlier
 * if its bodies exceed MDF_WINDOW_BYTES per worker. The decompressed bodies share one buffer of at most that size, or
 * of the size of one larger body. */
#ifndef IO_MDF_AHEAD_H
#define IO_MDF_AHEAD_H

#include "format/mdf.h"
#include "format/mdf_checksum.h"
#include "format/mdf_decompress.h"

#include <sluice/plugin.h>

enum { MDF_WINDOW_RECORDS = 64, MDF_WINDOW_BYTES = 4 << 20 };

/* A record and its body. `body` is NULL if the record has a fault; it is valid until the window ends. */
struct mdf_stream_event {
  struct mdf_record record; /* its offset is that in the mapping */
  uint64_t offset;          /* in the file or pipe */
  uint64_t number;          /* index of the record in its file */
  uint32_t file, pass;
  const uint8_t *body;
  uint64_t body_bytes;
  uint32_t index, reserved; /* index in the window */
};

/* State of a stream after a record. */
struct mdf_checkpoint {
  uint64_t offset, verify_bytes; /* state of the reader */
  uint64_t record_count, done_bytes;
  uint32_t pass, reserved;
};

struct mdf_ahead_record {
  struct mdf_stream_event event;
  struct mdf_fault body_fault; /* fault of the body header; ignored if the checksum is wrong */
  struct mdf_block block;      /* header of a compressed body */
  uint32_t is_hashed;          /* the checksum must be verified */
  uint32_t is_walked;          /* the contents must be walked to their end, since no checksum is verified */
  uint32_t is_damaged;         /* the checksum is wrong, or the contents do not reach the end */
  uint64_t bytes_before;       /* size of all earlier bodies in the window */
  struct mdf_checkpoint after;
};

/* Functions of a source that inspect events before delivery. */
struct mdf_inspector {
  void *context;
  /* Called before the workers start, with the number of records and the size of all bodies: 0 or SL_ENOMEM. */
  int (*begin)(void *context, uint32_t count, uint64_t bytes);
  /* Called by any worker, once for each event that has a body. */
  void (*inspect)(void *context, const struct mdf_stream_event *event, uint64_t bytes_before);
};

struct mdf_ahead_worker {
  struct mdf_hasher hasher;
  struct mdf_decompressor decompressor; /* only its codec state is used */
};

struct mdf_ahead {
  struct mdf_ahead_record *records; /* [next, count) are not delivered yet */
  uint32_t next, count;
  uint32_t capacity, limit; /* in records: allocated; allowed in the next window */
  struct mdf_ahead_worker *workers;
  uint32_t worker_count, claimed; /* claimed: records that workers have taken */
  const uint8_t *data;            /* bytes of the file */
  uint8_t *bodies;                /* decompressed bodies, each at its bytes_before */
  uint64_t bodies_bytes;
  struct mdf_inspector inspector;
};

/* Allocates the windows: 0 or SL_ENOMEM. The functions of `inspector` may be NULL. */
int mdf_ahead_open(struct mdf_ahead *a, uint32_t worker_count, const struct mdf_inspector *inspector);
void mdf_ahead_close(struct mdf_ahead *a);
/* Processes the records of the window, with bodies of `bytes` in total; `data` is the file. A body without memory gets
 * MDF_FAULT_MEMORY. Returns 0, or SL_ENOMEM if inspector.begin failed. */
int mdf_ahead_work(struct mdf_ahead *a, const struct sl_services *s, const uint8_t *data, uint64_t bytes);

#endif
