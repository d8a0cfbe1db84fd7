/* seeding.xz: tracks of five or six hits in x layers alone (README.md, "Seeds"). For each half and case of an event:
 *   1. For each first hit find the range of last hits that the least momentum allows.
 *   2. Reject pairs if tables of cells show that the middle hit or two further hits are missing.
 *   3. Find the middle hits of each remaining pair; fit a curve through the three hits of each triplet.
 *   4. Add the nearest hits of the other three layers, at least two; fit again.
 * Parallelism: a block takes a chunk of first hits, chunks being of about equal work; threads take pairs, then listed
 * pairs, then listed triplets, so that few threads are idle although ranges differ in length.
 * Determinism: tracks are ordered by first, last and middle hit, independent of chunks and threads.
 * Cost per event (500 first hits, 17,000 pairs, 1,900 triplets, 400 tracks): reads the x of 1,600 hits twice.
 * Plain version: tests/seeding/xz_reference.h. CPU version: xz.cpu.c.
 */
#include "xz_track.h"

#include <float.h>

/* Constants of a thread for the search for middle hits. */
struct pairing {
  float length, inverse_length, d_first, d_middle, z_first, inverse_p[2], per_p, least; /* least >= 0 */
  uint32_t is_turned;                                                                   /* it was negative before */
};

static SL_DEVICE struct pairing pairing_of(const struct half *h) {
  struct pairing p;
  p.length = h->numbers[SEED_CASE_LENGTH];
  p.inverse_length = h->inverse_length;
  p.d_first = h->layers[FIRST].d;
  p.d_middle = h->layers[MIDDLE].d;
  p.z_first = h->numbers[SEED_CASE_Z_FIRST];
  p.inverse_p[0] = h->inverse_p[0];
  p.inverse_p[1] = h->inverse_p[1];
  p.is_turned = h->numbers[SEED_CASE_LEAST] < 0.0f;
  p.per_p = p.is_turned ? -h->numbers[SEED_CASE_PER_P] : h->numbers[SEED_CASE_PER_P];
  p.least = p.is_turned ? -h->numbers[SEED_CASE_LEAST] : h->numbers[SEED_CASE_LEAST];
  return p;
}

/* Search window for middle hits, low <= x <= high. */
struct window {
  float low, high;
};

/* Search window for middle hits. The x of the line at z = 0 gives the size and the side of the bend. `first`: x of the
 * first hit. */
static SL_DEVICE struct window middle_window(const struct pairing *p, const struct line *l, float first) {
  const float x0 = first - l->slope * p->z_first, size = sl_abs_f32(x0);
  const float bend = p->per_p * (size * (p->inverse_p[0] + p->inverse_p[1] * size));
  const float x = l->x + p->d_middle * l->slope;
  const float below = p->least + bend, above = 2.0f * p->least - bend; /* for tracks that bend towards -x */
  const uint32_t is_positive = (x0 > 0.0f) != p->is_turned;
  const struct window w = {is_positive ? x - above : x - below, is_positive ? x + below : x + above};
  return w;
}

/* Constants of a thread for the rejection of pairs. The middle hit is expected x_0 (linear + square |x_0|) from the
 * line, and half of `least` towards 0 from there. */
struct rejection {
  float length, inverse_length, z_first, cells_per_mm, linear, square;
  uint32_t half_least; /* as bits of a float */
};

static SL_DEVICE struct rejection rejection_of(const struct half *h, const struct pairing *p) {
  const float per_p = p->is_turned ? p->per_p : -p->per_p;
  struct rejection f;
  f.length = p->length;
  f.inverse_length = p->inverse_length;
  f.z_first = p->z_first;
  f.cells_per_mm = h->cells_per_mm;
  f.linear = per_p * p->inverse_p[0];
  f.square = per_p * p->inverse_p[1];
  f.half_least = sl_bits_from_f32(p->is_turned ? -0.5f * p->least : 0.5f * p->least);
  return f;
}

/* 1 if a pair can have a middle hit and two further hits; one of ten has. Equal to middle_window except for rounding;
 * x_0 has the opposite sign here, and the same bits otherwise. */
static SL_DEVICE uint32_t is_likely(const struct search *s, const struct rejection *f, float x_first, uint32_t pair) {
  uint32_t near[TABLES];
  if (!s->is_padded) return 1;
  const float slope = divided(last_x(s, pair) - x_first, f->length, f->inverse_length);
  const float x0 = slope * f->z_first - x_first, x = x_first * f->cells_per_mm;
  const float half_least = sl_f32_from_bits(f->half_least ^ (sl_bits_from_f32(x0) & sign_bit));
  const float off = fmaf(x0, fmaf(f->square, sl_abs_f32(x0), f->linear), half_least);
  SL_UNROLL for (uint32_t k = 0; k < TABLES; k++) {
    const struct crossing *c = &s->half->crossings[k];
    near[k] = near_bit(s->w, k, cell_of(fmaf(off, c->gain, fmaf(slope, c->d, x))));
  }
  return ((near[0] & near[1]) | (near[0] & near[2]) | (near[1] & near[2])) & near[NEAR_MIDDLE] & 1;
}

/* Range of the middle hits of a pair. */
static SL_DEVICE struct range middle_hits(const struct search *s, const struct pairing *p, uint32_t first,
                                          uint32_t last) {
  const struct layer *layer = &s->half->layers[MIDDLE];
  const float x_first = s->x[first];
  const struct line l = line_through(x_first, s->x[last], p->length, p->inverse_length, p->d_first);
  const struct window window = middle_window(p, &l, x_first);
  struct range r;
  if (s->is_padded) {
    const float high = sl_min_f32(FLT_MAX, window.high);
    const size_t address = last_below(s, MIDDLE, window.low) + sizeof(float);
    uint32_t count = 0;
    SL_ROLLED while (number_at(address + count * sizeof(float)) <= high) count++;
    r.begin = (uint32_t)(address - address_of(s->x)) / (uint32_t)sizeof(float);
    r.end = r.begin + count;
  } else {
    r.begin = r.end = seeding_first_from(s->x, layer->begin, layer->end, window.low);
    while (r.end < layer->end && s->x[r.end] <= window.high) r.end++;
  }
  return r;
}

/* Index in the event of the hit nearest to the curve (ties: the lower index); NO_HIT if none is within the tolerance.
 */
static SL_DEVICE uint32_t find_further(const struct search *s, const struct curve *c, uint32_t role) {
  const struct layer *layer = &s->half->layers[role];
  const float x = curve_at(c, layer->d, layer->bend), tolerance = s->half->tolerance;
  if (s->is_padded) {
    const size_t before = last_below(s, role, x);
    const float off_before = x - number_at(before), off_after = number_at(before + sizeof(float)) - x;
    const uint32_t is_before = off_before <= off_after;
    const uint32_t index = (uint32_t)(before - address_of(s->x)) / (uint32_t)sizeof(float);
    const uint32_t hit = index + (is_before ? 0u : 1u) + layer->skipped;
    return (is_before ? off_before : off_after) <= tolerance ? hit : (uint32_t)NO_HIT;
  }
  const uint32_t after = seeding_first_from(s->x, layer->begin, layer->end, x);
  const float off_before = after > layer->begin ? x - s->x[after - 1] : INFINITY;
  const float off_after = after < layer->end ? s->x[after] - x : INFINITY;
  const uint32_t is_before = off_before <= off_after;
  const uint32_t is_near = (is_before ? off_before : off_after) <= tolerance;
  return is_near ? after - is_before + layer->skipped : (uint32_t)NO_HIT;
}

/* Indices of the hits of a triplet. */
struct triplet {
  uint32_t first, middle, last;
};

static SL_DEVICE struct triplet triplet_of(uint64_t word) {
  const uint32_t mask = (1u << HIT_BITS) - 1;
  struct triplet t;
  t.first = (uint32_t)word & mask;
  t.last = (uint32_t)word >> HIT_BITS;
  t.middle = (uint32_t)(word >> (2 * HIT_BITS));
  return t;
}

static SL_DEVICE struct curve curve_of(const struct search *s, const struct triplet *t) {
  const struct half *h = s->half;
  return curve_through(s->x[t->first], s->x[t->middle], s->x[t->last], h->numbers, h->inverse_length,
                       h->layers[FIRST].d, h->layers[MIDDLE].d);
}

/* Adds further hits to a triplet; returns 1 if they make a track. */
static SL_DEVICE uint32_t grow(const struct search *s, uint64_t word, struct xz_hits *hits) {
  const struct layer *layers = s->half->layers;
  const struct triplet t = triplet_of(word);
  const struct curve c = curve_of(s, &t);
  uint32_t count = 0;
  hits->of[FURTHER] = find_further(s, &c, FURTHER);
  hits->of[FURTHER + 1] = find_further(s, &c, FURTHER + 1);
  count += hits->of[FURTHER] != NO_HIT ? 1u : 0u;
  count += hits->of[FURTHER + 1] != NO_HIT ? 1u : 0u;
  if (count + 1 < FEWEST) return 0;
  hits->of[FURTHER + 2] = find_further(s, &c, FURTHER + 2);
  count += hits->of[FURTHER + 2] != NO_HIT ? 1u : 0u;
  hits->of[FIRST] = t.first + layers[FIRST].skipped;
  hits->of[MIDDLE] = t.middle + layers[MIDDLE].skipped;
  hits->of[LAST] = t.last + layers[LAST].skipped;
  return count >= FEWEST;
}

/* Writes an entry of the slice's list. Entries beyond its capacity are dropped; the slice then has no output. */
static SL_DEVICE void list_track(const struct xz_args *a, uint32_t i, const uint32_t *words) {
  if (i >= a->tracks.bound.capacity) return;
  SL_UNROLL for (uint32_t k = 0; k < FOUND_WORDS; k++) a->found[(size_t)a->tracks.bound.capacity * k + i] = words[k];
}

/* Adds a track to the buffer in shared memory, or to the slice's list if the buffer is full. */
static SL_DEVICE void buffer_track(const struct xz_args *a, const struct xz_hits *hits, const struct progress *p,
                                   uint32_t index, struct workspace *w) {
  const uint32_t i = atomicAdd(&w->found_count, 1u);
  uint32_t words[FOUND_WORDS];
  SL_UNROLL for (uint32_t k = 0; k < HIT_WORDS; k++) words[k] = hits->of[2 * k] | hits->of[2 * k + 1] << HIT_BITS;
  words[HIT_WORDS] = p->part << PART_BIT | index;
  words[HIT_WORDS + 1] = p->chunk;
  if (i >= FOUND) {
    list_track(a, atomicAdd(&a->counters[FOUND_COUNT], 1u), words);
    return;
  }
  SL_UNROLL for (uint32_t k = 0; k < FOUND_WORDS - 1; k++) w->found[k][i] = words[k];
}

/* Index in the chunk of a track with this word. */
static SL_DEVICE uint32_t index_in_chunk(const struct workspace *w, uint32_t word) {
  uint32_t index = word & ((1u << PART_BIT) - 1);
  SL_UNROLL for (uint32_t part = 0; part < PARTS; part++) index += part < word >> PART_BIT ? w->of_part[part] : 0;
  return index;
}

/* Appends the buffered tracks to the list of the slice. They are sorted if all are in the buffer, for coalesced writes.
 * All threads of the block must call it. */
static SL_DEVICE void list_tracks(const struct xz_args *a, uint32_t chunk, struct workspace *w) {
  __syncthreads();
  const uint32_t count = w->found_count < FOUND ? w->found_count : (uint32_t)FOUND;
  if (threadIdx.x == 0) w->found_base = atomicAdd(&a->counters[FOUND_COUNT], count);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    uint32_t words[FOUND_WORDS];
    SL_UNROLL for (uint32_t k = 0; k < FOUND_WORDS - 1; k++) words[k] = w->found[k][i];
    words[FOUND_WORDS - 1] = chunk;
    list_track(a, w->found_base + (count < w->found_count ? i : index_in_chunk(w, words[HIT_WORDS])), words);
  }
}

/* Completes listed triplets from `from` on, one per thread. */
static SL_DEVICE void grow_triplets(const struct xz_args *a, const struct search *s, uint32_t from, struct workspace *w,
                                    struct progress *p) {
  const uint32_t i = from + sl_warp_lane();
  struct xz_hits hits = {{NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT}};
  const uint32_t is_track = i < p->listed && grow(s, w->warps[sl_warp_index()].list[i], &hits);
  const uint32_t index = sl_warp_append(is_track, &p->tracks);
  if (is_track) buffer_track(a, &hits, p, index, w);
}

/* Completes triplets while at least `least` are listed, and moves the remaining ones to the front of the list. */
static SL_DEVICE void grow_listed(const struct xz_args *a, const struct search *s, uint32_t least, struct workspace *w,
                                  struct progress *p) {
  struct warp_workspace *own = &w->warps[sl_warp_index()];
  uint32_t grown = 0;
  if (p->listed < least) return;
  for (; grown < p->listed && p->listed - grown >= least; grown += sl_warp_lanes()) grow_triplets(a, s, grown, w, p);
  p->listed = grown < p->listed ? p->listed - grown : 0;
  const uint64_t word = sl_warp_lane() < p->listed ? own->list[grown + sl_warp_lane()] : 0;
  sl_warp_sync();
  if (sl_warp_lane() < p->listed) own->list[sl_warp_lane()] = word;
  sl_warp_sync();
}

/* Sum of the counts of earlier threads; *total: sum over the warp. */
static SL_DEVICE uint32_t sum_before(uint32_t count, struct warp_workspace *own, uint32_t *total) {
  uint32_t index = 0, sum = 0;
  if (!sl_warp_any(count >= 1u << COUNT_BITS)) { /* usual case: bit by bit */
    SL_UNROLL for (uint32_t bit = 0; bit < COUNT_BITS; bit++) {
      uint32_t length = 0;
      index += sl_warp_append(count >> bit & 1, &length) << bit;
      sum += length << bit;
    }
    *total = sum;
    return index;
  }
  index = sl_warp_exclusive_scan(count);
  if (sl_warp_lane() + 1 == sl_warp_lanes()) own->total = index + count;
  sl_warp_sync();
  *total = own->total;
  sl_warp_sync();
  return index;
}

/* Lists a pair's triplets, after those of earlier threads. Completes triplets when there is one per thread, or all of
 * them if these are the last pairs. */
static SL_DEVICE void list_triplets(const struct xz_args *a, const struct search *s, uint32_t pair, struct range r,
                                    uint32_t are_last, struct workspace *w, struct progress *p) {
  struct warp_workspace *own = &w->warps[sl_warp_index()];
  uint32_t total, index = sum_before(r.end - r.begin, own, &total), middle = r.begin;
  do {
    const uint32_t room = LIST - p->listed, taken = total < room ? total : room;
    uint32_t end = r.end, to = p->listed + index;
    if (total > room) end = index < room ? (r.end - middle < room - index ? r.end : middle + (room - index)) : middle;
    index += end - middle - taken;
    SL_ROLLED for (; middle < end; middle++) own->list[to++] = (uint64_t)middle << (2 * HIT_BITS) | pair;
    p->listed += taken;
    total -= taken;
    sl_warp_sync();
    grow_listed(a, s, are_last && total == 0 ? 1 : sl_warp_lanes(), w, p);
  } while (total > 0);
}

/* Processes buffered likely pairs while there is one per thread, or, at the end, all of them. */
static SL_DEVICE void take_pairs(const struct xz_args *a, const struct search *s, const struct pairing *pairing,
                                 uint32_t is_end, struct workspace *w, struct progress *p) {
  const struct warp_workspace *own = &w->warps[sl_warp_index()];
  uint32_t are_last = 0;
  while (!are_last && (p->likely - p->taken >= sl_warp_lanes() || is_end)) {
    const uint32_t waiting = p->likely - p->taken;
    struct range r = {0, 0};
    uint32_t pair = 0;
    if (sl_warp_lane() < waiting) {
      pair = own->likely[(p->taken + sl_warp_lane()) % LIKELY];
      r = middle_hits(s, pairing, pair & ((1u << HIT_BITS) - 1), pair >> HIT_BITS);
    }
    are_last = is_end && waiting <= sl_warp_lanes();
    p->taken += waiting < sl_warp_lanes() ? waiting : sl_warp_lanes();
    list_triplets(a, s, pair, r, are_last, w, p);
  }
}

/* Numbers the pairs of up to one first hit per thread; returns their number. Hits without a pair are omitted from
 * w->firsts. *start: number of the first pair of this thread's entry of w->firsts. */
static SL_DEVICE uint32_t number_pairs(const struct search *s, uint32_t first, uint32_t firsts,
                                       struct warp_workspace *w, uint32_t *start) {
  const uint32_t lane = sl_warp_lane();
  struct range r = {0, 0};
  uint32_t used = 0;
  if (lane < firsts) r = last_hits(s, first + lane);
  const uint32_t count = r.end - r.begin, before = sl_warp_exclusive_scan(count);
  const uint32_t index = sl_warp_append(count > 0, &used);
  sl_warp_sync(); /* the previous round is complete */
  if (count > 0) {
    w->firsts[index].start = before;
    w->firsts[index].pair = (r.begin - before) << HIT_BITS | (first + lane);
  }
  if (lane + 1 == sl_warp_lanes()) w->total = before + count;
  sl_warp_sync();
  *start = lane < used ? w->firsts[lane].start : UINT32_MAX;
  sl_warp_sync();
  if (count > 0) w->firsts[index].x = s->x[first + lane];
  sl_warp_sync();
  return w->total;
}

/* Pairs per thread at a time: LIKELY has room for these and for fewer than one waiting pair per thread. */
static SL_DEVICE uint32_t rows_of_warp(void) { return sl_warp_lanes() <= LIKELY / (ROWS + 1) ? ROWS : 1; }

/* Lists the likely pairs out of the warp's pairs from number `base` on, in rows of one pair per thread. *begun: first
 * hits with pairs before that; `start`: from number_pairs. */
static SL_DEVICE void list_likely_pairs(const struct search *s, const struct rejection *f, uint32_t start,
                                        uint32_t base, uint32_t count, uint32_t *begun, struct warp_workspace *own,
                                        struct progress *p) {
  uint32_t pairs[ROWS], is_listed[ROWS];
  SL_UNROLL for (uint32_t row = 0; row < ROWS; row++) {
    const uint32_t begin = base + row * sl_warp_lanes(), i = begin + sl_warp_lane(), number = i < count ? i : count - 1;
    if (row >= rows_of_warp()) break;
    const struct first_hit first = own->firsts[sl_warp_list_index(start - begin, begun) - 1];
    pairs[row] = first.pair + (number << HIT_BITS);
    is_listed[row] = is_likely(s, f, first.x, pairs[row]) & (i < count ? 1u : 0u);
  }
  SL_UNROLL for (uint32_t row = 0; row < ROWS; row++) {
    if (row >= rows_of_warp()) break;
    const uint32_t index = sl_warp_append(is_listed[row], &p->likely);
    if (is_listed[row]) own->likely[index % LIKELY] = pairs[row];
  }
  sl_warp_sync();
}

/* Searches the first hits of a part. All threads of the warp must call it. */
static SL_DEVICE void search_part(const struct xz_args *a, const struct search *s, struct workspace *w,
                                  struct progress *p) {
  struct warp_workspace *own = &w->warps[sl_warp_index()];
  const uint32_t end = w->part_begin[p->part + 1], step = rows_of_warp() * sl_warp_lanes();
  const uint32_t round = sl_warp_lanes() < FIRSTS ? sl_warp_lanes() : (uint32_t)FIRSTS;
  const struct pairing pairing = pairing_of(&w->half);
  const struct rejection rejection = rejection_of(&w->half, &pairing);
  for (uint32_t first = w->part_begin[p->part]; first < end; first += round) {
    uint32_t start, begun = 0, base = 0;
    const uint32_t count = number_pairs(s, first, end - first < round ? end - first : round, own, &start);
    do {
      if (base < count) list_likely_pairs(s, &rejection, start, base, count, &begun, own, p);
      base += step;
      take_pairs(a, s, &pairing, first + round >= end && base >= count, w, p);
    } while (base < count);
  }
}

/* Takes the next part of the block's chunk for this warp. */
static SL_DEVICE uint32_t take_part(struct workspace *w) {
  uint32_t *taken = &w->warps[sl_warp_index()].total;
  sl_warp_sync(); /* the previous value is no longer needed */
  if (sl_warp_lane() == 0) *taken = atomicAdd(&w->next_part, 1u);
  sl_warp_sync();
  return *taken;
}

/* Divides the chunk's first hits into parts of about as many pairs, estimated from SAMPLED hits. All threads of the
 * block must call it. */
static SL_DEVICE void part_chunk(const struct search *s, uint32_t chunk, struct workspace *w) {
  const struct layer *layer = &s->half->layers[FIRST];
  const uint32_t chunks = s->half->chunks, number = chunk % CHUNKS_MAX, hits = layer->end - layer->begin;
  const uint32_t begin = layer->begin + hits * number / chunks, end = layer->begin + hits * (number + 1) / chunks;
  const uint32_t warps = sl_block_warps() < WARPS ? sl_block_warps() : (uint32_t)WARPS, warp = sl_warp_index();
  const uint32_t most = blockDim.x < SAMPLED ? blockDim.x : (uint32_t)SAMPLED,
                 sampled = end - begin < most ? end - begin : most;
  const uint32_t first = sampled > 0 ? begin + (end - begin) * threadIdx.x / sampled : begin;
  uint32_t pairs = 0, before = 0, all = 0;
  if (threadIdx.x < sampled) {
    const struct range r = last_hits(s, first);
    pairs = r.end - r.begin + 1;
  }
  before = sl_warp_exclusive_scan(pairs);
  if (warp < warps && sl_warp_lane() + 1 == sl_warp_lanes()) w->warps[warp].total = before + pairs;
  for (uint32_t part = threadIdx.x; part < PARTS; part += blockDim.x) w->part_begin[part] = begin;
  __syncthreads();
  for (uint32_t other = 0; other < warps; other++) {
    before += other < warp ? w->warps[other].total : 0;
    all += w->warps[other].total;
  }
  SL_UNROLL for (uint32_t part = 1; part < PARTS; part++) {
    const uint32_t boundary = all * part / PARTS;
    if (before <= boundary && boundary < before + pairs) w->part_begin[part] = first;
  }
  if (threadIdx.x == 0) w->part_begin[PARTS] = end;
  __syncthreads();
}

static SL_DEVICE void search_chunk(const struct xz_args *a, const struct search *s, uint32_t chunk,
                                   struct workspace *w) {
  part_chunk(s, chunk, w);
  if (sl_warp_index() >= WARPS) return;
  for (uint32_t part = take_part(w); part < PARTS; part = take_part(w)) {
    struct progress p = {chunk, part, 0, 0, 0, 0};
    search_part(a, s, w, &p);
    if (sl_warp_lane() == 0) a->before[(size_t)PARTS * chunk + part] = w->of_part[part] = p.tracks;
  }
}

SL_KERNEL(xz_begin, struct xz_args) {
  for (uint32_t i = sl_grid_thread(); i < COUNTERS; i += sl_grid_threads()) a.counters[i] = 0;
}

SL_KERNEL(xz_plan, struct xz_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    for (uint32_t unit = KINDS * event; unit < KINDS * (event + 1); unit++) {
      const uint32_t count = chunks_of_unit(&a, unit), first = atomicAdd(&a.counters[CHUNK_COUNT], count);
      for (uint32_t i = 0; i < count; i++) a.chunks[first + i] = CHUNKS_MAX * unit + i;
    }
  }
}

SL_KERNEL_REGISTERS(xz_find, struct xz_args, 56) {
  __shared__ struct workspace w __attribute__((aligned(NEAR_BYTES)));
  __shared__ float copy[PADDED_HITS];
  for (uint32_t i = blockIdx.x; i < a.counters[CHUNK_COUNT]; i += gridDim.x) {
    const uint32_t chunk = a.chunks[i], unit = chunk / CHUNKS_MAX;
    if (open_unit(&a, unit, &w, copy)) {
      const struct search s = {&w.half, &w, copy, 1};
      search_chunk(&a, &s, chunk, &w);
    } else {
      const struct search s = {&w.half, &w, a.hits.x + a.hits.offsets[unit / KINDS], 0};
      search_chunk(&a, &s, chunk, &w);
    }
    list_tracks(&a, chunk, &w);
  }
}

SL_KERNEL(xz_sum, struct xz_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    uint32_t sum = 0;
    for (uint32_t unit = KINDS * event; unit < KINDS * (event + 1); unit++) {
      uint32_t *before = a.before + (size_t)PARTS * CHUNKS_MAX * unit;
      const uint32_t chunks = chunks_of_unit(&a, unit);
      for (uint32_t chunk = 0; chunk < chunks; chunk++, before += PARTS) {
        uint32_t tracks[PARTS]; /* independent loads */
        SL_UNROLL for (uint32_t part = 0; part < PARTS; part++) tracks[part] = before[part];
        SL_UNROLL for (uint32_t part = 0; part < PARTS; part++) {
          before[part] = sum;
          sum += tracks[part];
        }
      }
    }
    a.tracks.offsets[event] = sum;
  }
}

/* One thread per track. An event without room for its tracks gets none. */
SL_KERNEL(xz_write, struct xz_args) {
  const uint32_t capacity = a.tracks.bound.capacity, found = a.counters[FOUND_COUNT];
  for (uint32_t i = sl_grid_thread(); i < found && i < capacity; i += sl_grid_threads()) {
    const uint32_t *words = a.found + i;
    struct xz_hits hits;
    SL_UNROLL for (uint32_t k = 0; k < HIT_WORDS; k++) {
      const uint32_t two = words[(size_t)capacity * k];
      hits.of[2 * k] = two & ((1u << HIT_BITS) - 1);
      hits.of[2 * k + 1] = two >> HIT_BITS;
    }
    const uint32_t index = words[(size_t)capacity * HIT_WORDS], chunk = words[(size_t)capacity * (HIT_WORDS + 1)];
    const uint32_t unit = chunk / CHUNKS_MAX, first = a.tracks.offsets[unit / KINDS];
    if (a.tracks.offsets[unit / KINDS + 1] == first) continue;
    write_track(&a, unit, &hits,
                first + a.before[(size_t)PARTS * chunk + (index >> PART_BIT)] + (index & ((1u << PART_BIT) - 1)));
  }
}

static int run(const struct sl_launch *l, const struct xz_args *a) {
  int error = SL_LAUNCH(l, xz_begin, SL_PER_NODE(1), *a);
  if (!error) error = SL_LAUNCH(l, xz_plan, SL_THREAD_PER_EVENT, *a);
  if (!error) error = SL_LAUNCH(l, xz_find, SL_PER_CHUNK((uint64_t)KINDS * l->grid_blocks), *a);
  if (!error) error = SL_COUNT_SCAN(l, xz_sum, SL_THREAD_PER_EVENT, a->tracks.offsets, &a->tracks.bound, *a);
  if (!error) error = SL_LAUNCH(l, xz_write, SL_PER_ITEM(a->tracks), *a);
  return error;
}

SL_ALGORITHM(xz, "finds tracks in the x layers of the fibre tracker", 128, run, SL_CPU_TUNED(xz_tuned));
