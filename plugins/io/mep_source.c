/* mep_source.c: io.mep_source, events from packets of the event builder (MEP).
 *
 * Reads the production format, bare packets or one packet per MDF record, and the prototype of 2019 in MDF records
 * (mep.h).
 * 1. Take the next packet of the stream.
 * 2. Append as many of its events to the slice as fit. Fragments are copied in one piece per source (mep_window.h), not
 *    bank by bank.
 * 3. Continue with the next packet until the slice is full.
 * Run and event number come from ODIN; without it the number is the event id of the packet plus the index of the event,
 * and the run is that of the record header. For unreadable packets see mep_events.h. A range of bytes without a packet
 * counts as an unreadable packet with one event, unless it contains a block that states more. */
#include "event_faults.h"
#include "format/mep_file.h"
#include "io/bank_packer.h"
#include "mdf_index.h"
#include "mdf_stream.h"
#include "mep_events.h"

#include <sluice/plugin.h>

#define mep_source_args    mdf_stream_args
#define mep_source_members mdf_stream_members

struct mep_source {
  const struct sl_services *services;
  struct mdf_stream stream;
  const struct mdf_stream_event *record; /* the record of the current packet */
  struct mep_events events;
  struct io_packer packer;
  uint32_t is_strict, reserved;
};

/* Reports a fault, in the first pass only. Returns SL_ESTRICT if the source is strict, SL_EIO if bytes of the file were
 * lost, else 0. */
static int report(void *context, const struct sl_services *s, const struct sl_event *first, uint32_t count,
                  const char *text) {
  struct mep_source *m = (struct mep_source *)context;
  if (mdf_stream_check(&m->stream, s)) return SL_EIO;
  if (m->record->pass == 0)
    event_faults_report(s, m->stream.inputs.names[first->file], first, count, m->is_strict != 0, text);
  return m->is_strict ? SL_ESTRICT : 0;
}

static int mep_source_open(void *state, const struct sl_services *s, const void *args_,
                           const struct sl_inputs *inputs) {
  const struct mdf_stream_args *args = (const struct mdf_stream_args *)args_;
  struct mep_source *m = (struct mep_source *)state;
  m->services = s;
  m->is_strict = args->strict != 0;
  m->events.packer = &m->packer;
  m->events.report = report;
  m->events.context = m;
  if (io_packer_open(&m->packer, &args->banks)) return SL_ENOMEM;
  const struct mdf_inspector inspector = {NULL, NULL, NULL};
  return mdf_stream_open(&m->stream, s, inputs, MDF_DATA_MEP, args, &inspector);
}

static void mep_source_close(void *state) {
  struct mep_source *m = (struct mep_source *)state;
  mep_events_close(&m->events);
  io_packer_report_absent(&m->packer, m->services);
  io_packer_close(&m->packer);
  mdf_stream_close(&m->stream);
}

/* Opens the next packet: 1, 0 at the end of the input, MDF_STREAM_LATER, or an error. */
static int next_packet(struct mep_source *m, const struct sl_services *s) {
  const int found = mdf_stream_next(&m->stream, s, &m->record);
  if (found != 1) return found;
  const struct mdf_record *record = &m->record->record;
  const struct sl_event origin = {.number = m->record->number,
                                  .offset = m->record->offset,
                                  .run = record->has_run ? record->run : 0,
                                  .file = m->record->file};
  struct mdf_fault fault = record->fault;
  int opened = SL_EFORMAT;
  if (fault.kind == MDF_FAULT_NONE)
    opened = mep_events_open(&m->events, s, &origin, m->record->body, m->record->body_bytes, &fault);
  if (opened == SL_EFORMAT) {
    char text[256];
    mdf_fault_text(&fault, text, sizeof text);
    opened = mep_events_reject(&m->events, s, &origin, m->stream.reader.data + record->offset, record->bytes,
                               event_error_of_fault(&fault), text);
  }
  return opened == SL_OK ? 1 : opened;
}

static int mep_source_fill(void *state, const struct sl_services *s, const void *args_, struct sl_fill *fill) {
  const struct mdf_stream_args *args = (const struct mdf_stream_args *)args_;
  struct mep_source *m = (struct mep_source *)state;
  io_packer_begin(&m->packer, &args->banks, &args->record);
  int result = 1;
  while (result == 1 && fill->event_count < fill->events_max) {
    int more = 1;
    if (mep_events_are_done(&m->events))
      result = next_packet(m, s);
    else
      more = mep_events_append(&m->events, s, fill);
    if (more < 0) result = more;
    if (more == 0) break;
  }
  if (mdf_stream_check(&m->stream, s)) {
    fill->event_count = 0; /* the bytes read may differ from those of the file */
    result = SL_EIO;
  }
  io_packer_finish(&m->packer);
  fill->progress_done = mdf_stream_position(&m->stream);
  fill->progress_total = mdf_stream_length(&m->stream);
  return result == MDF_STREAM_LATER ? 1 : result;
}

static int mep_source_probe(const unsigned char *bytes, size_t count) {
  const enum mdf_content content = mdf_content_of(bytes, count);
  return content == MDF_PACKETS || (content != MDF_BANKS && mep_recognise(bytes, count));
}

static int mep_source_index(const char *path, const struct sl_index_calls *calls) {
  return mdf_index(path, MDF_DATA_MEP, calls);
}

static const struct sl_source mep_source_functions = {.open = mep_source_open,
                                                      .fill = mep_source_fill,
                                                      .close = mep_source_close,
                                                      .probe = mep_source_probe,
                                                      .index = mep_source_index};

SL_SOURCE(mep_source, "events from packets of the event builder (MEP)", struct mep_source, mep_source_functions);
