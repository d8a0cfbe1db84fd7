/* mdf_source.c: io.mdf_source, events from MDF files.
 *
 * Each record is one event; of a TAE record, the central crossing. A record that cannot be read is an event with an
 * error and no banks, and the run goes on; so is what lies between records that can be read. Where begin and end of a
 * record are certain, it is handed on whole all the same, for sinks (io/raw_record.h). Faults are reported with the
 * file, the byte offset and what was found, the first few of each kind in full and the others as a count.
 *
 * Run and event number are those of the ODIN bank (versions 6 and 7), where the record's own header has no run number;
 * without ODIN the number is the header's trigger number (version 0) or the record's number in its file, from 0.
 */
#include "event_faults.h"
#include "io/bank_packer.h"
#include "mdf_stream.h"

#include <sluice/plugin.h>

#define mdf_source_args    mdf_stream_args
#define mdf_source_members mdf_stream_members

struct mdf_source {
  const struct sl_services *services;
  struct mdf_stream stream;
  struct mdf_stream_event event;
  uint32_t is_pending; /* `event` did not fit into the last slice */
  uint32_t reserved;
  struct io_packer packer;
};

static int mdf_source_open(void *state, const struct sl_services *s, const void *args_,
                           const struct sl_inputs *inputs) {
  const struct mdf_stream_args *args = (const struct mdf_stream_args *)args_;
  struct mdf_source *m = (struct mdf_source *)state;
  m->services = s;
  if (io_packer_open(&m->packer, &args->banks)) return SL_ENOMEM;
  return mdf_stream_open(&m->stream, s, inputs, MDF_DATA_BANKS, args);
}

static void mdf_source_close(void *state) {
  struct mdf_source *m = (struct mdf_source *)state;
  io_packer_tell_absent(&m->packer, m->services);
  io_packer_close(&m->packer);
  mdf_stream_close(&m->stream);
}

/* Packs the banks of the event's body and finds its identity: 0, or -1 with the fault filled. */
static int pack_banks(struct mdf_source *m, struct sl_event *out, struct mdf_fault *fault) {
  const struct mdf_stream_event *event = &m->event;
  uint64_t position, end;
  if (mdf_event_banks(event->body, event->body_bytes, &position, &end, fault)) return -1;
  struct io_bank bank;
  uint32_t has_odin = 0, run = 0;
  uint64_t number = 0;
  int more;
  while ((more = mdf_bank_next(event->body, end, &position, &bank, fault)) > 0) {
    if (bank.type == MDF_BANK_ODIN && !has_odin) has_odin = mdf_odin_identity(&bank, &run, &number) != 0;
    io_packer_add(&m->packer, &bank);
  }
  if (more < 0) return -1;
  if (has_odin) out->number = number;
  if (has_odin && !event->record.has_run) out->run = run;
  return 0;
}

/* What the record's place and header say. */
static struct sl_event identify(const struct mdf_stream_event *event) {
  const struct mdf_record *record = &event->record;
  return (struct sl_event){.number = record->has_number ? record->number : event->number,
                           .offset = record->offset,
                           .run = record->has_run ? record->run : 0,
                           .file = event->file};
}

/* The record as it stands in the file, if that is where it stands. */
static void take_record(struct mdf_source *m) {
  const struct mdf_record *record = &m->event.record;
  const int is_whole = record->header_bytes != 0;
  if (is_whole)
    io_packer_take_record(&m->packer, m->stream.reader.data + record->offset, record->bytes, record->header_bytes);
}

/* Says what is wrong with the event, in the first pass: SL_ESTRICT under `strict`, SL_EIO if the file was cut short, or
 * 0. */
static int report(struct mdf_source *m, const struct sl_services *s, const struct mdf_stream_args *args,
                  const struct sl_event *event, const char *text) {
  const int lost = mdf_stream_check(&m->stream, s);
  if (lost) return lost;
  if (m->event.pass == 0) event_faults_tell(s, m->stream.inputs.names[event->file], event, 1, args->strict != 0, text);
  return args->strict ? SL_ESTRICT : SL_OK;
}

/* Appends the event at hand to the slice. Returns 0 if the slice is full, 1, SL_ESTRICT or SL_EIO. */
static int append(struct mdf_source *m, const struct sl_services *s, const struct mdf_stream_args *args,
                  struct sl_fill *fill) {
  struct sl_event out = identify(&m->event);
  struct mdf_fault fault = m->event.record.fault;
  struct io_packer_excess excess;
  char text[256] = "";
  if (fault.kind != MDF_FAULT_NONE || pack_banks(m, &out, &fault) != 0) {
    io_packer_forget_banks(&m->packer);
    out.error = event_error_of_fault(&fault);
    mdf_fault_text(&fault, text, sizeof text);
  }
  take_record(m);
  const int fit = io_packer_fit(&m->packer, &excess);
  if (fit == IO_PACKER_SLICE_IS_FULL) {
    io_packer_cancel(&m->packer);
    return 0;
  }
  if (fit == IO_PACKER_TOO_LARGE && out.error == SL_EVENT_OK) {
    out.error = SL_EVENT_TOO_LARGE;
    io_packer_excess_text(&excess, text, sizeof text);
  }
  if (out.error == SL_EVENT_OK) {
    io_packer_commit(&m->packer, fill->event_count);
  } else {
    const int error = report(m, s, args, &out, text);
    if (error) return error;
    io_packer_drop(&m->packer, fill->event_count);
  }
  fill->events[fill->event_count++] = out;
  return 1;
}

static int mdf_source_fill(void *state, const struct sl_services *s, const void *args_, struct sl_fill *fill) {
  const struct mdf_stream_args *args = (const struct mdf_stream_args *)args_;
  struct mdf_source *m = (struct mdf_source *)state;
  io_packer_begin(&m->packer, &args->banks, &args->record);
  int result = 1;
  while (fill->event_count < fill->events_max) {
    if (!m->is_pending) {
      result = mdf_stream_next(&m->stream, s, &m->event);
      if (result != 1) break;
    }
    const int appended = append(m, s, args, fill);
    m->is_pending = appended == 0;
    if (appended < 0) result = appended;
    if (appended <= 0) break;
  }
  if (mdf_stream_check(&m->stream, s)) {
    fill->event_count = 0; /* their bytes may be others than were in the file */
    result = SL_EIO;
  }
  io_packer_finish(&m->packer);
  fill->progress_done = mdf_stream_position(&m->stream);
  fill->progress_total = mdf_stream_length(&m->stream);
  return result == MDF_STREAM_LATER ? 1 : result;
}

/* A file without bytes is one without records. Records that hold packets are for io.mep_source. */
static int mdf_source_probe(const unsigned char *bytes, size_t count) {
  const enum mdf_content content = mdf_content_of(bytes, count);
  return count == 0 || content == MDF_BANKS || content == MDF_DAMAGED_RECORDS;
}

static const struct sl_source mdf_source_functions = {mdf_source_open, mdf_source_fill, mdf_source_close,
                                                      mdf_source_probe};

SL_SOURCE(mdf_source, "events from MDF files", struct mdf_source, mdf_source_functions);
