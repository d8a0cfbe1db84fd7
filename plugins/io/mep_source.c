/* mep_source.c: io.mep_source, events from packets of the event builder (MEP).
 *
 * Reads the production format, packet after packet or each in an MDF record, and the prototype of 2019 in MDF records;
 * mep.h has the formats. A packet keeps its order, by source, on the way into a slice (mep_window.h): no bank is copied
 * by itself. A slice takes as many of a packet's events as fit, and goes on with the next packet.
 *
 * Run and event number are those of ODIN; without it the number is the packet's event id plus the place in the packet,
 * and the run that of the record's header. A packet that cannot be read makes all its events errors, as many as its
 * first block says, with one message; so does a stretch of the file without a packet, which counts as one event if
 * nothing says otherwise. An event whose ODIN fragment is marked broken is an error too. Other fragments marked broken,
 * or missing, are banks that the event does not have.
 */
#include "event_faults.h"
#include "io/bank_packer.h"
#include "mdf_stream.h"
#include "mep_file.h"
#include "mep_window.h"

#include <sluice/plugin.h>

#define mep_source_args    mdf_stream_args
#define mep_source_members mdf_stream_members

struct mep_source {
  const struct sl_services *services;
  struct mdf_stream stream;
  const struct mdf_stream_event *record; /* which holds the packet at hand */
  struct mep_window window;
  uint32_t bad_count, bad_done; /* events of a packet that cannot be read; of these, in slices */
  struct sl_event bad;          /* the first of them */
  struct io_packer packer;
};

static int mep_source_open(void *state, const struct sl_services *s, const void *args_,
                           const struct sl_inputs *inputs) {
  const struct mdf_stream_args *args = (const struct mdf_stream_args *)args_;
  struct mep_source *m = (struct mep_source *)state;
  m->services = s;
  if (io_packer_open(&m->packer, &args->banks)) return SL_ENOMEM;
  const struct mdf_look look = {NULL, NULL, NULL};
  return mdf_stream_open(&m->stream, s, inputs, MDF_DATA_MEP, args, &look);
}

static void mep_source_close(void *state) {
  struct mep_source *m = (struct mep_source *)state;
  mep_window_free(&m->window);
  io_packer_tell_absent(&m->packer, m->services);
  io_packer_close(&m->packer);
  mdf_stream_close(&m->stream);
}

/* ---------------------------------------------------------------------------------------------------- events */

static struct sl_event identify(const struct mep_source *m, uint64_t number) {
  const struct mdf_record *record = &m->record->record;
  return (struct sl_event){
      .number = number, .offset = record->offset, .run = record->has_run ? record->run : 0, .file = m->record->file};
}

/* Says what is wrong, in the first pass: SL_ESTRICT under `strict`, SL_EIO if the file was lost meanwhile, or 0. */
static int report(struct mep_source *m, const struct sl_services *s, const struct mdf_stream_args *args,
                  const struct sl_event *first, uint32_t count, const char *text) {
  if (mdf_stream_check(&m->stream, s)) return SL_EIO;
  if (m->record->pass == 0)
    event_faults_tell(s, m->stream.inputs.names[first->file], first, count, args->strict != 0, text);
  return args->strict ? SL_ESTRICT : 0;
}

/* Which events are lost with a packet that cannot be read. */
static void count_lost(struct mep_source *m) {
  const struct mdf_record *record = &m->record->record;
  const uint8_t *data = m->stream.reader.data + record->offset;
  uint32_t count = 1;
  uint64_t id = m->record->number;
  for (uint64_t skip = 0; skip <= 48; skip += 48)
    if (record->bytes > skip && mep_packet_claims(data + skip, record->bytes - skip, &count, &id)) break;
  m->bad = identify(m, id);
  m->bad_count = count;
  m->bad_done = 0;
}

/* Goes on to the next packet: 1, 0 at the end of the input, MDF_STREAM_LATER, or an error. */
static int next_packet(struct mep_source *m, const struct sl_services *s, const struct mdf_stream_args *args) {
  const int found = mdf_stream_next(&m->stream, s, &m->record);
  if (found != 1) return found;
  struct mdf_fault fault = m->record->record.fault;
  if (fault.kind == MDF_FAULT_NONE) {
    const int opened = mep_window_open(&m->window, &m->packer, s, m->record->body, m->record->body_bytes, &fault);
    if (opened == SL_ENOMEM && fault.kind == MDF_FAULT_NONE) return SL_ENOMEM;
    if (opened == 0) return 1;
  }
  char text[256];
  mdf_fault_text(&fault, text, sizeof text);
  count_lost(m);
  m->bad.error = event_error_of_fault(&fault);
  const int error = report(m, s, args, &m->bad, m->bad_count, text);
  return error ? error : 1;
}

static void append(struct sl_fill *fill, const struct sl_event *event) { fill->events[fill->event_count++] = *event; }

static void append_lost(struct mep_source *m, struct sl_fill *fill) {
  while (m->bad_done < m->bad_count && fill->event_count < fill->events_max) {
    struct sl_event event = m->bad;
    event.number += m->bad_done++;
    io_packer_drop(&m->packer, fill->event_count);
    append(fill, &event);
  }
}

/* ---------------------------------------------------------------------------------------------------- windows */

enum { NEXT_TAKEN, NEXT_IS_BAD, SLICE_IS_FULL };

/* The packet's next event: into the window, if it is sound and fits. */
static int take_event(struct mep_source *m, struct sl_event *event, uint32_t index, char *text, size_t text_size) {
  struct mep_window *w = &m->window;
  struct mdf_fault fault;
  struct io_packer_excess excess;
  *event = identify(m, w->event_id + w->next);
  if (mep_window_identity(w, &event->run, &event->number, &fault) < 0) {
    event->error = event_error_of_fault(&fault);
    mdf_fault_text(&fault, text, text_size);
  } else {
    mep_window_measure(w, &m->packer);
  }
  mep_window_add_record(w, &m->packer);
  const int fit = io_packer_fit(&m->packer, &excess);
  if (fit == IO_PACKER_SLICE_IS_FULL) {
    io_packer_cancel(&m->packer);
    return SLICE_IS_FULL;
  }
  if (fit == IO_PACKER_TOO_LARGE && event->error == SL_EVENT_OK) {
    event->error = SL_EVENT_TOO_LARGE;
    io_packer_excess_text(&excess, text, text_size);
  }
  if (event->error != SL_EVENT_OK) return NEXT_IS_BAD;
  io_packer_commit(&m->packer, index);
  mep_window_take(w);
  return NEXT_TAKEN;
}

/* Events of the packet up to the next bad one, which is appended too: 1, 0 if the slice is full, or an error. */
static int append_window(struct mep_source *m, const struct sl_services *s, const struct mdf_stream_args *args,
                         struct sl_fill *fill) {
  struct mep_window *w = &m->window;
  struct sl_event event;
  char text[256] = "";
  int what = NEXT_TAKEN;
  mep_window_begin(w, &m->packer);
  while (what == NEXT_TAKEN && !mep_window_is_done(w) && fill->event_count < fill->events_max) {
    what = take_event(m, &event, fill->event_count, text, sizeof text);
    if (what == NEXT_TAKEN) append(fill, &event);
  }
  mep_window_copy(w, &m->packer, s);
  if (what == SLICE_IS_FULL) return 0;
  if (what == NEXT_TAKEN) return 1;
  const int error = report(m, s, args, &event, 1, text);
  if (error) return error;
  io_packer_drop(&m->packer, fill->event_count);
  append(fill, &event);
  mep_window_skip(w);
  return 1;
}

static int mep_source_fill(void *state, const struct sl_services *s, const void *args_, struct sl_fill *fill) {
  const struct mdf_stream_args *args = (const struct mdf_stream_args *)args_;
  struct mep_source *m = (struct mep_source *)state;
  io_packer_begin(&m->packer, &args->banks, &args->record);
  int result = 1;
  while (result == 1 && fill->event_count < fill->events_max) {
    int more = 1;
    if (m->bad_done < m->bad_count)
      append_lost(m, fill);
    else if (!mep_window_is_done(&m->window))
      more = append_window(m, s, args, fill);
    else
      result = next_packet(m, s, args);
    if (more < 0) result = more;
    if (more == 0) break;
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

static int mep_source_probe(const unsigned char *bytes, size_t count) {
  const enum mdf_content content = mdf_content_of(bytes, count);
  return content == MDF_PACKETS || (content != MDF_BANKS && mep_recognise(bytes, count));
}

static const struct sl_source mep_source_functions = {mep_source_open, mep_source_fill, mep_source_close,
                                                      mep_source_probe};

SL_SOURCE(mep_source, "events from packets of the event builder (MEP)", struct mep_source, mep_source_functions);
