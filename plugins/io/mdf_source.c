/* mdf_source.c: io.mdf_source, events from MDF files.
 *
 * Each record is one event; of a TAE record, the central crossing. A record that cannot be read is an event with an
 * error and no banks, and the run goes on; so is what lies between records that can be read. Where begin and end of a
 * record are certain, it is handed on whole all the same, for sinks (io/raw_record.h). Faults are reported with the
 * file, the byte offset and what was found, the first few of each kind in full and the others as a count.
 *
 * Run and event number are those of the ODIN bank (versions 6 and 7), where the record's own header has no run number;
 * without ODIN the number is the header's trigger number (version 0) or the record's number in its file, from 0.
 *
 * Of a window of records (mdf_ahead.h) workers list the banks that somebody reads, and count what each event needs.
 * Events go into slices one after the other, whose faults are told then; banks are copied by workers when the slice, or
 * the window, is at its end, to places that are known by then. What is copied is what was counted, whatever becomes of
 * the file meanwhile.
 */
#include "event_faults.h"
#include "io/bank_packer.h"
#include "mdf_index.h"
#include "mdf_stream.h"

#include <sluice/plugin.h>

#define mdf_source_args    mdf_stream_args
#define mdf_source_members mdf_stream_members

/* What is known of an event of the window. */
struct known_event {
  struct mdf_fault fault; /* of its banks */
  uint64_t number;
  uint32_t run, has_odin;
  uint64_t types[IO_BANK_TYPES / 64]; /* a bit for each that it has */
  uint64_t first_bank;                /* of those that are wanted */
  uint32_t bank_count;
  uint32_t puts_banks, puts_record; /* into this slice */
  uint64_t record_word;
};

struct mdf_source {
  const struct sl_services *services;
  struct mdf_stream stream;
  const struct mdf_stream_event *event;
  uint32_t is_pending; /* `event` did not fit into the last slice */
  struct io_packer packer;
  /* Of the window. */
  struct known_event *known;        /* a record */
  struct io_packer_amount *amounts; /* a record and port */
  uint32_t known_capacity;
  struct sl_feed_block *banks;
  uint64_t bank_capacity, banks_most; /* most: of an event that fits into any slice */
  /* To be copied: of the records from `put_first` to before `put_end`. */
  uint32_t put_first, put_end;
  uint64_t put_bytes;
  uint32_t put_steps;
};

/* -------------------------------------------------------------------------------------------------- events */

static struct io_packer_amount *amounts_of(const struct mdf_source *m, uint32_t index) {
  return m->amounts + (size_t)index * m->packer.count;
}

static int reserve_events(struct mdf_source *m, uint32_t count) {
  if (count <= m->known_capacity) return SL_OK;
  free(m->known);
  free(m->amounts);
  m->known_capacity = 0;
  m->known = (struct known_event *)calloc(count, sizeof *m->known);
  m->amounts = (struct io_packer_amount *)calloc((size_t)count * m->packer.count + 1, sizeof *m->amounts);
  if (!m->known || !m->amounts) return SL_ENOMEM;
  m->known_capacity = count;
  return SL_OK;
}

/* A window begins (struct mdf_look). A bank takes its header's bytes at least, so that `bytes` have room for no more
 * than so many; a body that is a window of its own has more only where it is too large for any slice. */
static int begin_window(void *context, uint32_t count, uint64_t bytes) {
  struct mdf_source *m = (struct mdf_source *)context;
  const uint64_t window = (uint64_t)MDF_WINDOW_BYTES * m->stream.ahead.worker_count / IO_BANK_HEADER_BYTES;
  uint64_t banks = bytes / IO_BANK_HEADER_BYTES;
  m->banks_most = 1;
  for (uint32_t i = 0; i < m->packer.count; i++)
    if (io_packer_port_is_read(&m->packer.ports[i])) m->banks_most += m->packer.ports[i].out.bound.event_limit;
  if (banks > window + m->banks_most) banks = window + m->banks_most;
  m->put_first = m->put_end = 0;
  if (banks > m->bank_capacity) {
    free(m->banks);
    m->banks = (struct sl_feed_block *)malloc(banks * sizeof *m->banks);
    m->bank_capacity = m->banks ? banks : 0;
    if (!m->banks) return SL_ENOMEM;
  }
  return reserve_events(m, count);
}

/* Banks of one type, one after the other. */
struct run {
  uint8_t type;
  uint32_t banks, words;
};

static void end_run(const struct mdf_source *m, struct known_event *known, struct io_packer_amount *amounts,
                    const struct run *run) {
  if (run->banks == 0) return;
  known->types[run->type / 64] |= (uint64_t)1 << run->type % 64;
  io_packer_count(&m->packer, amounts, run->type, run->banks, run->words);
}

/* Finds an event's identity, and what of it is wanted (struct mdf_look). */
static void look_at_event(void *context, const struct mdf_stream_event *event, uint64_t bytes_before) {
  const struct mdf_source *m = (const struct mdf_source *)context;
  struct known_event *known = &m->known[event->index];
  struct io_packer_amount *amounts = amounts_of(m, event->index);
  *known = (struct known_event){.first_bank = bytes_before / IO_BANK_HEADER_BYTES};
  memset(amounts, 0, m->packer.count * sizeof *amounts);
  uint64_t position, end;
  if (mdf_event_banks(event->body, event->body_bytes, &position, &end, &known->fault)) return;
  struct sl_feed_block *const first = m->banks + known->first_bank, *noted = first;
  const struct sl_feed_block *const last = first + m->banks_most;
  struct run run = {0, 0, 0};
  struct io_bank bank;
  int is_wanted = 0;
  while (mdf_bank_next(event->body, end, &position, &bank, &known->fault) > 0) {
    if (bank.type != run.type || run.banks == 0) {
      end_run(m, known, amounts, &run);
      run = (struct run){bank.type, 0, 0};
      is_wanted = io_packer_wants(&m->packer, bank.type);
    }
    run.banks++;
    run.words += io_packer_bank_words(bank.size_bytes);
    if (bank.type == MDF_BANK_ODIN && !known->has_odin)
      known->has_odin = mdf_odin_identity(&bank, &known->run, &known->number) != 0;
    if (is_wanted && noted < last)
      *noted++ = (struct sl_feed_block){bank.payload, bank.size_bytes, bank.source_id, bank.type, bank.version};
  }
  end_run(m, known, amounts, &run);
  known->bank_count = (uint32_t)(noted - first);
}

static int mdf_source_open(void *state, const struct sl_services *s, const void *args_,
                           const struct sl_inputs *inputs) {
  const struct mdf_stream_args *args = (const struct mdf_stream_args *)args_;
  struct mdf_source *m = (struct mdf_source *)state;
  const struct mdf_look look = {m, begin_window, look_at_event};
  m->services = s;
  if (io_packer_open(&m->packer, &args->banks)) return SL_ENOMEM;
  return mdf_stream_open(&m->stream, s, inputs, MDF_DATA_BANKS, args, &look);
}

static void mdf_source_close(void *state) {
  struct mdf_source *m = (struct mdf_source *)state;
  io_packer_report_absent(&m->packer, m->services);
  io_packer_close(&m->packer);
  mdf_stream_close(&m->stream);
  free(m->known);
  free(m->amounts);
  free(m->banks);
}

/* -------------------------------------------------------------------------------------------------- copying */

static void put_event(const struct mdf_source *m, uint32_t index) {
  const struct mdf_stream_event *event = &m->stream.ahead.records[index].event;
  const struct mdf_record *record = &event->record;
  const struct known_event *known = &m->known[index];
  if (known->puts_record)
    io_packer_put_record(&m->packer, known->record_word, m->stream.reader.data + record->offset, record->bytes);
  if (known->puts_banks)
    io_packer_put_at(&m->packer, amounts_of(m, index), m->banks + known->first_bank, known->bank_count);
}

static void put_share(void *work, uint32_t index, uint32_t worker) {
  const struct mdf_source *m = (const struct mdf_source *)work;
  const uint32_t end = io_packer_step(m->put_first, m->put_end, index + 1, m->put_steps);
  (void)worker;
  for (uint32_t i = io_packer_step(m->put_first, m->put_end, index, m->put_steps); i < end; i++) put_event(m, i);
}

/* Copies what went into the slice since the last time. */
static void put_events(struct mdf_source *m, const struct sl_services *s) {
  m->put_steps = io_packer_steps(m->put_bytes);
  s->in_parallel(s->context, m->put_steps, put_share, m);
  m->put_first = m->put_end;
  m->put_bytes = 0;
}

/* What the record's place and header say. */
static struct sl_event identify(const struct mdf_stream_event *event) {
  const struct mdf_record *record = &event->record;
  return (struct sl_event){.number = record->has_number ? record->number : event->number,
                           .offset = record->offset,
                           .run = record->has_run ? record->run : 0,
                           .file = event->file};
}

/* Says what is wrong with the event, in the first pass: SL_ESTRICT under `strict`, SL_EIO if the file was cut short, or
 * 0. */
static int report(struct mdf_source *m, const struct sl_services *s, const struct mdf_stream_args *args,
                  const struct sl_event *event, const char *text) {
  const int lost = mdf_stream_check(&m->stream, s);
  if (lost) return lost;
  if (m->event->pass == 0) event_faults_tell(s, m->stream.inputs.names[event->file], event, 1, args->strict != 0, text);
  return args->strict ? SL_ESTRICT : SL_OK;
}

/* What its banks say of an event: 0, or -1 with the fault filled. */
static int take_known(struct mdf_source *m, const struct known_event *known, struct sl_event *out,
                      struct mdf_fault *fault) {
  for (uint32_t i = 0; i < IO_BANK_TYPES / 64; i++)
    for (uint64_t left = known->types[i]; left != 0; left &= left - 1)
      m->packer.seen[64 * i + (uint32_t)__builtin_ctzll(left)] = 1;
  *fault = known->fault;
  if (fault->kind != MDF_FAULT_NONE) return -1;
  if (known->has_odin) out->number = known->number;
  if (known->has_odin && !m->event->record.has_run) out->run = known->run;
  return 0;
}

/* What of the event is to be copied: the place is the one behind what the slice has by now. */
static void plan_copy(struct mdf_source *m, struct known_event *known, const struct sl_event *event) {
  const uint32_t index = m->event->index;
  known->puts_banks = event->error == SL_EVENT_OK;
  if (known->puts_banks) {
    const struct io_packer_amount *amounts = amounts_of(m, index);
    for (uint32_t i = 0; i < m->packer.count; i++) m->put_bytes += 4 * (uint64_t)amounts[i].words;
    io_packer_where(&m->packer, amounts_of(m, index));
  }
  if (known->puts_record) m->put_bytes += m->event->record.bytes;
  m->put_end = index + 1;
}

/* Appends the event at hand to the slice. Returns 0 if the slice is full, 1, SL_ESTRICT or SL_EIO. */
static int append(struct mdf_source *m, const struct sl_services *s, const struct mdf_stream_args *args,
                  struct sl_fill *fill) {
  const struct mdf_record *record = &m->event->record;
  struct known_event *known = &m->known[m->event->index];
  struct sl_event out = identify(m->event);
  struct mdf_fault fault = record->fault;
  struct io_packer_excess excess;
  char text[256] = "";
  if (fault.kind != MDF_FAULT_NONE || take_known(m, known, &out, &fault) != 0) {
    out.error = event_error_of_fault(&fault);
    mdf_fault_text(&fault, text, sizeof text);
  } else {
    io_packer_need(&m->packer, amounts_of(m, m->event->index));
  }
  /* The record as it stands in the file, if that is where it stands. */
  known->puts_record = record->header_bytes != 0 &&
                       io_packer_need_record(&m->packer, record->bytes, record->header_bytes, &known->record_word) != 0;
  const int fit = io_packer_fit(&m->packer, &excess);
  if (fit == IO_PACKER_SLICE_IS_FULL) {
    io_packer_cancel(&m->packer);
    return 0;
  }
  if (fit == IO_PACKER_TOO_LARGE && out.error == SL_EVENT_OK) {
    out.error = SL_EVENT_TOO_LARGE;
    io_packer_excess_text(&excess, text, sizeof text);
  }
  const int error = out.error == SL_EVENT_OK ? SL_OK : report(m, s, args, &out, text);
  if (error) return error;
  plan_copy(m, known, &out);
  if (out.error == SL_EVENT_OK)
    io_packer_commit(&m->packer, fill->event_count);
  else
    io_packer_drop(&m->packer, fill->event_count);
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
      if (mdf_stream_is_drained(&m->stream)) put_events(m, s);
      result = mdf_stream_next(&m->stream, s, &m->event);
      if (result != 1) break;
    }
    const int appended = append(m, s, args, fill);
    m->is_pending = appended == 0;
    if (appended < 0) result = appended;
    if (appended <= 0) break;
  }
  put_events(m, s);
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

static int mdf_source_index(const char *path, const struct sl_index_calls *calls) {
  return mdf_index(path, MDF_DATA_BANKS, calls);
}

static const struct sl_source mdf_source_functions = {mdf_source_open, mdf_source_fill, mdf_source_close,
                                                      mdf_source_probe, mdf_source_index};

SL_SOURCE(mdf_source, "events from MDF files", struct mdf_source, mdf_source_functions);
