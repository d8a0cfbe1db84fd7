/* mep_window.c: see mep_window.h. */
#include "mep_window.h"

#include "format/mdf.h"

#include <sluice/plugin.h>

#include <stdatomic.h>
#include <stdlib.h>

/* Blocks and events that a worker processes per step. */
enum { OPENED_BLOCKS = 16, RANGE_EVENTS = 32 };
/* Bits of `traits`. */
enum { ONE_TYPE = 1, HAS_ODIN = 2 };

/* ------------------------------------------------------------------------------------------------- opening */

/* Returns an array of at least `count` values with the old contents, or NULL. */
static void *grow(void *array, size_t *capacity, size_t count, size_t bytes) {
  if (count <= *capacity) return array;
  void *larger = realloc(array, count * bytes);
  if (larger) *capacity = count;
  return larger;
}

/* Arrays with the number of items and words of each event for a port. */
static uint32_t *items_of(const struct mep_window *w, uint32_t port) {
  return w->per_event + 2 * (size_t)port * w->event_capacity;
}
static uint32_t *words_of(const struct mep_window *w, uint32_t port) { return items_of(w, port) + w->event_capacity; }

static uint32_t range_count(const struct mep_window *w) { return (w->event_count + RANGE_EVENTS - 1) / RANGE_EVENTS; }
/* Returns the piece offsets of a range; those after the last range are the end of the packet. */
static struct mep_window_offset *offsets_of(const struct mep_window *w, uint32_t range) {
  return w->piece_offsets + (size_t)range * w->port_count;
}

static int reserve_events(struct mep_window *w, uint32_t ports, uint32_t events) {
  if (events <= w->event_capacity && ports <= w->per_event_ports) return 0;
  uint32_t *all = (uint32_t *)realloc(w->per_event, 2 * (size_t)events * ports * sizeof *all + 1);
  if (!all) return SL_ENOMEM;
  w->per_event = all;
  w->event_capacity = events;
  w->per_event_ports = ports;
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
  uint8_t *traits = (uint8_t *)grow(w->traits, &w->traits_capacity, count, sizeof *traits);
  if (!traits) return SL_ENOMEM;
  w->traits = traits;
  memset(positions, 0, count * sizeof *positions);
  memset(traits, 0, count * sizeof *traits);
  memset(all, 0, count * sizeof *all);
  w->all_count = count;
  return 0;
}

static inline uint32_t payload_words(const struct mep_block *b, uint32_t size) {
  return b->alignment >= 2 ? mep_padded_bytes(b, size) / 4 : (size + 3) / 4;
}

static int port_reads_type(const struct io_packer *p, uint32_t port, uint8_t type) {
  for (uint32_t i = p->first[type]; i < p->first[type + 1u]; i++)
    if (p->readers[i] == port) return 1;
  return 0;
}

static int has_port(const struct mep_window *w, const struct mep_window_block *wb, uint32_t port) {
  for (uint32_t i = 0; i < wb->port_count; i++)
    if (w->ports[wb->first_port + i] == port) return 1;
  return 0;
}

/* Returns 0 or SL_ENOMEM. */
static int find_ports(struct mep_window *w, const struct io_packer *p, struct mep_window_block *wb) {
  const struct mep_block *b = &wb->block;
  for (uint32_t e = 0; e < (wb->one_type ? 1 : b->event_count); e++) {
    const uint8_t type = b->types[e];
    if (e > 0 && type == b->types[e - 1]) continue;
    for (uint32_t i = p->first[type]; i < p->first[type + 1u]; i++) {
      if (has_port(w, wb, p->readers[i])) continue;
      if (w->port_count == w->port_capacity) {
        const size_t more = 2 * w->port_capacity + 64;
        uint32_t *ports = (uint32_t *)grow(w->ports, &w->port_capacity, more, sizeof *ports);
        if (!ports) return SL_ENOMEM;
        w->ports = ports;
      }
      w->ports[w->port_count++] = p->readers[i];
      wb->port_count++;
    }
  }
  return 0;
}

static void note_types(struct io_packer *p, const struct mep_block *b, uint32_t count) {
  for (uint32_t e = 0; e < count; e++)
    if (b->types[e] != MEP_FRAGMENT_MISSING) p->seen[b->types[e]] = 1;
}

static int add_block(struct mep_window *w, struct io_packer *p, uint32_t i) {
  const struct mep_block *b = &w->all[i];
  const uint32_t one_type = (w->traits[i] & ONE_TYPE) != 0;
  note_types(p, b, one_type ? 1 : b->event_count);
  const int is_odin = w->odin == UINT32_MAX && (w->traits[i] & HAS_ODIN);
  struct mep_window_block *wb = &w->blocks[w->block_count];
  *wb = (struct mep_window_block){.block = *b, .first_port = w->port_count, .one_type = one_type};
  if (find_ports(w, p, wb)) return SL_ENOMEM;
  if (wb->port_count == 0 && !is_odin) return 0;
  if (is_odin) w->odin = w->block_count;
  w->block_count++;
  return 0;
}

/* Lists the blocks of each port. */
static int find_pieces(struct mep_window *w, uint32_t ports) {
  struct mep_window_piece *pieces =
      (struct mep_window_piece *)grow(w->pieces, &w->piece_capacity, w->port_count + 1u, sizeof *pieces);
  if (!pieces) return SL_ENOMEM;
  w->pieces = pieces;
  uint32_t *first = (uint32_t *)grow(w->piece_first, &w->piece_first_capacity, ports + 1u, sizeof *first);
  if (!first) return SL_ENOMEM;
  w->piece_first = first;
  uint32_t count = 0;
  for (uint32_t port = 0; port < ports; port++) {
    first[port] = count;
    for (uint32_t i = 0; i < w->block_count; i++)
      if (has_port(w, &w->blocks[i], port)) pieces[count++] = (struct mep_window_piece){.block = i};
  }
  first[ports] = count;
  return 0;
}

struct window_work {
  struct mep_window *w;
  const struct io_packer *p;
  const struct mep_packet *packet;
  atomic_uint last; /* last block to open; a fault makes later blocks useless */
};

static void lower(atomic_uint *value, uint32_t to) {
  unsigned int now = atomic_load(value);
  while (to < now && !atomic_compare_exchange_weak(value, &now, to)) continue;
}

/* Opens some blocks. Stops at overlapping blocks, which would cause much work for a small packet. */
static void open_blocks(void *work, uint32_t index, uint32_t worker) {
  struct window_work *of = (struct window_work *)work;
  const uint32_t begin = index * OPENED_BLOCKS, end = begin + OPENED_BLOCKS;
  (void)worker;
  for (uint32_t i = begin; i < end && i <= atomic_load(&of->last) && i < of->packet->block_count; i++) {
    struct mep_block *b = &of->w->all[i];
    struct mdf_fault fault;
    if (mep_packet_block(of->packet, i, b, &fault)) {
      b->event_count = 0;
      lower(&of->last, i);
      return;
    }
    if (i + 1 < of->packet->block_count && mep_packet_block_begin(of->packet, i + 1) < b->end) lower(&of->last, i + 1);
    const int one_type = memcmp(b->types, b->types + 1, b->event_count - 1) == 0;
    const int has_odin = memchr(b->types, MDF_BANK_ODIN, one_type ? 1 : b->event_count) != NULL;
    of->w->traits[i] = (uint8_t)((one_type ? ONE_TYPE : 0) | (has_odin ? HAS_ODIN : 0));
  }
}

/* Adds items and words of the events [begin, end) of a piece; returns their bytes and words. */
static struct mep_window_offset count_piece(const struct mep_window_block *wb, const struct io_packer *p, uint32_t port,
                                            uint32_t begin, uint32_t end, uint32_t *items, uint32_t *words) {
  const struct mep_block *b = &wb->block;
  struct mep_window_offset sum = {0, 0};
  for (uint32_t e = begin; e < end; e++) {
    const uint32_t size = mep_fragment_size(b, e), pool = payload_words(b, size);
    sum.bytes += mep_padded_bytes(b, size);
    sum.words += pool;
    words[e] += pool;
  }
  if (wb->one_type)
    for (uint32_t e = begin; e < end; e++) items[e]++;
  else
    for (uint32_t e = begin; e < end; e++) items[e] += (uint32_t)port_reads_type(p, port, b->types[e]);
  return sum;
}

/* Counts items and words of each event of a range for each port. Sets the piece offsets of the next range to the size
 * of this range. */
static void count_range(void *work, uint32_t range, uint32_t worker) {
  const struct window_work *of = (const struct window_work *)work;
  const struct mep_window *w = of->w;
  const uint32_t begin = range * RANGE_EVENTS;
  const uint32_t end = begin + RANGE_EVENTS < w->event_count ? begin + RANGE_EVENTS : w->event_count;
  struct mep_window_offset *piece_offsets = offsets_of(w, range + 1);
  (void)worker;
  for (uint32_t port = 0; port < of->p->count; port++) {
    uint32_t *items = items_of(w, port), *words = words_of(w, port);
    memset(items + begin, 0, (end - begin) * sizeof *items);
    memset(words + begin, 0, (end - begin) * sizeof *words);
    for (uint32_t i = w->piece_first[port]; i < w->piece_first[port + 1]; i++)
      piece_offsets[i] = count_piece(&w->blocks[w->pieces[i].block], of->p, port, begin, end, items, words);
  }
}

static int count_fragments(struct mep_window *w, const struct sl_services *s, struct window_work *work) {
  const uint32_t ranges = range_count(w);
  struct mep_window_offset *piece_offsets = (struct mep_window_offset *)grow(
      w->piece_offsets, &w->offset_capacity, (ranges + (size_t)1) * w->port_count + 1, sizeof *piece_offsets);
  if (!piece_offsets) return SL_ENOMEM;
  w->piece_offsets = piece_offsets;
  memset(piece_offsets, 0, w->port_count * sizeof *piece_offsets);
  s->in_parallel(s->context, ranges, count_range, work);
  for (size_t i = w->port_count; i < (ranges + (size_t)1) * w->port_count; i++) {
    piece_offsets[i].bytes += piece_offsets[i - w->port_count].bytes;
    piece_offsets[i].words += piece_offsets[i - w->port_count].words;
  }
  return 0;
}

int mep_window_open(struct mep_window *w, struct io_packer *p, const struct sl_services *s, const uint8_t *data,
                    uint64_t bytes, struct mdf_fault *fault) {
  struct mep_packet packet;
  *fault = (struct mdf_fault){0};
  w->event_count = w->next = w->first = w->block_count = w->port_count = 0;
  w->with_record = io_packer_record_is_read(p) != 0;
  w->odin = UINT32_MAX;
  w->odin_position = 0;
  if (mep_packet_open(data, bytes, &packet, fault)) return -1;
  if (bytes - packet.bytes > MEP_PADDING_BYTES_MAX) {
    *fault = (struct mdf_fault){MDF_FAULT_PACKET_EXTRA, 0, 0, packet.bytes, bytes, 0};
    return -1;
  }
  if (reserve_blocks(w, packet.block_count)) return SL_ENOMEM;
  struct window_work work = {w, p, &packet, UINT32_MAX};
  s->in_parallel(s->context, (packet.block_count + OPENED_BLOCKS - 1) / OPENED_BLOCKS, open_blocks, &work);
  if (mep_packet_blocks(&packet, w->all, fault)) return -1;
  for (uint32_t i = 0; i < packet.block_count; i++)
    if (add_block(w, p, i)) return SL_ENOMEM;
  if (reserve_events(w, p->count, w->all[0].event_count) || find_pieces(w, p->count)) return SL_ENOMEM;
  w->event_count = w->all[0].event_count;
  w->event_id = w->all[0].event_id;
  if (count_fragments(w, s, &work) == 0) return 0;
  w->event_count = 0;
  return SL_ENOMEM;
}

void mep_window_free(struct mep_window *w) {
  free(w->per_event);
  free(w->ports);
  free(w->pieces);
  free(w->piece_first);
  free(w->piece_offsets);
  free(w->blocks);
  free(w->all);
  free(w->traits);
  free(w->all_positions);
  *w = (struct mep_window){0};
}

/* ------------------------------------------------------------------------------------------- event by event */

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

static void advance(struct mep_window *w) {
  for (uint32_t i = 0; w->with_record && i < w->all_count; i++)
    w->all_positions[i] += mep_padded_bytes(&w->all[i], mep_fragment_size(&w->all[i], w->next));
  if (w->odin != UINT32_MAX) {
    const struct mep_block *b = &w->blocks[w->odin].block;
    w->odin_position += mep_padded_bytes(b, mep_fragment_size(b, w->next));
  }
  w->next++;
}

void mep_window_take(struct mep_window *w, const struct io_packer *p) {
  for (uint32_t port = 0; port < p->count; port++)
    items_of(w, port)[w->next] = (uint32_t)p->ports[port].items - items_of(w, port)[w->next];
  advance(w);
}

void mep_window_skip(struct mep_window *w) {
  for (uint32_t i = 0; i < w->port_count; i++) {
    struct mep_window_piece *piece = &w->pieces[i];
    const struct mep_block *b = &w->blocks[piece->block].block;
    const uint32_t size = mep_fragment_size(b, w->next);
    piece->first.bytes += mep_padded_bytes(b, size);
    piece->first.words += payload_words(b, size);
  }
  advance(w);
  w->first = w->next;
}

/* -------------------------------------------------------------------------------------------------- copying */

/* Returns the offset of an event in a piece, or the end of the piece for event_count. */
static struct mep_window_offset offset_of(const struct mep_window *w, uint32_t i, uint32_t event) {
  const struct mep_block *b = &w->blocks[w->pieces[i].block].block;
  if (event == w->event_count) return offsets_of(w, range_count(w))[i];
  struct mep_window_offset offset = offsets_of(w, event / RANGE_EVENTS)[i];
  for (uint32_t e = event - event % RANGE_EVENTS; e < event; e++) {
    const uint32_t size = mep_fragment_size(b, e);
    offset.bytes += mep_padded_bytes(b, size);
    offset.words += payload_words(b, size);
  }
  return offset;
}

/* Sets the end of the window in each piece, and the offset of each piece; the payload of the slice ends with the last
 * one. */
static void place_pieces(struct mep_window *w, const struct io_packer *p) {
  for (uint32_t port = 0; port < p->count; port++) {
    uint64_t word = p->ports[port].words;
    for (uint32_t i = w->piece_first[port + 1]; i-- > w->piece_first[port];) {
      struct mep_window_piece *piece = &w->pieces[i];
      piece->end = offset_of(w, i, w->next);
      word -= piece->end.words - piece->first.words;
      piece->word = word;
    }
  }
}

/* Clears the padding that was copied with the last word of a payload. */
static inline void clear_padding(uint32_t *payload, uint64_t word, uint32_t size) {
  if (size % 4) payload[word + size / 4] &= (1u << 8 * (size % 4)) - 1;
}

/* Events [begin, end) of a piece, between two offsets. */
struct part {
  const struct mep_window_block *block;
  uint32_t begin, end;
  struct mep_window_offset from, to;
  uint64_t word; /* offset in the payload */
};

static void copy_payloads(const struct part *part, uint32_t *payload) {
  const struct mep_block *b = &part->block->block;
  const uint8_t *in = b->fragments + part->from.bytes;
  uint64_t word = part->word;
  if (b->alignment >= 2) {
    memcpy(payload + word, in, part->to.bytes - part->from.bytes);
    return;
  }
  for (uint32_t e = part->begin; e < part->end; e++) {
    const uint32_t size = mep_fragment_size(b, e), words = (size + 3) / 4;
    if (words) payload[word + words - 1] = 0;
    memcpy(payload + word, in, size);
    in += mep_padded_bytes(b, size);
    word += words;
  }
}

static void write_items(const struct part *part, const struct io_packer *p, uint32_t port, uint32_t *item_next) {
  const struct io_raw_banks out =
      p->ports[port].out; /* a copy: the compiler must assume that the writes below change the pointers */
  const struct mep_block *b = &part->block->block;
  uint64_t word = part->word;
  uint8_t type = b->types[part->begin];
  uint16_t source = mep_bank_source(type, b->source_id);
  for (uint32_t e = part->begin; e < part->end; e++) {
    const uint32_t size = mep_fragment_size(b, e);
    if (b->types[e] != type) {
      type = b->types[e];
      source = mep_bank_source(type, b->source_id);
    }
    if (out.payload) clear_padding(out.payload, word, size);
    if (part->block->one_type || port_reads_type(p, port, type)) {
      const uint32_t item = item_next[e - part->begin]++;
      if (out.source_id) out.source_id[item] = source;
      if (out.type) out.type[item] = type;
      if (out.version) out.version[item] = b->version;
      if (out.size_bytes) out.size_bytes[item] = (uint16_t)size;
      if (out.first_word) out.first_word[item] = (uint32_t)word;
    }
    word += payload_words(b, size);
  }
}

static void copy_range(void *work, uint32_t index, uint32_t worker) {
  const struct window_work *of = (const struct window_work *)work;
  const struct mep_window *w = of->w;
  const uint32_t range = w->first / RANGE_EVENTS + index, range_begin = range * RANGE_EVENTS;
  const uint32_t begin = range_begin > w->first ? range_begin : w->first;
  const uint32_t end = w->next - range_begin > RANGE_EVENTS ? range_begin + RANGE_EVENTS : w->next;
  uint32_t item_next[RANGE_EVENTS];
  (void)worker;
  for (uint32_t port = 0; port < of->p->count; port++) {
    uint32_t *payload = of->p->ports[port].out.payload;
    memcpy(item_next, items_of(w, port) + begin, (end - begin) * sizeof *item_next);
    for (uint32_t i = w->piece_first[port]; i < w->piece_first[port + 1]; i++) {
      const struct mep_window_piece *piece = &w->pieces[i];
      struct part part = {&w->blocks[piece->block], begin, end, piece->first, piece->end, piece->word};
      if (begin > w->first) part.from = offsets_of(w, range)[i];
      if (end < w->next) part.to = offsets_of(w, range + 1)[i];
      part.word += part.from.words - piece->first.words;
      if (payload) copy_payloads(&part, payload);
      write_items(&part, of->p, port, item_next);
    }
  }
}

void mep_window_copy(struct mep_window *w, const struct io_packer *p, const struct sl_services *s) {
  if (w->first == w->next) return;
  struct window_work work = {w, p, NULL, 0};
  place_pieces(w, p);
  s->in_parallel(s->context, (w->next - 1) / RANGE_EVENTS - w->first / RANGE_EVENTS + 1, copy_range, &work);
  for (uint32_t i = 0; i < w->port_count; i++) w->pieces[i].first = w->pieces[i].end;
  w->first = w->next;
}
