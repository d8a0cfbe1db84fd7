/* mdf_stream.h: the records of a list of MDF files, in order, as often as requested. Checksums are verified and bodies
 * decompressed by workers in advance (mdf_ahead.h). One file is mapped at a time. A stream of packets (MEP) reads
 * records that contain packets, and files that contain only packets. A file is read up to its size at the time when the
 * stream is opened; a pipe is read once, to its end. */
#ifndef IO_MDF_STREAM_H
#define IO_MDF_STREAM_H

#include "format/mdf.h"
#include "input_file.h"
#include "io/bank_packer.h"
#include "mdf_ahead.h"
#include "mdf_range.h"

#include <sluice/plugin.h>

/* Arguments of a source that reads a stream. */
#define SL_ARGS mdf_stream_args
#define MDF_STREAM(M)                                                                     \
  M(OPEN_OUT, banks, io_raw_banks, IO_RAW_BANKS_TRAIT, "raw banks, one port per kind")    \
  IO_RAW_RECORD_OUT(M)                                                                    \
  M(BOOL, checksum, 1, "verify the checksums of records, in the first pass only")         \
  M(U32, uncompressed_bytes, 1 << 26, 1, 1 << 30, "byte",                                 \
    "largest uncompressed size of a compressed body; a larger event is an error")         \
  M(U32, passes, 1, 1, 1000000000, "", "number of times that the list of inputs is read") \
  M(BOOL, strict, 0, "end the run at the first event that cannot be read")
SL_HOST_ARGUMENTS(mdf_stream, MDF_STREAM);

/* One input; facts found by mdf_stream_open or in the first pass. */
struct mdf_input {
  uint64_t bytes;
  struct mdf_range range;     /* the part that is read; its end is known for a file */
  uint32_t is_bare, reserved; /* packets that are not in MDF records */
  struct input_file pipe;     /* an input that is a pipe, opened at the start */
  uint64_t *bad_offsets;      /* offsets of the records with a wrong checksum, ascending */
  uint32_t bad_count, bad_capacity;
};

struct mdf_stream {
  struct sl_inputs inputs;
  struct mdf_input *files;
  uint64_t pass_bytes; /* size of all files, as far as known */
  uint64_t done_bytes; /* size of the files read, minus the bytes before the current range */
  uint64_t gone_bytes; /* of a pipe, before the first byte of the mapping */
  uint32_t pass_count, pass;
  uint32_t file, is_open;
  uint32_t verify_checksums, data_type; /* data_type: requested type (MDF_DATA_...) */
  uint32_t is_lost, has_pipe;       /* lost bytes were reported; a pipe is among the inputs, so the length is unknown */
  uint32_t is_hint_wrong, reserved; /* a wrong expansion hint was reported */
  uint32_t uncompressed_bytes, reserved_bytes; /* largest compressed body; 0: no limit */
  struct input_file mapping;
  struct mdf_reader reader; /* state after the window, as are record_count, pass and done_bytes */
  uint64_t record_count;    /* records read from this file */
  uint64_t position;        /* end of the last delivered record, in bytes */
  struct mdf_ahead ahead;
};

/* Opens the stream, checks all inputs and reports all errors. `inputs` must stay valid until mdf_stream_close. */
int mdf_stream_open(struct mdf_stream *m, const struct sl_services *s, const struct sl_inputs *inputs,
                    uint32_t data_type, const struct mdf_stream_args *args, const struct mdf_inspector *inspector);
/* Returns 1 if the window has no records left; the next call of mdf_stream_next then ends it. */
static inline int mdf_stream_is_drained(const struct mdf_stream *m) { return m->ahead.next == m->ahead.count; }
/* Returns 1 with the next record, which is valid until the window ends; 0 after the last pass; MDF_STREAM_LATER if a
 * pipe has no data at the moment; SL_EIO or SL_ENOMEM. */
enum { MDF_STREAM_LATER = 2 };
int mdf_stream_next(struct mdf_stream *m, const struct sl_services *s, const struct mdf_stream_event **event);
/* Must be called before events or errors are delivered: SL_OK, or SL_EIO if bytes of the current file were lost, so
 * that the bytes read since the last call may not be those of the file. */
int mdf_stream_check(struct mdf_stream *m, const struct sl_services *s);
uint64_t mdf_stream_position(const struct mdf_stream *m); /* bytes delivered */
uint64_t mdf_stream_length(const struct mdf_stream *m);   /* bytes of all passes; 0: unknown */
void mdf_stream_close(struct mdf_stream *m);

#endif
