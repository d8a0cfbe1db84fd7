/* feed_source.c: io.feed_source, events from the memory of the program that runs the graph (sluice.h, struct sl_feed).
 *
 * An event is a list of raw banks, a packet one of the event builder (MEP, mep_events.h). Run and event number are
 * those of the ODIN bank (versions 6 and 7), without it those that the program gave; of packets, as in files. An event
 * with a bank that is none is an event with an error, told of with its place in the feed.
 *
 * Entries are taken a window at a time. Workers count what each event of it needs; events go into slices one after the
 * other; their banks are copied by workers when the slice, or the window, is at its end, and only then the program has
 * their memory back. A packet's is its own again when the last of its events is in a slice.
 *
 * A slice ends where nothing more is there `linger_us` after its first event: who feeds slowly does not wait for
 * others' events, and who feeds fast finds the slices full, since entries pile up while the slots are busy.
 */
#include "io/bank_packer.h"
#include "mdf.h"
#include "mep_events.h"

#include <sluice/plugin.h>

#include <time.h>

#define SL_ARGS feed_source_args
#define FEED_SOURCE(M)                                                                                   \
  M(OPEN_OUT, banks, io_raw_banks, IO_RAW_BANKS_TRAIT, "raw banks, a port a kind")                       \
  IO_RAW_RECORD_OUT(M)                                                                                   \
  M(U32, linger_us, 1000, 0, 10000000, "us", "how long a slice that has events waits for more")          \
  M(U32, silence_s, 0, 0, 1000000, "s", "the run fails where nothing comes for so long; 0: it waits on") \
  M(BOOL, strict, 0, "end the run at the first event that cannot be read")
SL_HOST_ARGUMENTS(feed_source, FEED_SOURCE);

enum {
  WINDOW_ENTRIES = 512,
  SHARE_ENTRIES = 16,  /* that are counted in one step */
  FIRST_WAIT_US = 5000 /* for the first event of a slice, before the runtime delivers what it has, or is to stop */
};

/* What can be wrong with an event, and with which of its blocks. */
enum { SOUND, NO_BANKS, NO_DATA, TOO_LONG, IS_TAE };

struct known_event {
  uint32_t fault, fault_block;
  uint64_t number;
  uint32_t run, has_odin;
  uint64_t record_words, record_word; /* what it takes as a record, and where that begins */
  uint32_t puts_banks, puts_record;   /* into this slice */
  uint64_t types[IO_BANK_TYPES / 64]; /* a bit for each that it has */
};

struct feed_source {
  const struct sl_services *services;
  struct io_packer packer;
  struct mep_events packets;
  uint64_t packet_events;        /* of the packet at hand, that are in slices */
  uint64_t silent_ns;            /* without anything to take */
  uint64_t slice_ns;             /* when the slice at hand got its first event */
  uint32_t is_strict, is_over;   /* nothing is left to take */
  struct sl_feed_entry *entries; /* the window */
  struct known_event *known;
  struct io_packer_amount *amounts; /* an entry and port */
  uint32_t next, count;             /* of the window, [next, count) are in no slice */
  uint32_t put_first, put_steps;    /* [put_first, next) are to be copied */
  uint64_t put_bytes;
};

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --------------------------------------------------------------------------------------------------- faults */

static void fault_text(const struct sl_feed_entry *entry, const struct known_event *known, char *text, size_t n) {
  if (known->fault == NO_BANKS) {
    snprintf(text, n, "the event has no banks");
    return;
  }
  const struct sl_feed_block *block = &entry->blocks[known->fault_block];
  if (known->fault == NO_DATA)
    snprintf(text, n, "bank %" PRIu32 " (type %u, source %u): no data for its %" PRIu32 " bytes", known->fault_block,
             block->type, block->source_id, block->bytes);
  else if (known->fault == TOO_LONG)
    snprintf(text, n, "bank %" PRIu32 " (type %u, source %u): %" PRIu32 " bytes, a raw bank may have %d",
             known->fault_block, block->type, block->source_id, block->bytes, IO_BANK_BYTES_MAX);
  else
    snprintf(text, n, "bank %" PRIu32 " is the header of a TAE window; give the banks of its central crossing",
             known->fault_block);
}

/* Says what is wrong with events of entry `offset`: 0, or SL_ESTRICT under `strict`. Messages of one format are counted
 * together, so that packets have one of their own. */
static int tell(void *context, const struct sl_services *s, const struct sl_event *first, uint32_t count,
                const char *text) {
  const struct feed_source *m = (const struct feed_source *)context;
  const uint32_t severity = m->is_strict ? SL_ERROR : SL_WARNING;
  if (count == 1)
    s->message(s->context, severity, "entry %" PRIu64 " of the feed (event %" PRIu64 "): %s", first->offset,
               first->number, text);
  else
    s->message(s->context, severity, "entry %" PRIu64 " of the feed (events %" PRIu64 " to %" PRIu64 "): %s",
               first->offset, first->number, first->number + count - 1, text);
  return m->is_strict ? SL_ESTRICT : SL_OK;
}

/* ------------------------------------------------------------------------------------------------- counting */

static struct io_packer_amount *amounts_of(const struct feed_source *m, uint32_t index) {
  return m->amounts + (size_t)index * m->packer.count;
}

static struct io_bank bank_of(const struct sl_feed_block *block) {
  return (struct io_bank){(const uint8_t *)block->data, (uint16_t)block->bytes, block->source_id, block->type,
                          block->version};
}

static uint32_t fault_of(const struct sl_feed_block *block) {
  if (block->bytes > IO_BANK_BYTES_MAX) return TOO_LONG;
  if (block->bytes > 0 && block->data == NULL) return NO_DATA;
  return block->type == MDF_BANK_TAE_HEADER ? IS_TAE : SOUND;
}

/* Counts the banks [begin, end) of an event, which are of one type and sound. */
static void count_run(const struct feed_source *m, uint32_t index, uint32_t begin, uint32_t end, uint32_t words) {
  const struct sl_feed_block *blocks = m->entries[index].blocks;
  struct known_event *known = &m->known[index];
  const uint8_t type = blocks[begin].type;
  known->types[type / 64] |= (uint64_t)1 << type % 64;
  known->record_words += words + (uint64_t)(end - begin) * io_packer_record_bank_words(0);
  io_packer_count(&m->packer, amounts_of(m, index), type, end - begin, words);
  for (uint32_t i = begin; type == MDF_BANK_ODIN && !known->has_odin && i < end; i++) {
    const struct io_bank bank = bank_of(&blocks[i]);
    known->has_odin = mdf_odin_identity(&bank, &known->run, &known->number) != 0;
  }
}

/* What an event needs, and who it is. */
static void count_event(const struct feed_source *m, uint32_t index) {
  const struct sl_feed_entry *entry = &m->entries[index];
  struct known_event *known = &m->known[index];
  *known = (struct known_event){.number = entry->number, .run = entry->run};
  if (entry->block_count == 0) known->fault = NO_BANKS;
  memset(amounts_of(m, index), 0, m->packer.count * sizeof *m->amounts);
  for (uint32_t begin = 0, end = 0; begin < entry->block_count; begin = end) {
    uint32_t words = 0;
    for (; end < entry->block_count && entry->blocks[end].type == entry->blocks[begin].type; end++) {
      known->fault = fault_of(&entry->blocks[end]);
      known->fault_block = end;
      if (known->fault != SOUND) return;
      words += io_packer_bank_words(entry->blocks[end].bytes);
    }
    count_run(m, index, begin, end, words);
  }
}

static void count_share(void *work, uint32_t index, uint32_t worker) {
  const struct feed_source *m = (const struct feed_source *)work;
  const uint32_t begin = index * SHARE_ENTRIES, end = begin + SHARE_ENTRIES;
  (void)worker;
  for (uint32_t i = begin; i < end && i < m->count; i++)
    if (!m->entries[i].packet) count_event(m, i);
}

/* -------------------------------------------------------------------------------------------------- copying */

static void put_event(const struct feed_source *m, uint32_t index) {
  const struct sl_feed_entry *entry = &m->entries[index];
  const struct known_event *known = &m->known[index];
  uint64_t word = known->record_word;
  if (known->puts_banks) io_packer_put_at(&m->packer, amounts_of(m, index), entry->blocks, entry->block_count);
  for (uint32_t i = 0; known->puts_record && i < entry->block_count; i++) {
    const struct io_bank bank = bank_of(&entry->blocks[i]);
    word = io_packer_put_bank_in_record(&m->packer, word, &bank);
  }
}

static void put_share(void *work, uint32_t index, uint32_t worker) {
  const struct feed_source *m = (const struct feed_source *)work;
  const uint32_t end = io_packer_step(m->put_first, m->next, index + 1, m->put_steps);
  (void)worker;
  for (uint32_t i = io_packer_step(m->put_first, m->next, index, m->put_steps); i < end; i++) put_event(m, i);
}

/* Copies the events that went into the slice since the last time, and gives their memory back. */
static void put_events(struct feed_source *m, const struct sl_services *s) {
  if (m->put_first == m->next) return;
  m->put_steps = io_packer_steps(m->put_bytes);
  s->in_parallel(s->context, m->put_steps, put_share, m);
  s->feed->packed(s->feed->context, m->next - m->put_first, 1);
  m->put_first = m->next;
  m->put_bytes = 0;
}

/* --------------------------------------------------------------------------------------------------- events */

/* Of the event, `out` is in the slice from now on; what is to be copied. */
static void plan_copy(struct feed_source *m, struct known_event *known, const struct sl_event *out) {
  struct io_packer_amount *amounts = amounts_of(m, m->next);
  known->puts_banks = out->error == SL_EVENT_OK;
  for (uint32_t i = 0; known->puts_banks && i < m->packer.count; i++) m->put_bytes += 4 * (uint64_t)amounts[i].words;
  if (known->puts_banks) io_packer_where(&m->packer, amounts);
  if (known->puts_record) m->put_bytes += 4 * known->record_words;
}

/* Appends the next event of the window to the slice. Returns 0 if the slice is full, 1 or SL_ESTRICT. */
static int append_event(struct feed_source *m, const struct sl_services *s, struct sl_fill *fill) {
  const struct sl_feed_entry *entry = &m->entries[m->next];
  struct known_event *known = &m->known[m->next];
  struct sl_event out = {.number = known->number, .offset = entry->index, .run = known->run};
  struct io_packer_excess excess;
  char text[256] = "";
  for (uint32_t i = 0; i < IO_BANK_TYPES; i++) m->packer.seen[i] |= (uint8_t)(known->types[i / 64] >> i % 64 & 1);
  known->puts_record = 0;
  if (known->fault != SOUND) {
    out.error = SL_EVENT_CORRUPT;
    fault_text(entry, known, text, sizeof text);
  } else {
    io_packer_need(&m->packer, amounts_of(m, m->next));
    known->puts_record = io_packer_need_record(&m->packer, 4 * known->record_words, 0, &known->record_word) != 0;
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
  const int error = out.error == SL_EVENT_OK ? SL_OK : tell(m, s, &out, 1, text);
  if (error) return error;
  plan_copy(m, known, &out);
  if (out.error == SL_EVENT_OK)
    io_packer_commit(&m->packer, fill->event_count);
  else
    io_packer_drop(&m->packer, fill->event_count);
  fill->events[fill->event_count++] = out;
  m->next++;
  return 1;
}

/* -------------------------------------------------------------------------------------------------- packets */

/* What ends too early is a file elsewhere. */
static void packet_fault_text(const struct mdf_fault *fault, uint64_t bytes, char *text, size_t n) {
  if (fault->kind != MDF_FAULT_TRUNCATED)
    mdf_fault_text(fault, text, n);
  else if (fault->expected == 0)
    snprintf(text, n, "a packet of %" PRIu64 " bytes has no room for its header", bytes);
  else
    snprintf(text, n, "the packet has %" PRIu64 " bytes, its header says %" PRIu64, bytes, fault->expected);
}

/* The packet that is next: 1, or an error. */
static int begin_packet(struct feed_source *m, const struct sl_services *s) {
  const struct sl_feed_entry *entry = &m->entries[m->next];
  const struct sl_event origin = {.number = entry->index, .offset = entry->index};
  const uint8_t *data = (const uint8_t *)entry->packet;
  struct mdf_fault fault;
  put_events(m, s);
  m->packet_events = 0;
  int status = mep_events_open(&m->packets, s, &origin, data, entry->packet_bytes, &fault);
  if (status == SL_EFORMAT) {
    char text[256];
    packet_fault_text(&fault, entry->packet_bytes, text, sizeof text);
    status = mep_events_lose(&m->packets, s, &origin, data, entry->packet_bytes, SL_EVENT_CORRUPT, text);
  }
  return status == SL_OK ? 1 : status;
}

/* Appends events of the packet at hand: 1, 0 if the slice is full, or an error. */
static int append_packet(struct feed_source *m, const struct sl_services *s, struct sl_fill *fill) {
  const uint32_t before = fill->event_count;
  const int more = mep_events_append(&m->packets, s, fill);
  m->packet_events += fill->event_count - before;
  if (more < 0 || !mep_events_are_done(&m->packets)) return more;
  s->feed->packed(s->feed->context, 1, m->packet_events);
  m->put_first = ++m->next;
  return more;
}

/* -------------------------------------------------------------------------------------------------- windows */

/* How long the slice may wait for another event. */
static uint64_t patience_us(const struct feed_source *m, const struct feed_source_args *args,
                            const struct sl_fill *fill) {
  if (fill->event_count == 0) return FIRST_WAIT_US;
  const uint64_t waited = (now_ns() - m->slice_ns) / 1000;
  return waited < args->linger_us ? args->linger_us - waited : 0;
}

static int is_silent(struct feed_source *m, const struct sl_services *s, const struct feed_source_args *args,
                     uint64_t waited_ns) {
  m->silent_ns += waited_ns;
  if (args->silence_s == 0 || m->silent_ns < (uint64_t)args->silence_s * 1000000000u) return 0;
  s->message(s->context, SL_ERROR, "nothing was fed for %" PRIu32 " s, and the feed was not ended", args->silence_s);
  return 1;
}

/* Takes the next window: 1, 0 where nothing is there now, or an error. */
static int take_window(struct feed_source *m, const struct sl_services *s, const struct feed_source_args *args,
                       const struct sl_fill *fill) {
  put_events(m, s);
  m->next = m->put_first = m->count = 0;
  const uint64_t begin = now_ns();
  m->is_over = !s->feed->take(s->feed->context, m->entries, WINDOW_ENTRIES, patience_us(m, args, fill), &m->count);
  if (m->count == 0) return !m->is_over && is_silent(m, s, args, now_ns() - begin) ? SL_EIO : 0;
  m->silent_ns = 0;
  s->in_parallel(s->context, (m->count + SHARE_ENTRIES - 1) / SHARE_ENTRIES, count_share, m);
  return 1;
}

/* One step of filling a slice: 1, 0 if it is to be handed on, or an error. */
static int step(struct feed_source *m, const struct sl_services *s, const struct feed_source_args *args,
                struct sl_fill *fill) {
  if (!mep_events_are_done(&m->packets)) return append_packet(m, s, fill);
  if (m->next == m->count) return take_window(m, s, args, fill);
  return m->entries[m->next].packet ? begin_packet(m, s) : append_event(m, s, fill);
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
  put_events(m, s);
  io_packer_finish(&m->packer);
  if (m->count > 0) fill->progress_done = m->entries[m->count - 1].index + 1;
  return more < 0 ? more : !m->is_over;
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
  m->packets.tell = tell;
  m->packets.context = m;
  if (!s->feed) {
    s->message(s->context, SL_ERROR,
               "it takes events from the memory of a program that runs the graph (sluice.h, sl_options.feed), and this "
               "run has none");
    return SL_EINVAL;
  }
  if (io_packer_open(&m->packer, &args->banks)) return SL_ENOMEM;
  m->entries = (struct sl_feed_entry *)calloc(WINDOW_ENTRIES, sizeof *m->entries);
  m->known = (struct known_event *)calloc(WINDOW_ENTRIES, sizeof *m->known);
  m->amounts = (struct io_packer_amount *)calloc((size_t)WINDOW_ENTRIES * m->packer.count + 1, sizeof *m->amounts);
  return m->entries && m->known && m->amounts ? SL_OK : SL_ENOMEM;
}

static void feed_source_close(void *state) {
  struct feed_source *m = (struct feed_source *)state;
  if (m->packer.ports) io_packer_tell_absent(&m->packer, m->services);
  mep_events_close(&m->packets);
  io_packer_close(&m->packer);
  free(m->entries);
  free(m->known);
  free(m->amounts);
}

static const struct sl_source feed_source_functions = {feed_source_open, feed_source_fill, feed_source_close, NULL,
                                                       NULL};

SL_SOURCE(feed_source, "events from the memory of a program that runs the graph", struct feed_source,
          feed_source_functions, SL_TAKES_FEED);
