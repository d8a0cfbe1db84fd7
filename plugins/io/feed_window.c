/* feed_window.c: see feed_window.h. */
#include "feed_window.h"

#include "format/mdf.h"

enum { COUNTED_ENTRIES = 16 }; /* entries that a worker counts per step */

int feed_window_open(struct feed_window *w, const struct io_packer *packer) {
  *w = (struct feed_window){.packer = packer};
  w->entries = (struct sl_feed_entry *)calloc(FEED_WINDOW_ENTRIES, sizeof *w->entries);
  w->events = (struct feed_event *)calloc(FEED_WINDOW_ENTRIES, sizeof *w->events);
  w->amounts = (struct io_packer_amount *)calloc((size_t)FEED_WINDOW_ENTRIES * packer->count + 1, sizeof *w->amounts);
  return w->entries && w->events && w->amounts ? SL_OK : SL_ENOMEM;
}

void feed_window_close(struct feed_window *w) {
  free(w->entries);
  free(w->events);
  free(w->amounts);
}

/* ------------------------------------------------------------------------------------------------- counting */

static struct io_bank bank_of(const struct sl_feed_block *block) {
  return (struct io_bank){(const uint8_t *)block->data, (uint16_t)block->bytes, block->source_id, block->type,
                          block->version};
}

static uint32_t fault_of(const struct sl_feed_block *block) {
  if (block->bytes > IO_BANK_BYTES_MAX) return FEED_TOO_LONG;
  if (block->bytes > 0 && block->data == NULL) return FEED_NO_DATA;
  return block->type == MDF_BANK_TAE_HEADER ? FEED_IS_TAE : FEED_SOUND;
}

/* Counts the banks [begin, end) of an event; all are sound and of one type. */
static void count_run(const struct feed_window *w, uint32_t index, uint32_t begin, uint32_t end, uint32_t words) {
  const struct sl_feed_block *blocks = w->entries[index].blocks;
  struct feed_event *event = &w->events[index];
  const uint8_t type = blocks[begin].type;
  event->types[type / 64] |= (uint64_t)1 << type % 64;
  event->record_words += words + (uint64_t)(end - begin) * io_packer_record_bank_words(0);
  if (io_packer_type_is_read(w->packer, type)) {
    io_packer_count(w->packer, feed_window_amounts(w, index), type, end - begin, words);
    if (event->selected_end == 0) event->selected_begin = begin;
    event->selected_end = end;
  }
  for (uint32_t i = begin; type == MDF_BANK_ODIN && !event->has_odin && i < end; i++) {
    const struct io_bank bank = bank_of(&blocks[i]);
    event->has_odin = mdf_odin_identity(&bank, &event->run, &event->number) != 0;
  }
}

/* Returns the end of the sound banks of one type from `begin` on; *words is the sum of their words. */
static uint32_t run_end(const struct sl_feed_block *blocks, uint32_t begin, uint32_t count, uint32_t *words) {
  const uint8_t type = blocks[begin].type;
  uint32_t end = begin, sum = 0;
  for (; end < count && blocks[end].type == type && fault_of(&blocks[end]) == FEED_SOUND; end++)
    sum += io_packer_bank_words(blocks[end].bytes);
  *words = sum;
  return end;
}

static void count_event(const struct feed_window *w, uint32_t index) {
  const struct sl_feed_entry *entry = &w->entries[index];
  struct feed_event *event = &w->events[index];
  *event = (struct feed_event){.number = entry->number, .run = entry->run};
  if (entry->block_count == 0) event->fault = FEED_NO_BANKS;
  memset(feed_window_amounts(w, index), 0, w->packer->count * sizeof *w->amounts);
  for (uint32_t begin = 0; begin < entry->block_count;) {
    uint32_t words;
    const uint32_t end = run_end(entry->blocks, begin, entry->block_count, &words);
    if (end == begin) { /* the next bank is invalid */
      event->fault = fault_of(&entry->blocks[end]);
      event->fault_block = end;
      return;
    }
    count_run(w, index, begin, end, words);
    begin = end;
  }
}

static void count_step(const struct feed_window *w, uint32_t step) {
  const uint32_t begin = step * COUNTED_ENTRIES, end = begin + COUNTED_ENTRIES;
  for (uint32_t i = begin; i < end && i < w->count; i++)
    if (!w->entries[i].packet) count_event(w, i);
}

/* -------------------------------------------------------------------------------------------------- copying */

void feed_window_take(struct feed_window *w) {
  const struct feed_event *event = &w->events[w->next];
  struct io_packer_amount *amounts = feed_window_amounts(w, w->next++);
  for (uint32_t i = 0; event->puts_banks && i < w->packer->count; i++) w->put_bytes += 4 * (uint64_t)amounts[i].words;
  if (event->puts_banks) io_packer_get_offsets(w->packer, amounts);
  if (event->puts_record) w->put_bytes += 4 * event->record_words;
}

static void put_event(const struct feed_window *w, uint32_t index) {
  const struct sl_feed_entry *entry = &w->entries[index];
  const struct feed_event *event = &w->events[index];
  uint64_t word = event->record_word;
  if (event->puts_banks)
    io_packer_put_at(w->packer, feed_window_amounts(w, index), entry->blocks + event->selected_begin,
                     event->selected_end - event->selected_begin);
  for (uint32_t i = 0; event->puts_record && i < entry->block_count; i++) {
    const struct io_bank bank = bank_of(&entry->blocks[i]);
    word = io_packer_put_bank_in_record(w->packer, word, &bank);
  }
}

static void put_step(const struct feed_window *w, uint32_t step) {
  const uint32_t end = io_packer_step(w->put_first, w->next, step + 1, w->put_steps);
  for (uint32_t i = io_packer_step(w->put_first, w->next, step, w->put_steps); i < end; i++) put_event(w, i);
}

/* ------------------------------------------------------------------------------------------------- sharing */

struct shared {
  const struct feed_window *put, *count;
  uint32_t put_steps;
};

static void share_step(void *work, uint32_t index, uint32_t worker) {
  const struct shared *shared = (const struct shared *)work;
  (void)worker;
  if (index < shared->put_steps)
    put_step(shared->put, index);
  else
    count_step(shared->count, index - shared->put_steps);
}

void feed_window_share(struct feed_window *put, struct feed_window *count, const struct sl_services *s) {
  struct shared shared = {put, count, 0};
  if (put && put->put_first < put->next) shared.put_steps = put->put_steps = io_packer_steps(put->put_bytes);
  const uint32_t count_steps = count ? (count->count + COUNTED_ENTRIES - 1) / COUNTED_ENTRIES : 0;
  s->in_parallel(s->context, shared.put_steps + count_steps, share_step, &shared);
  if (!put) return;
  put->put_first = put->next;
  put->put_bytes = 0;
}
