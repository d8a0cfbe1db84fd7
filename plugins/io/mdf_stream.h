/* mdf_stream.h: the records of a list of MDF files, one after the other, as often as asked, with their checksums
 * verified and their bodies decompressed, which is done ahead and side by side (mdf_ahead.h). One file is mapped at a
 * time. A stream of packets (MEP) takes records that hold packets instead of banks, and also files that are nothing but
 * packets. A file is read up to the size that it had when the stream was opened; a pipe to its end, once. */
#ifndef IO_MDF_STREAM_H
#define IO_MDF_STREAM_H

#include "format/mdf.h"
#include "input_file.h"
#include "io/bank_packer.h"
#include "mdf_ahead.h"
#include "mdf_range.h"

#include <sluice/plugin.h>

/* The arguments of a source that reads a stream. */
#define SL_ARGS mdf_stream_args
#define MDF_STREAM(M)                                                                \
  M(OPEN_OUT, banks, io_raw_banks, IO_RAW_BANKS_TRAIT, "raw banks, a port a kind")   \
  IO_RAW_RECORD_OUT(M)                                                               \
  M(BOOL, checksum, 1, "verify the checksums of records; once, however many passes") \
  M(U32, uncompressed_bytes, 1 << 26, 1, 1 << 30, "byte",                            \
    "what a compressed body may have uncompressed; an event with more is too large") \
  M(U32, passes, 1, 1, 1000000000, "", "how many times the list of inputs is read")  \
  M(BOOL, strict, 0, "end the run at the first event that cannot be read")
SL_HOST_ARGUMENTS(mdf_stream, MDF_STREAM);

/* What is remembered of a file from the first pass. */
struct mdf_input {
  uint64_t bytes;
  struct mdf_range range;     /* of which records are read; of a file, its end is known */
  uint32_t is_bare, reserved; /* packets without records around them */
  struct input_file pipe;     /* open from the start on, if it is one */
  uint64_t *bad_offsets;      /* records with a wrong checksum, ascending */
  uint32_t bad_count, bad_capacity;
};

struct mdf_stream {
  struct sl_inputs inputs;
  struct mdf_input *files;
  uint64_t pass_bytes; /* of all files together, as far as they are known */
  uint64_t done_bytes; /* of the files that were read to their end, less those before the range at hand */
  uint32_t pass_count, pass;
  uint32_t file, is_open;
  uint32_t verify_checksums, data_type;        /* MDF_DATA_...: what is asked for */
  uint32_t is_lost, has_pipe;                  /* mdf_stream_check has said so; the length is not known */
  uint32_t is_hint_wrong, reserved;            /* a header was said to promise too small a body */
  uint32_t uncompressed_bytes, reserved_bytes; /* of a compressed body, at most; 0: as many as a block can say */
  struct input_file mapping;
  struct mdf_reader reader; /* behind the window; so are record_count, pass and done_bytes */
  uint64_t record_count;    /* read from this file */
  uint64_t position;        /* bytes of the records that were handed out */
  struct mdf_ahead ahead;
};

/* Looks at all files and reports all that is wrong with them. What `inputs` points to is borrowed until
 * mdf_stream_close. */
int mdf_stream_open(struct mdf_stream *m, const struct sl_services *s, const struct sl_inputs *inputs,
                    uint32_t data_type, const struct mdf_stream_args *args, const struct mdf_look *look);
/* Nothing is left of the window: the next call ends it. */
static inline int mdf_stream_is_drained(const struct mdf_stream *m) { return m->ahead.next == m->ahead.count; }
/* 1 with the next record, which is there until the window ends, 0 at the end of the last pass, MDF_STREAM_LATER where a
 * pipe has nothing at the moment, or SL_EIO or SL_ENOMEM. */
enum { MDF_STREAM_LATER = 2 };
int mdf_stream_next(struct mdf_stream *m, const struct sl_services *s, const struct mdf_stream_event **event);
/* To be asked before anybody sees what was read since it was asked last, or hears what is wrong with it: SL_OK, or
 * SL_EIO if bytes of the file at hand were lost meanwhile, so that what was read may never have been in it. */
int mdf_stream_check(struct mdf_stream *m, const struct sl_services *s);
uint64_t mdf_stream_position(const struct mdf_stream *m); /* bytes of what was handed out */
uint64_t mdf_stream_length(const struct mdf_stream *m);   /* in all passes; 0: not known */
void mdf_stream_close(struct mdf_stream *m);

#endif
