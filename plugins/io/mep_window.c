/* mep_window.c: see mep_window.h. */
#include "mep_window.h"

#include "mdf.h"

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

/* How many items, and words, each event of the packet has for a port. */
static uint32_t *items_of(const struct mep_window *w, uint32_t port) {
  return w->per_event + 2 * (size_t)port * w->event_capacity;
}
static uint32_t *words_of(const struct mep_window *w, uint32_t port) { return items_of(w, port) + w->event_capacity; }

/* Where each event's next item goes, for a worker that copies. */
static uint32_t *item_next_of(const struct mep_window *w, uint32_t worker) {
  return items_of(w, w->copied_ports) + (size_t)worker * w->event_capacity;
}

static int reserve_events(struct mep_window *w, uint32_t ports, uint32_t workers, uint32_t events) {
  const size_t arrays = 2 * (size_t)ports + workers;
  if (events > w->event_capacity) {
    uint32_t *all = (uint32_t *)realloc(w->per_event, (size_t)events * arrays * sizeof *all);
    if (!all) return SL_ENOMEM;
    w->per_event = all;
    w->event_capacity = events;
  }
  struct mep_window_begin *before =
      (struct mep_window_begin *)grow(w->before, &w->before_count, ports + 1, sizeof *before);
  if (!before) return SL_ENOMEM;
  w->before = before;
  memset(w->per_event, 0, (size_t)w->event_capacity * arrays * sizeof *w->per_event);
  w->copied_ports = ports;
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
  uint64_t *positions = (uint64_t *)grow(w->all_positions, &w->positions_capacity, count, sizeof *positions);
  if (!positions) return SL_ENOMEM;
  w->all_positions = positions;
  memset(positions, 0, count * sizeof *positions);
  w->all_count = count;
  return 0;
}

/* The words that a fragment takes in the pool. */
static inline uint32_t pool_words(const struct mep_block *b, uint32_t size) {
  return b->alignment >= 2 ? mep_padded_bytes(b, size) / 4 : (size + 3) / 4;
}

static int is_taker(const struct io_packer *p, uint32_t port, uint8_t type) {
  for (uint32_t i = p->first[type]; i < p->first[type + 1u]; i++)
    if (p->takers[i] == port) return 1;
  return 0;
}

static int has_port(const struct mep_window *w, const struct mep_window_block *wb, uint32_t port) {
  for (uint32_t i = 0; i < wb->port_count; i++)
    if (w->ports[wb->first_port + i] == port) return 1;
  return 0;
}

/* What workers share: the ports of a window. */
struct port_work {
  struct mep_window *w;
  const struct io_packer *p;
};

/* What each event of the packet has for a port. */
static void count_fragments(void *work, uint32_t port, uint32_t worker) {
  const struct port_work *of = (const struct port_work *)work;
  const struct mep_window *w = of->w;
  uint32_t *items = items_of(w, port), *words = words_of(w, port);
  (void)worker;
  for (uint32_t i = 0; i < w->block_count; i++) {
    const struct mep_window_block *wb = &w->blocks[i];
    const struct mep_block *b = &wb->block;
    if (!has_port(w, wb, port)) continue;
    for (uint32_t e = 0; e < b->event_count; e++) words[e] += pool_words(b, mep_fragment_size(b, e));
    if (wb->one_type)
      for (uint32_t e = 0; e < b->event_count; e++) items[e]++;
    else
      for (uint32_t e = 0; e < b->event_count; e++) items[e] += (uint32_t)is_taker(of->p, port, b->types[e]);
  }
}

/* Finds the ports that want fragments of the block: 0 or SL_ENOMEM. */
static int find_ports(struct mep_window *w, const struct io_packer *p, struct mep_window_block *wb) {
  const struct mep_block *b = &wb->block;
  for (uint32_t e = 0; e < (wb->one_type ? 1 : b->event_count); e++) {
    const uint8_t type = b->types[e];
    if (e > 0 && type == b->types[e - 1]) continue;
    for (uint32_t i = p->first[type]; i < p->first[type + 1u]; i++) {
      if (has_port(w, wb, p->takers[i])) continue;
      if (w->port_count == w->port_capacity) {
        const uint32_t more = 2 * w->port_capacity + 64;
        uint32_t *ports = (uint32_t *)grow(w->ports, &w->port_capacity, more, sizeof *ports);
        if (!ports) return SL_ENOMEM;
        w->ports = ports;
      }
      w->ports[w->port_count++] = p->takers[i];
      wb->port_count++;
    }
  }
  return 0;
}

static void note_types(struct io_packer *p, const struct mep_block *b, uint32_t count) {
  for (uint32_t e = 0; e < count; e++)
    if (b->types[e] != MEP_FRAGMENT_MISSING) p->seen[b->types[e]] = 1;
}

static int open_block(struct mep_window *w, struct io_packer *p, const struct mep_block *b) {
  const uint32_t one_type = memcmp(b->types, b->types + 1, b->event_count - 1) == 0;
  note_types(p, b, one_type ? 1 : b->event_count);
  const int is_odin = w->odin == UINT32_MAX && memchr(b->types, MDF_BANK_ODIN, b->event_count) != NULL;
  struct mep_window_block *wb = &w->blocks[w->block_count];
  *wb = (struct mep_window_block){.block = *b, .first_port = w->port_count, .one_type = one_type};
  if (find_ports(w, p, wb)) return SL_ENOMEM;
  if (wb->port_count == 0 && !is_odin) return 0;
  if (is_odin) w->odin = w->block_count;
  w->block_count++;
  return 0;
}

int mep_window_open(struct mep_window *w, struct io_packer *p, const struct sl_services *s, const uint8_t *data,
                    uint64_t bytes, struct mdf_fault *fault) {
  struct mep_packet packet;
  *fault = (struct mdf_fault){0};
  w->event_count = w->next = w->first = w->block_count = w->port_count = 0;
  w->with_record = io_packer_wants_record(p) != 0;
  w->odin = UINT32_MAX;
  w->odin_position = 0;
  if (mep_packet_open(data, bytes, &packet, fault)) return -1;
  if (bytes - packet.bytes > MEP_PADDING_BYTES_MAX) {
    *fault = (struct mdf_fault){MDF_FAULT_PACKET_EXTRA, 0, 0, packet.bytes, bytes, 0};
    return -1;
  }
  if (reserve_blocks(w, packet.block_count)) return SL_ENOMEM;
  if (mep_packet_blocks(&packet, w->all, fault)) return -1;
  if (reserve_events(w, p->count, s->workers, w->all[0].event_count)) return SL_ENOMEM;
  for (uint32_t i = 0; i < packet.block_count; i++)
    if (open_block(w, p, &w->all[i])) return SL_ENOMEM;
  struct port_work work = {w, p};
  s->in_parallel(s->context, p->count, count_fragments, &work);
  w->event_count = w->all[0].event_count;
  w->event_id = w->all[0].event_id;
  return 0;
}

void mep_window_free(struct mep_window *w) {
  free(w->per_event);
  free(w->ports);
  free(w->before);
  free(w->blocks);
  free(w->all);
  free(w->all_positions);
  *w = (struct mep_window){0};
}

/* ------------------------------------------------------------------------------------------- event by event */

void mep_window_begin(struct mep_window *w, const struct io_packer *p) {
  w->first = w->next;
  for (uint32_t port = 0; port < p->count; port++)
    w->before[port] = (struct mep_window_begin){p->ports[port].items, p->ports[port].words};
}

int mep_window_identity(const struct mep_window *w, uint32_t *run, uint64_t *number, struct mdf_fault *fault) {
  if (w->odin == UINT32_MAX) return 0;
  const struct mep_window_block *wb = &w->blocks[w->odin];
  const uint8_t type = wb->block.types[w->next];
  if (mep_is_broken_type(type) && type != MEP_FRAGMENT_MISSING) {
    *fault = (struct mdf_fault){MDF_FAULT_ODIN, 0, 0, type, 0, 0};
    return -1;
  }
  const struct io_bank bank = {wb->block.fragments + w->odin_position, (uint16_t)mep_fragment_size(&wb->block, w->next),
                               wb->block.source_id, type, wb->block.version};
  return mdf_odin_identity(&bank, run, number);
}

void mep_window_measure(const struct mep_window *w, struct io_packer *p) {
  for (uint32_t port = 0; port < p->count; port++) {
    p->ports[port].event_items = items_of(w, port)[w->next];
    p->ports[port].event_words = words_of(w, port)[w->next];
  }
}

void mep_window_add_record(const struct mep_window *w, struct io_packer *p) {
  for (uint32_t i = 0; w->with_record && i < w->all_count; i++) {
    const struct mep_block *b = &w->all[i];
    const uint8_t type = b->types[w->next];
    const uint32_t size = mep_fragment_size(b, w->next);
    if (type == MEP_FRAGMENT_MISSING && size == 0) continue;
    const struct io_bank bank = {b->fragments + w->all_positions[i], (uint16_t)size,
                                 mep_bank_source(type, b->source_id), type, b->version};
    io_packer_add_to_record(p, &bank, mep_padded_bytes(b, size) - size);
  }
}

void mep_window_take(struct mep_window *w) {
  for (uint32_t i = 0; w->with_record && i < w->all_count; i++)
    w->all_positions[i] += mep_padded_bytes(&w->all[i], mep_fragment_size(&w->all[i], w->next));
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

/* Fewer are copied sooner than workers wake up. */
enum { SHARED_EVENTS = 32 };

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

/* The items of one block, one an event; returns the word after its piece. */
static uint64_t write_items(const struct mep_window *w, const struct io_packer *p, uint32_t port,
                            const struct mep_window_block *wb, uint32_t *item_next, uint64_t word) {
  const struct io_raw_banks *out = &p->ports[port].out;
  const struct mep_block *b = &wb->block;
  for (uint32_t e = w->first; e < w->next; e++) {
    const uint32_t size = mep_fragment_size(b, e);
    const uint8_t type = b->types[e];
    if (out->payload) clear_padding(out->payload, word, size);
    if (wb->one_type || is_taker(p, port, type)) {
      const uint32_t item = item_next[e]++;
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

static void copy_port(void *work, uint32_t port, uint32_t worker) {
  const struct port_work *of = (const struct port_work *)work;
  const struct mep_window *w = of->w;
  const struct io_packer *p = of->p;
  const uint32_t *items = items_of(w, port);
  uint32_t *item_next = item_next_of(w, worker);
  uint64_t word = w->before[port].words, item = w->before[port].items;
  for (uint32_t e = w->first; e < w->next; e++) {
    item_next[e] = (uint32_t)item;
    item += items[e];
  }
  for (uint32_t i = 0; i < w->block_count; i++) {
    const struct mep_window_block *wb = &w->blocks[i];
    if (!has_port(w, wb, port)) continue;
    if (p->ports[port].out.payload) copy_payloads(w, wb, p->ports[port].out.payload, word);
    word = write_items(w, p, port, wb, item_next, word);
  }
}

void mep_window_copy(struct mep_window *w, const struct io_packer *p, const struct sl_services *s) {
  if (w->first == w->next) return;
  struct port_work work = {w, p};
  if (w->next - w->first >= SHARED_EVENTS)
    s->in_parallel(s->context, p->count, copy_port, &work);
  else
    for (uint32_t port = 0; port < p->count; port++) copy_port(&work, port, 0);
  for (uint32_t i = 0; i < w->block_count; i++) w->blocks[i].position += window_bytes(w, &w->blocks[i].block);
  w->first = w->next;
}
