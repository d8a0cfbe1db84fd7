/* mep_window.c: see mep_window.h. */
#include "mep_window.h"

#include <sluice/plugin.h>

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------- opening */

/* An array of at least `count` values, or NULL; what it held is kept. */
static void *grow(void *array, uint32_t *capacity, uint32_t count, size_t bytes) {
  if (count <= *capacity) return array;
  void *larger = realloc(array, count * bytes);
  if (larger) *capacity = count;
  return larger;
}

static int reserve_events(struct mep_window *w, uint32_t events) {
  enum { ARRAYS = 2 * IO_KIND_COUNT + 1 };
  if (events > w->event_capacity) {
    uint32_t *all = (uint32_t *)realloc(w->per_event, (size_t)events * ARRAYS * sizeof *all);
    if (!all) return SL_ENOMEM;
    w->per_event = all;
    w->event_capacity = events;
  }
  memset(w->per_event, 0, (size_t)w->event_capacity * ARRAYS * sizeof *w->per_event);
  uint32_t *next = w->per_event;
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++, next += 2 * (size_t)w->event_capacity) {
    w->items[kind] = next;
    w->words[kind] = next + w->event_capacity;
  }
  w->item_next = next;
  return 0;
}

static int reserve_blocks(struct mep_window *w, uint32_t count) {
  struct mep_block *all = (struct mep_block *)grow(w->all, &w->all_capacity, count, sizeof *all);
  if (!all) return SL_ENOMEM;
  w->all = all;
  struct mep_window_block *blocks =
      (struct mep_window_block *)grow(w->blocks, &w->block_capacity, count, sizeof *blocks);
  if (!blocks) return SL_ENOMEM;
  w->blocks = blocks;
  return 0;
}

/* The words that a fragment takes in the pool. */
static inline uint32_t pool_words(const struct mep_block *b, uint32_t size) {
  return b->alignment >= 2 ? mep_padded_bytes(b, size) / 4 : (size + 3) / 4;
}

static void count_fragments(struct mep_window *w, const struct bank_packer *p, const struct mep_window_block *wb) {
  const struct mep_block *b = &wb->block;
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) {
    if (!(wb->kinds >> kind & 1)) continue;
    uint32_t *items = w->items[kind], *words = w->words[kind];
    for (uint32_t e = 0; e < b->event_count; e++) words[e] += pool_words(b, mep_fragment_size(b, e));
    if (wb->one_type)
      for (uint32_t e = 0; e < b->event_count; e++) items[e]++;
    else
      for (uint32_t e = 0; e < b->event_count; e++) items[e] += p->kind_of_type[b->types[e]] == kind;
  }
}

static uint32_t kinds_of(const struct bank_packer *p, const struct mep_block *b, uint32_t one_type) {
  uint32_t kinds = 0;
  for (uint32_t e = 0; e < (one_type ? 1 : b->event_count); e++) {
    const uint32_t kind = p->kind_of_type[b->types[e]];
    if (kind != IO_KIND_COUNT) kinds |= 1u << kind;
  }
  return kinds;
}

static void open_block(struct mep_window *w, const struct bank_packer *p, const struct mep_block *b) {
  const uint32_t one_type = memcmp(b->types, b->types + 1, b->event_count - 1) == 0;
  const uint32_t kinds = kinds_of(p, b, one_type);
  const int is_odin = w->odin == UINT32_MAX && memchr(b->types, MDF_BANK_ODIN, b->event_count) != NULL;
  if (!kinds && !is_odin) return;
  if (is_odin) w->odin = w->block_count;
  struct mep_window_block *wb = &w->blocks[w->block_count++];
  *wb = (struct mep_window_block){*b, 0, kinds, one_type};
  count_fragments(w, p, wb);
}

int mep_window_open(struct mep_window *w, const struct bank_packer *p, const uint8_t *data, uint64_t bytes,
                    struct mdf_fault *fault) {
  enum { PADDING_BYTES_MAX = 3 };
  struct mep_packet packet;
  *fault = (struct mdf_fault){0};
  w->event_count = w->next = w->first = w->block_count = 0;
  w->odin = UINT32_MAX;
  w->odin_position = 0;
  if (mep_packet_open(data, bytes, &packet, fault)) return -1;
  if (bytes - packet.bytes > PADDING_BYTES_MAX) {
    *fault = (struct mdf_fault){MDF_FAULT_PACKET_EXTRA, 0, 0, packet.bytes, bytes, 0};
    return -1;
  }
  if (reserve_blocks(w, packet.block_count)) return SL_ENOMEM;
  if (mep_packet_blocks(&packet, w->all, fault)) return -1;
  if (reserve_events(w, w->all[0].event_count)) return SL_ENOMEM;
  for (uint32_t i = 0; i < packet.block_count; i++) open_block(w, p, &w->all[i]);
  w->event_count = w->all[0].event_count;
  w->event_id = w->all[0].event_id;
  return 0;
}

void mep_window_free(struct mep_window *w) {
  free(w->per_event);
  free(w->blocks);
  free(w->all);
  *w = (struct mep_window){0};
}

/* ------------------------------------------------------------------------------------------- event by event */

void mep_window_begin(struct mep_window *w, const struct bank_packer *p) {
  w->first = w->next;
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) {
    w->items_before[kind] = p->ports[kind].items;
    w->words_before[kind] = p->ports[kind].words;
  }
}

int mep_window_identity(const struct mep_window *w, uint32_t *run, uint64_t *number, struct mdf_fault *fault) {
  if (w->odin == UINT32_MAX) return 0;
  const struct mep_window_block *wb = &w->blocks[w->odin];
  const uint8_t type = wb->block.types[w->next];
  if (mep_is_broken_type(type) && type != MEP_FRAGMENT_MISSING) {
    *fault = (struct mdf_fault){MDF_FAULT_ODIN, 0, 0, type, 0, 0};
    return -1;
  }
  const struct mdf_bank bank = {wb->block.fragments + w->odin_position,
                                (uint16_t)mep_fragment_size(&wb->block, w->next), wb->block.source_id, type,
                                wb->block.version};
  return mdf_odin_identity(&bank, run, number);
}

void mep_window_measure(const struct mep_window *w, struct bank_packer *p) {
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) {
    p->ports[kind].event_items = w->items[kind][w->next];
    p->ports[kind].event_words = w->words[kind][w->next];
  }
}

void mep_window_take(struct mep_window *w) {
  if (w->odin != UINT32_MAX) {
    const struct mep_block *b = &w->blocks[w->odin].block;
    w->odin_position += mep_padded_bytes(b, mep_fragment_size(b, w->next));
  }
  w->next++;
}

void mep_window_skip(struct mep_window *w) {
  for (uint32_t i = 0; i < w->block_count; i++) {
    struct mep_window_block *wb = &w->blocks[i];
    wb->position += mep_padded_bytes(&wb->block, mep_fragment_size(&wb->block, w->next));
  }
  mep_window_take(w);
  w->first = w->next;
}

/* -------------------------------------------------------------------------------------------------- copying */

/* The bytes that the window takes in a block. */
static uint64_t window_bytes(const struct mep_window *w, const struct mep_block *b) {
  uint64_t bytes = 0;
  for (uint32_t e = w->first; e < w->next; e++) bytes += mep_padded_bytes(b, mep_fragment_size(b, e));
  return bytes;
}

/* A payload's last word may hold what the file had as padding. */
static inline void clear_padding(uint32_t *payload, uint64_t word, uint32_t size) {
  if (size % 4) payload[word + size / 4] &= (1u << 8 * (size % 4)) - 1;
}

static void copy_payloads(const struct mep_window *w, const struct mep_window_block *wb, uint32_t *payload,
                          uint64_t word) {
  const struct mep_block *b = &wb->block;
  const uint8_t *in = b->fragments + wb->position;
  if (b->alignment >= 2) {
    memcpy(payload + word, in, window_bytes(w, b));
    return;
  }
  for (uint32_t e = w->first; e < w->next; e++) {
    const uint32_t size = mep_fragment_size(b, e), words = (size + 3) / 4;
    if (words) payload[word + words - 1] = 0;
    memcpy(payload + word, in, size);
    in += mep_padded_bytes(b, size);
    word += words;
  }
}

/* The items of one block, one an event; returns the word behind its piece. */
static uint64_t write_items(struct mep_window *w, const struct bank_packer *p, uint32_t kind,
                            const struct mep_window_block *wb, uint64_t word) {
  const struct odin_banks *out = &p->ports[kind].out;
  const struct mep_block *b = &wb->block;
  for (uint32_t e = w->first; e < w->next; e++) {
    const uint32_t size = mep_fragment_size(b, e);
    const uint8_t type = b->types[e];
    if (out->payload) clear_padding(out->payload, word, size);
    if (wb->one_type || p->kind_of_type[type] == kind) {
      const uint32_t item = w->item_next[e]++;
      if (out->source_id) out->source_id[item] = mep_bank_source(type, b->source_id);
      if (out->type) out->type[item] = type;
      if (out->version) out->version[item] = b->version;
      if (out->size_bytes) out->size_bytes[item] = (uint16_t)size;
      if (out->first_word) out->first_word[item] = (uint32_t)word;
    }
    word += pool_words(b, size);
  }
  return word;
}

static void copy_kind(struct mep_window *w, const struct bank_packer *p, uint32_t kind) {
  uint64_t word = w->words_before[kind], item = w->items_before[kind];
  for (uint32_t e = w->first; e < w->next; e++) {
    w->item_next[e] = (uint32_t)item;
    item += w->items[kind][e];
  }
  for (uint32_t i = 0; i < w->block_count; i++) {
    const struct mep_window_block *wb = &w->blocks[i];
    if (!(wb->kinds >> kind & 1)) continue;
    if (p->ports[kind].out.payload) copy_payloads(w, wb, p->ports[kind].out.payload, word);
    word = write_items(w, p, kind, wb, word);
  }
}

void mep_window_copy(struct mep_window *w, const struct bank_packer *p) {
  if (w->first == w->next) return;
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) copy_kind(w, p, kind);
  for (uint32_t i = 0; i < w->block_count; i++) w->blocks[i].position += window_bytes(w, &w->blocks[i].block);
  w->first = w->next;
}
