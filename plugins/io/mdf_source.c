/* mdf_source.c: io.mdf_source, events from MDF files.
 *
 * 1. Take a window of records (mdf_ahead.h). Workers list the banks that a node reads, and count what each event needs.
 * 2. Append events to the slice, in file order. Faults are reported here: file, byte offset and reason.
 * 3. When the slice or the window ends, workers copy the banks to the offsets computed in 2. Only counted bytes are
 *    copied, even if the file changes meanwhile.
 * Each record is one event; a TAE record is its central crossing. A record that cannot be read, and the bytes between
 * readable records, are events with an error and no banks, and the run continues. If the extent of a record is certain,
 * sinks get it even if it cannot be read (io/raw_record.h).
 * Run and event number come from ODIN (versions 6 and 7); a run number in the record header takes precedence. Without
 * ODIN the number is the trigger number of the header (version 0) or the index of the record in its file. */
#include "event_faults.h"
#include "io/bank_packer.h"
#include "mdf_index.h"
#include "mdf_stream.h"

#include <sluice/plugin.h>

#define mdf_source_args    mdf_stream_args
#define mdf_source_members mdf_stream_members

/* Result of inspecting an event of the window. */
struct inspected_event {
  struct mdf_fault fault; /* fault of its banks */
  uint64_t number;
  uint32_t run, has_odin;
  uint64_t types[IO_BANK_TYPES / 64]; /* one bit per bank type that the event has */
  uint64_t first_bank;                /* its listed banks begin at this index of `banks` */
  uint32_t bank_count;
  uint32_t puts_banks, puts_record; /* banks or record are to be copied to the slice */
  uint64_t record_word;
};

struct mdf_source {
  const struct sl_services *services;
  struct mdf_stream stream;
  const struct mdf_stream_event *event;
  uint32_t is_pending; /* `event` did not fit into the previous slice */
  struct io_packer packer;
  /* Current window. */
  struct inspected_event *inspected; /* per record */
  struct io_packer_amount *amounts;  /* per record and port */
  uint32_t inspected_capacity;
  struct sl_feed_block *banks;
  uint64_t bank_capacity, banks_max; /* banks_max: most listed banks of an event that fits into a slice */
  /* Events to copy: [put_first, put_end). */
  uint32_t put_first, put_end;
  uint64_t put_bytes;
  uint32_t put_steps;
};

/* -------------------------------------------------------------------------------------------------- events */

static struct io_packer_amount *amounts_of(const struct mdf_source *m, uint32_t index) {
  return m->amounts + (size_t)index * m->packer.count;
}

static int reserve_events(struct mdf_source *m, uint32_t count) {
  if (count <= m->inspected_capacity) return SL_OK;
  free(m->inspected);
  free(m->amounts);
  m->inspected_capacity = 0;
  m->inspected = (struct inspected_event *)calloc(count, sizeof *m->inspected);
  m->amounts = (struct io_packer_amount *)calloc((size_t)count * m->packer.count + 1, sizeof *m->amounts);
  if (!m->inspected || !m->amounts) return SL_ENOMEM;
  m->inspected_capacity = count;
  return SL_OK;
}

/* The function `begin` of struct mdf_inspector. `bytes` limit the number of banks, since each has a header. A body that
 * is a window of its own is listed only up to banks_max; if it has more banks, it fits no slice. */
static int begin_window(void *context, uint32_t count, uint64_t bytes) {
  struct mdf_source *m = (struct mdf_source *)context;
  const uint64_t window = (uint64_t)MDF_WINDOW_BYTES * m->stream.ahead.worker_count / IO_BANK_HEADER_BYTES;
  uint64_t banks = bytes / IO_BANK_HEADER_BYTES;
  m->banks_max = 1;
  for (uint32_t i = 0; i < m->packer.count; i++)
    if (io_packer_port_is_read(&m->packer.ports[i])) m->banks_max += m->packer.ports[i].out.bound.event_limit;
  if (banks > window + m->banks_max) banks = window + m->banks_max;
  m->put_first = m->put_end = 0;
  if (banks > m->bank_capacity) {
    free(m->banks);
    m->banks = (struct sl_feed_block *)malloc(banks * sizeof *m->banks);
    m->bank_capacity = m->banks ? banks : 0;
    if (!m->banks) return SL_ENOMEM;
  }
  return reserve_events(m, count);
}

/* Consecutive banks of one type. */
struct run {
  uint8_t type;
  uint32_t banks, words;
};

static void end_run(const struct mdf_source *m, struct inspected_event *inspected, struct io_packer_amount *amounts,
                    const struct run *run) {
  if (run->banks == 0) return;
  inspected->types[run->type / 64] |= (uint64_t)1 << run->type % 64;
  io_packer_count(&m->packer, amounts, run->type, run->banks, run->words);
}

/* The function `inspect` of struct mdf_inspector: reads run and event number, lists the banks that a node reads, and
 * counts what the event needs. */
static void inspect_event(void *context, const struct mdf_stream_event *event, uint64_t bytes_before) {
  const struct mdf_source *m = (const struct mdf_source *)context;
  struct inspected_event *inspected = &m->inspected[event->index];
  struct io_packer_amount *amounts = amounts_of(m, event->index);
  *inspected = (struct inspected_event){.first_bank = bytes_before / IO_BANK_HEADER_BYTES};
  memset(amounts, 0, m->packer.count * sizeof *amounts);
  uint64_t position, end;
  if (mdf_event_banks(event->body, event->body_bytes, &position, &end, &inspected->fault)) return;
  struct sl_feed_block *const first = m->banks + inspected->first_bank, *listed = first;
  const struct sl_feed_block *const last = first + m->banks_max;
  struct run run = {0, 0, 0};
  struct io_bank bank;
  int is_read = 0;
  while (mdf_bank_next(event->body, end, &position, &bank, &inspected->fault) > 0) {
    if (bank.type != run.type || run.banks == 0) {
      end_run(m, inspected, amounts, &run);
      run = (struct run){bank.type, 0, 0};
      is_read = io_packer_type_is_read(&m->packer, bank.type);
    }
    run.banks++;
    run.words += io_packer_bank_words(bank.size_bytes);
    if (bank.type == MDF_BANK_ODIN && !inspected->has_odin)
      inspected->has_odin = mdf_odin_identity(&bank, &inspected->run, &inspected->number) != 0;
    if (is_read && listed < last)
      *listed++ = (struct sl_feed_block){bank.payload, bank.size_bytes, bank.source_id, bank.type, bank.version};
  }
  end_run(m, inspected, amounts, &run);
  inspected->bank_count = (uint32_t)(listed - first);
}

static int mdf_source_open(void *state, const struct sl_services *s, const void *args_,
                           const struct sl_inputs *inputs) {
  const struct mdf_stream_args *args = (const struct mdf_stream_args *)args_;
  struct mdf_source *m = (struct mdf_source *)state;
  const struct mdf_inspector inspector = {m, begin_window, inspect_event};
  m->services = s;
  if (io_packer_open(&m->packer, &args->banks)) return SL_ENOMEM;
  return mdf_stream_open(&m->stream, s, inputs, MDF_DATA_BANKS, args, &inspector);
}

static void mdf_source_close(void *state) {
  struct mdf_source *m = (struct mdf_source *)state;
  io_packer_report_absent(&m->packer, m->services);
  io_packer_close(&m->packer);
  mdf_stream_close(&m->stream);
  free(m->inspected);
  free(m->amounts);
  free(m->banks);
}

/* -------------------------------------------------------------------------------------------------- copying */

static void put_event(const struct mdf_source *m, uint32_t index) {
  const struct mdf_stream_event *event = &m->stream.ahead.records[index].event;
  const struct mdf_record *record = &event->record;
  const struct inspected_event *inspected = &m->inspected[index];
  if (inspected->puts_record)
    io_packer_put_record(&m->packer, inspected->record_word, m->stream.reader.data + record->offset, record->bytes);
  if (inspected->puts_banks)
    io_packer_put_at(&m->packer, amounts_of(m, index), m->banks + inspected->first_bank, inspected->bank_count);
}

static void put_share(void *work, uint32_t index, uint32_t worker) {
  const struct mdf_source *m = (const struct mdf_source *)work;
  const uint32_t end = io_packer_step(m->put_first, m->put_end, index + 1, m->put_steps);
  (void)worker;
  for (uint32_t i = io_packer_step(m->put_first, m->put_end, index, m->put_steps); i < end; i++) put_event(m, i);
}

static void put_events(struct mdf_source *m, const struct sl_services *s) {
  m->put_steps = io_packer_steps(m->put_bytes);
  s->in_parallel(s->context, m->put_steps, put_share, m);
  m->put_first = m->put_end;
  m->put_bytes = 0;
}

/* Returns run, number and location of an event from its record header and offset, without ODIN. */
static struct sl_event identify(const struct mdf_stream_event *event) {
  const struct mdf_record *record = &event->record;
  return (struct sl_event){.number = record->has_number ? record->number : event->number,
                           .offset = event->offset,
                           .run = record->has_run ? record->run : 0,
                           .file = event->file};
}

/* Reports an event with an error, in the first pass only. Returns SL_ESTRICT if the source is strict, SL_EIO if bytes
 * of the file were lost, else 0. */
static int report(struct mdf_source *m, const struct sl_services *s, const struct mdf_stream_args *args,
                  const struct sl_event *event, const char *text) {
  const int lost = mdf_stream_check(&m->stream, s);
  if (lost) return lost;
  if (m->event->pass == 0)
    event_faults_report(s, m->stream.inputs.names[event->file], event, 1, args->strict != 0, text);
  return args->strict ? SL_ESTRICT : SL_OK;
}

/* Sets run and number from the banks of the event: 0, or -1 with the fault filled. */
static int take_identity(struct mdf_source *m, const struct inspected_event *inspected, struct sl_event *out,
                         struct mdf_fault *fault) {
  for (uint32_t i = 0; i < IO_BANK_TYPES / 64; i++)
    for (uint64_t left = inspected->types[i]; left != 0; left &= left - 1)
      m->packer.seen[64 * i + (uint32_t)__builtin_ctzll(left)] = 1;
  *fault = inspected->fault;
  if (fault->kind != MDF_FAULT_NONE) return -1;
  if (inspected->has_odin) out->number = inspected->number;
  if (inspected->has_odin && !m->event->record.has_run) out->run = inspected->run;
  return 0;
}

/* Plans the copy of an event to the current end of the slice. */
static void plan_copy(struct mdf_source *m, struct inspected_event *inspected, const struct sl_event *event) {
  const uint32_t index = m->event->index;
  inspected->puts_banks = event->error == SL_EVENT_OK;
  if (inspected->puts_banks) {
    const struct io_packer_amount *amounts = amounts_of(m, index);
    for (uint32_t i = 0; i < m->packer.count; i++) m->put_bytes += 4 * (uint64_t)amounts[i].words;
    io_packer_get_offsets(&m->packer, amounts_of(m, index));
  }
  if (inspected->puts_record) m->put_bytes += m->event->record.bytes;
  m->put_end = index + 1;
}

/* Appends the current event to the slice: 1, 0 if the slice is full, SL_ESTRICT or SL_EIO. */
static int append(struct mdf_source *m, const struct sl_services *s, const struct mdf_stream_args *args,
                  struct sl_fill *fill) {
  const struct mdf_record *record = &m->event->record;
  struct inspected_event *inspected = &m->inspected[m->event->index];
  struct sl_event out = identify(m->event);
  struct mdf_fault fault = record->fault;
  struct io_packer_excess excess;
  char text[256] = "";
  if (fault.kind != MDF_FAULT_NONE || take_identity(m, inspected, &out, &fault) != 0) {
    out.error = event_error_of_fault(&fault);
    mdf_fault_text(&fault, text, sizeof text);
  } else {
    io_packer_need(&m->packer, amounts_of(m, m->event->index));
  }
  /* Only MDF records are kept whole; a skipped range of bytes has no header. */
  inspected->puts_record =
      record->header_bytes != 0 &&
      io_packer_need_record(&m->packer, record->bytes, record->header_bytes, &inspected->record_word) != 0;
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
  plan_copy(m, inspected, &out);
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
    fill->event_count = 0; /* the bytes read may differ from those of the file */
    result = SL_EIO;
  }
  io_packer_finish(&m->packer);
  fill->progress_done = mdf_stream_position(&m->stream);
  fill->progress_total = mdf_stream_length(&m->stream);
  return result == MDF_STREAM_LATER ? 1 : result;
}

/* Recognises MDF files, and empty files. Records that contain packets are left to io.mep_source. */
static int mdf_source_probe(const unsigned char *bytes, size_t count) {
  const enum mdf_content content = mdf_content_of(bytes, count);
  return count == 0 || content == MDF_BANKS || content == MDF_DAMAGED_RECORDS;
}

static int mdf_source_index(const char *path, const struct sl_index_calls *calls) {
  return mdf_index(path, MDF_DATA_BANKS, calls);
}

static const struct sl_source mdf_source_functions = {.open = mdf_source_open,
                                                      .fill = mdf_source_fill,
                                                      .close = mdf_source_close,
                                                      .probe = mdf_source_probe,
                                                      .index = mdf_source_index};

SL_SOURCE(mdf_source, "events from MDF files", struct mdf_source, mdf_source_functions);
