/* feed_source.c: io.feed_source, events from the memory of the program that runs the graph (sluice.h, struct sl_feed).
 *
 * An entry is an event (a list of raw banks) or a packet of the event builder (MEP, mep_events.h).
 * 1. Take a window of entries (feed_window.h). Workers count the banks and words that each of its events needs.
 * 2. Append events to the slice, in the order of the feed. Their banks are copied by workers when the slice ends, or
 *    while the next window is counted; only then is the memory returned to the program. The memory of a packet is
 *    returned when the last of its events is in a slice.
 * 3. End the slice if no further entry arrives within `linger_us` after its first event, so that a slow feed has a
 *    short latency. A fast feed fills its slices, because entries accumulate while all slots are busy.
 * Run and event number come from ODIN (versions 6 and 7), else from the program; those of packets are as in files. An
 * event with an invalid bank is an event with an error; the message gives its index in the feed. */
#include "event_faults.h"
#include "feed_window.h"
#include "mep_events.h"

#include <sluice/plugin.h>

#include <time.h>

#define SL_ARGS feed_source_args
#define FEED_SOURCE(M)                                                                                      \
  M(OPEN_OUT, banks, io_raw_banks, IO_RAW_BANKS_TRAIT, "raw banks, one port per kind")                      \
  IO_RAW_RECORD_OUT(M)                                                                                      \
  M(U32, linger_us, 1000, 0, 10000000, "us", "longest time that a slice with events waits for more events") \
  M(U32, timeout_s, 0, 0, 1000000, "s", "the run fails if nothing arrives for this time; 0: no limit")      \
  M(BOOL, strict, 0, "end the run at the first event that cannot be read")
SL_HOST_ARGUMENTS(feed_source, FEED_SOURCE);

/* Longest wait for the first event of a slice; the runtime then delivers finished slices and checks for a stop. */
enum { FIRST_WAIT_US = 5000 };

struct feed_source {
  const struct sl_services *services;
  struct io_packer packer;
  struct mep_events packets;
  uint64_t packet_events;                 /* events of the current packet that are in slices */
  uint64_t silent_ns;                     /* time since the last entry arrived */
  uint64_t slice_ns;                      /* time of the first event of the current slice */
  uint32_t is_strict, has_ended;          /* the feed has ended */
  struct feed_window windows[2], *window; /* window: the current one */
  uint64_t entry_count;
  uint64_t types[IO_BANK_TYPES / 64]; /* one bit per bank type that any event had */
};

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --------------------------------------------------------------------------------------------------- faults */

static void fault_text(const struct sl_feed_entry *entry, const struct feed_event *event, char *text, size_t n) {
  if (event->fault == FEED_NO_BANKS) {
    snprintf(text, n, "the event has no banks");
    return;
  }
  const struct sl_feed_block *block = &entry->blocks[event->fault_block];
  if (event->fault == FEED_NO_DATA)
    snprintf(text, n, "bank %" PRIu32 " (type %u, source %u): no data for its %" PRIu32 " bytes", event->fault_block,
             block->type, block->source_id, block->bytes);
  else if (event->fault == FEED_TOO_LONG)
    snprintf(text, n, "bank %" PRIu32 " (type %u, source %u): %" PRIu32 " bytes, more than the %d of a raw bank",
             event->fault_block, block->type, block->source_id, block->bytes, IO_BANK_BYTES_MAX);
  else
    snprintf(text, n, "bank %" PRIu32 " is the header of a TAE record; feed only the banks of its central crossing",
             event->fault_block);
}

/* Reports a fault of `count` events of entry first->offset: 0, or SL_ESTRICT if the source is strict. The runtime
 * counts messages by format, so packets have a format of their own. */
static int report_fault(void *context, const struct sl_services *s, const struct sl_event *first, uint32_t count,
                        const char *text) {
  const struct feed_source *m = (const struct feed_source *)context;
  const uint32_t severity = m->is_strict ? SL_ERROR : SL_WARNING;
  const char *end = m->is_strict ? EVENT_FAULTS_STRICT : "";
  if (count == 1)
    s->message(s->context, severity, "entry %" PRIu64 " of the feed (event %" PRIu64 "): %s%s", first->offset,
               first->number, text, end);
  else
    s->message(s->context, severity, "entry %" PRIu64 " of the feed (events %" PRIu64 " to %" PRIu64 "): %s%s",
               first->offset, first->number, first->number + count - 1, text, end);
  return m->is_strict ? SL_ESTRICT : SL_OK;
}

/* --------------------------------------------------------------------------------------------------- events */

/* Copies the events added to the slice since the last call and returns their memory; counts the events of `next`, if
 * any. */
static void put_events(struct feed_source *m, const struct sl_services *s, struct feed_window *next) {
  const uint32_t count = m->window->next - m->window->put_first;
  if (count == 0 && !next) return;
  feed_window_share(m->window, next, s);
  if (count > 0) s->feed->packed(s->feed->context, count, 1);
}

/* Appends the next event of the window to the slice: 1, 0 if the slice is full, or SL_ESTRICT. */
static int append_event(struct feed_source *m, const struct sl_services *s, struct sl_fill *fill) {
  struct feed_window *w = m->window;
  const struct sl_feed_entry *entry = &w->entries[w->next];
  struct feed_event *event = &w->events[w->next];
  struct sl_event out = {.number = event->number, .offset = entry->index, .run = event->run};
  struct io_packer_excess excess;
  char text[256] = "";
  for (uint32_t i = 0; i < IO_BANK_TYPES / 64; i++) m->types[i] |= event->types[i];
  event->puts_record = 0;
  if (event->fault != FEED_SOUND) {
    out.error = SL_EVENT_CORRUPT;
    fault_text(entry, event, text, sizeof text);
  } else {
    io_packer_need(&m->packer, feed_window_amounts(w, w->next));
    event->puts_record = io_packer_need_record(&m->packer, 4 * event->record_words, 0, &event->record_word) != 0;
  }
  const int fit = io_packer_fit(&m->packer, &excess);
  if (fit == IO_PACKER_SLICE_IS_FULL) {
    io_packer_cancel(&m->packer);
    return 0;
  }
  if (fit == IO_PACKER_TOO_LARGE) {
    out.error = SL_EVENT_TOO_LARGE;
    io_packer_excess_text(&excess, text, sizeof text);
  }
  const int error = out.error == SL_EVENT_OK ? SL_OK : report_fault(m, s, &out, 1, text);
  if (error) return error;
  event->puts_banks = out.error == SL_EVENT_OK;
  feed_window_take(w);
  if (out.error == SL_EVENT_OK)
    io_packer_commit(&m->packer, fill->event_count);
  else
    io_packer_drop(&m->packer, fill->event_count);
  fill->events[fill->event_count++] = out;
  return 1;
}

/* -------------------------------------------------------------------------------------------------- packets */

/* The text of mdf_fault_text would name a file. */
static void packet_fault_text(const struct mdf_fault *fault, uint64_t bytes, char *text, size_t n) {
  if (fault->kind != MDF_FAULT_TRUNCATED)
    mdf_fault_text(fault, text, n);
  else if (fault->expected == 0)
    snprintf(text, n, "a packet of %" PRIu64 " bytes is shorter than its header", bytes);
  else
    snprintf(text, n, "the packet has %" PRIu64 " bytes, but its header gives %" PRIu64, bytes, fault->expected);
}

/* Returns 1, or an error. */
static int begin_packet(struct feed_source *m, const struct sl_services *s) {
  const struct sl_feed_entry *entry = &m->window->entries[m->window->next];
  const struct sl_event origin = {.number = entry->index, .offset = entry->index};
  const uint8_t *data = (const uint8_t *)entry->packet;
  struct mdf_fault fault;
  put_events(m, s, NULL);
  m->packet_events = 0;
  int status = mep_events_open(&m->packets, s, &origin, data, entry->packet_bytes, &fault);
  if (status == SL_EFORMAT) {
    char text[256];
    packet_fault_text(&fault, entry->packet_bytes, text, sizeof text);
    status = mep_events_reject(&m->packets, s, &origin, data, entry->packet_bytes, SL_EVENT_CORRUPT, text);
  }
  return status == SL_OK ? 1 : status;
}

static int append_packet(struct feed_source *m, const struct sl_services *s, struct sl_fill *fill) {
  const uint32_t before = fill->event_count;
  const int more = mep_events_append(&m->packets, s, fill);
  m->packet_events += fill->event_count - before;
  if (more < 0 || !mep_events_are_done(&m->packets)) return more;
  s->feed->packed(s->feed->context, 1, m->packet_events);
  m->window->put_first = ++m->window->next;
  return more;
}

/* -------------------------------------------------------------------------------------------------- windows */

static uint64_t remaining_wait_us(const struct feed_source *m, const struct feed_source_args *args,
                                  const struct sl_fill *fill) {
  if (fill->event_count == 0) return FIRST_WAIT_US;
  const uint64_t waited = (now_ns() - m->slice_ns) / 1000;
  return waited < args->linger_us ? args->linger_us - waited : 0;
}

static int has_timed_out(struct feed_source *m, const struct sl_services *s, const struct feed_source_args *args,
                         uint64_t waited_ns) {
  m->silent_ns += waited_ns;
  if (args->timeout_s == 0 || m->silent_ns < (uint64_t)args->timeout_s * 1000000000u) return 0;
  s->message(s->context, SL_ERROR, "no event was fed for %" PRIu32 " s, and the feed was not ended", args->timeout_s);
  return 1;
}

/* Takes the next window: 1, 0 if no entry is available, or an error. Before it waits, pending events are copied and
 * their memory is returned. */
static int take_window(struct feed_source *m, const struct sl_services *s, const struct feed_source_args *args,
                       const struct sl_fill *fill) {
  struct feed_window *next = &m->windows[m->window == m->windows];
  const uint64_t begin = now_ns();
  next->next = next->put_first = next->count = 0;
  m->has_ended = !s->feed->take(s->feed->context, next->entries, FEED_WINDOW_ENTRIES, 0, &next->count);
  if (next->count == 0 && !m->has_ended) {
    put_events(m, s, NULL);
    m->has_ended = !s->feed->take(s->feed->context, next->entries, FEED_WINDOW_ENTRIES,
                                  remaining_wait_us(m, args, fill), &next->count);
  }
  if (next->count == 0) return !m->has_ended && has_timed_out(m, s, args, now_ns() - begin) ? SL_EIO : 0;
  m->silent_ns = 0;
  m->entry_count += next->count;
  put_events(m, s, next);
  m->window = next;
  return 1;
}

/* Takes one step to fill the slice: 1, 0 if the slice must be delivered, or an error. */
static int step(struct feed_source *m, const struct sl_services *s, const struct feed_source_args *args,
                struct sl_fill *fill) {
  if (!mep_events_are_done(&m->packets)) return append_packet(m, s, fill);
  if (m->window->next == m->window->count) return take_window(m, s, args, fill);
  return m->window->entries[m->window->next].packet ? begin_packet(m, s) : append_event(m, s, fill);
}

static int feed_source_fill(void *state, const struct sl_services *s, const void *args_, struct sl_fill *fill) {
  const struct feed_source_args *args = (const struct feed_source_args *)args_;
  struct feed_source *m = (struct feed_source *)state;
  int more = 1;
  io_packer_begin(&m->packer, &args->banks, &args->record);
  while (more == 1 && fill->event_count < fill->events_max) {
    const uint32_t before = fill->event_count;
    more = step(m, s, args, fill);
    if (before == 0 && fill->event_count > 0) m->slice_ns = now_ns();
  }
  put_events(m, s, NULL);
  io_packer_finish(&m->packer);
  fill->progress_done = m->entry_count;
  return more < 0 ? more : !m->has_ended;
}

/* ------------------------------------------------------------------------------------------- open and close */

static int feed_source_open(void *state, const struct sl_services *s, const void *args_,
                            const struct sl_inputs *inputs) {
  const struct feed_source_args *args = (const struct feed_source_args *)args_;
  struct feed_source *m = (struct feed_source *)state;
  (void)inputs;
  m->services = s;
  m->is_strict = args->strict != 0;
  m->packets.packer = &m->packer;
  m->packets.report = report_fault;
  m->packets.context = m;
  if (io_packer_open(&m->packer, &args->banks)) return SL_ENOMEM;
  for (int i = 0; i < 2; i++)
    if (feed_window_open(&m->windows[i], &m->packer)) return SL_ENOMEM;
  m->window = m->windows;
  return SL_OK;
}

static void feed_source_close(void *state) {
  struct feed_source *m = (struct feed_source *)state;
  for (uint32_t i = 0; i < IO_BANK_TYPES; i++) m->packer.seen[i] |= (uint8_t)(m->types[i / 64] >> i % 64 & 1);
  if (m->packer.ports) io_packer_report_absent(&m->packer, m->services);
  mep_events_close(&m->packets);
  io_packer_close(&m->packer);
  for (int i = 0; i < 2; i++) feed_window_close(&m->windows[i]);
}

static const struct sl_source feed_source_functions = {
    .open = feed_source_open, .fill = feed_source_fill, .close = feed_source_close};

SL_SOURCE(feed_source, "events from the memory of a program that runs the graph", struct feed_source,
          feed_source_functions, SL_TAKES_FEED);
