/* mdf_ahead.h: records that a stream has found ahead of their turn, a window of them at a time. Workers verify their
 * checksums, decompress their bodies, and look at their contents, all at once and in any order; the stream then hands
 * them out one after the other, and only then anything is said of them.
 *
 * A window has WINDOW_RECORDS a worker, enough that all lanes of a hasher are busy most of the time, and ends where the
 * bodies take more than WINDOW_BYTES a worker. What is decompressed lies in one block of memory, which so is no larger,
 * or as large as a single body.
 */
#ifndef IO_MDF_AHEAD_H
#define IO_MDF_AHEAD_H

#include "format/mdf.h"
#include "format/mdf_checksum.h"
#include "format/mdf_decompress.h"

#include <sluice/plugin.h>

enum { MDF_WINDOW_RECORDS = 64, MDF_WINDOW_BYTES = 4 << 20 };

/* A record and what it holds. body is NULL if there is a fault; it is valid until the window ends. */
struct mdf_stream_event {
  struct mdf_record record;
  uint64_t number; /* in the file, from 0 */
  uint32_t file, pass;
  const uint8_t *body;
  uint64_t body_bytes;
  uint32_t index, reserved; /* in the window */
};

/* Where a stream stands behind a record. */
struct mdf_place {
  uint64_t offset, verify_bytes; /* of the reader */
  uint64_t record_count, done_bytes;
  uint32_t pass, reserved;
};

struct mdf_ahead_record {
  struct mdf_stream_event event;
  struct mdf_fault body_fault; /* of the body as its header has it; it counts where the checksum is right */
  struct mdf_block block;      /* of a compressed body */
  uint32_t is_hashed;          /* the checksum is to be verified */
  uint32_t is_walked;          /* there is none to be verified: the contents are followed to their end instead */
  uint32_t is_damaged;         /* the checksum is wrong, or the contents do not reach to the end */
  uint64_t bytes_before;       /* of the bodies before it in the window */
  struct mdf_place after;
};

/* What a source does with events before their turn. */
struct mdf_look {
  void *context;
  /* Before the workers begin: how many records there are, and bytes of bodies. 0 or SL_ENOMEM. */
  int (*begin)(void *context, uint32_t count, uint64_t bytes);
  /* By any worker, once for each event that has a body. */
  void (*look)(void *context, const struct mdf_stream_event *event, uint64_t bytes_before);
};

struct mdf_ahead_worker {
  struct mdf_hasher hasher;
  struct mdf_decompressor decompressor; /* without a buffer of its own */
};

struct mdf_ahead {
  struct mdf_ahead_record *records; /* [next, count) are to be handed out */
  uint32_t next, count;
  uint32_t capacity, limit; /* records; what the next window may have */
  struct mdf_ahead_worker *workers;
  uint32_t worker_count, claimed; /* records that a worker took */
  const uint8_t *data;            /* of the file */
  uint8_t *bodies;                /* what is decompressed, each at its bytes_before */
  uint64_t bodies_bytes;
  struct mdf_look look;
};

/* `look` may have no functions. 0 or SL_ENOMEM. */
int mdf_ahead_open(struct mdf_ahead *a, uint32_t worker_count, const struct mdf_look *look);
void mdf_ahead_close(struct mdf_ahead *a);
/* Works on the records of the window, whose bodies have `bytes` in all; `data` is the file's. What cannot be had for
 * want of memory is MDF_FAULT_MEMORY of a record. 0, or SL_ENOMEM of the source's own. */
int mdf_ahead_work(struct mdf_ahead *a, const struct sl_services *s, const uint8_t *data, uint64_t bytes);

#endif
