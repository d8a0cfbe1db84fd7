/* sel_reports: writes one HltSelReports bank per event of the node that passes a line (sel_reports.h has the layout).
 *   1. count_objects, one block per event: lists the lines that passed; numbers the accepted vertices and marks their
 *      tracks; numbers the accepted and marked tracks; counts candidates and hits, which give the size of the bank.
 *   2. Two scans give the offsets of the banks and of their words.
 *   3. write_reports, one block per event: clears the words of the bank and writes lines, vertices and tracks.
 * Parallelism: one thread per candidate, vertex or track; lines one after the other. Half-words are set with an atomic
 * or, because two threads may write to one word.
 * Determinism: all object numbers come from scans over indices.
 */
#include "sel_reports.h"

enum { OTHER_LINES = 1, UNKNOWN_CANDIDATES, TOO_LARGE, OTHER_TRACKS };
static const struct sl_event_error errors[] = {
    {OTHER_LINES, 0, "`decisions` were made from other lines than `lines`"},
    {UNKNOWN_CANDIDATES, 0,
     "the candidates of a line are neither in `particles` nor in `vertices`: not in its selection report; id"},
    {TOO_LARGE, 0, "the selection report exceeds the maximum size of a raw bank and was left out; words"},
    {OTHER_TRACKS, 0, "`particles`, `states`, `tracks` and `vertices` do not belong to one list of tracks"}};

/* ------------------------------------------------------------------------------------------------ counting */

static SL_DEVICE uint32_t kind_of(const struct sel_reports_args *a, uint32_t line, uint32_t event) {
  const uint64_t made_by = *a->lines.at[line].made_by;
  if (made_by == 0) return KIND_NONE;
  if (made_by == *a->particles.made_by) return KIND_TRACKS;
  for (uint32_t c = 0; c < a->vertices.count; c++)
    if (made_by == *a->vertices.at[c].made_by) return KIND_VERTICES + c;
  sl_event_truncated(&a->events, event, UNKNOWN_CANDIDATES, line + 1);
  return KIND_NONE;
}

/* Lists the lines that passed, with the kind of their candidates; returns their number. */
static SL_DEVICE uint32_t list_lines(const struct sel_reports_args *a, uint32_t event) {
  uint32_t *passed = a->passed + (uint64_t)event * a->lines.count, count = 0;
  SL_FOR_BLOCK (k, a->lines.count) {
    const uint32_t has_passed =
        k < a->lines.count && (event_decisions_word(&a->decisions, event, k / 32) >> k % 32 & 1u);
    const uint32_t index = sl_block_append(has_passed, &count);
    if (has_passed) passed[index] = k | kind_of(a, k, event) << KIND_SHIFT;
  }
  __syncthreads();
  return count;
}

/* Whether a line that passed accepts candidate `i` of a kind. Adds the number of such lines to `candidates`. */
static SL_DEVICE uint32_t is_accepted(const struct sel_reports_args *a, uint32_t event, uint32_t lines, uint32_t kind,
                                      uint32_t i, uint32_t *candidates) {
  const uint32_t *passed = passed_lines(a, event);
  uint32_t found = 0;
  for (uint32_t j = 0; j < lines; j++)
    if (passed[j] >> KIND_SHIFT == kind && line_accepts(a, passed[j], event)[i]) found++;
  *candidates += found;
  return found > 0;
}

/* Called by a block: whether the numbers of states, long tracks and particles differ, or a vertex has an unknown track.
 */
static SL_DEVICE uint32_t has_other_tracks(const struct sel_reports_args *a, uint32_t event) {
  const uint32_t tracks = event_tracks(a, event);
  uint32_t others = a->states.offsets[event + 1] - a->states.offsets[event] != tracks ||
                    a->tracks.offsets[event + 1] - a->tracks.offsets[event] != tracks;
  for (uint32_t c = 0; c < a->vertices.count; c++) {
    const struct secondary_vertices_view *vertices = &a->vertices.at[c];
    for (uint32_t i = vertices->offsets[event] + threadIdx.x; i < vertices->offsets[event + 1]; i += blockDim.x)
      others |= vertices->first[i] >= tracks || vertices->second[i] >= tracks;
  }
  return sl_block_sum_u32(others) > 0;
}

/* Numbers the accepted vertices, beginning with `first`, and marks their tracks; returns their number. */
static SL_DEVICE uint32_t number_vertices(const struct sel_reports_args *a, uint32_t event, uint32_t first,
                                          uint32_t *candidates) {
  uint32_t *numbers = vertex_numbers(a, event), *tracks = track_numbers(a, event), count = 0;
  for (uint32_t c = 0; c < a->vertices.count; c++) {
    const struct secondary_vertices_view *vertices = &a->vertices.at[c];
    const uint32_t begin = vertices->offsets[event], length = event_vertices(a, c, event);
    SL_FOR_BLOCK (i, length) {
      const uint32_t is_one = i < length && is_accepted(a, event, first, KIND_VERTICES + c, i, candidates);
      const uint32_t index = sl_block_append(is_one, &count);
      if (i < length) numbers[i] = is_one ? first + index : NO_OBJECT;
      if (!is_one) continue;
      atomicOr(&tracks[vertices->first[begin + i]], 1u);
      atomicOr(&tracks[vertices->second[begin + i]], 1u);
    }
    numbers += length;
  }
  __syncthreads();
  return count;
}

/* Numbers the tracks that belong to an accepted vertex or that a line accepts; returns their number and adds their hits
 * to `hits`. */
static SL_DEVICE uint32_t number_tracks(const struct sel_reports_args *a, uint32_t event, uint32_t lines,
                                        uint32_t first, uint32_t *candidates, uint32_t *hits) {
  const uint32_t begin = a->tracks.offsets[event], length = event_tracks(a, event);
  uint32_t *numbers = track_numbers(a, event), count = 0;
  SL_FOR_BLOCK (i, length) {
    uint32_t is_one = 0;
    if (i < length) is_one = is_accepted(a, event, lines, KIND_TRACKS, i, candidates) | numbers[i];
    const uint32_t index = sl_block_append(is_one, &count);
    if (i < length) numbers[i] = is_one ? first + index : NO_OBJECT;
    if (is_one) *hits += hit_count(a, event, begin + i);
  }
  return count;
}

SL_KERNEL(count_objects, struct sel_reports_args) {
  const uint32_t listed = *a.events.count;
  for (uint32_t n = listed + sl_grid_thread(); n < a.events.max; n += sl_grid_threads()) a.word_offsets[n] = 0;
  for (uint32_t n = blockIdx.x; n < listed; n += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, n);
    const uint32_t is_same = *a.decisions.key == a.key;
    if (!is_same || has_other_tracks(&a, event)) {
      if (threadIdx.x == 0) {
        sl_event_fail(&a.events, event, is_same ? OTHER_TRACKS : OTHER_LINES, 0);
        a.reports.offsets[event] = a.word_offsets[n] = 0;
      }
      continue; /* the condition is uniform in the block */
    }
    uint32_t *tracks = track_numbers(&a, event);
    const uint32_t lines = list_lines(&a, event);
    for (uint32_t i = threadIdx.x; i < event_tracks(&a, event); i += blockDim.x) tracks[i] = 0;
    __syncthreads();
    uint32_t candidates = 0, hits = 0;
    const uint32_t vertex_count = number_vertices(&a, event, lines, &candidates);
    const uint32_t track_count = number_tracks(&a, event, lines, lines + vertex_count, &candidates, &hits);
    candidates = sl_block_sum_u32(candidates);
    hits = sl_block_sum_u32(hits);
    if (threadIdx.x > 0) continue;
    uint32_t *counts = a.counts + (uint64_t)event * SELECTION_COUNTS;
    counts[COUNT_LINES] = lines;
    counts[COUNT_CANDIDATES] = candidates;
    counts[COUNT_VERTICES] = vertex_count;
    counts[COUNT_TRACKS] = track_count;
    counts[COUNT_HITS] = hits;
    const uint32_t words = bank_words(counts), is_written = lines > 0 && words <= REPORT_WORDS_MAX;
    if (words > REPORT_WORDS_MAX) sl_event_truncated(&a.events, event, TOO_LARGE, words);
    a.reports.offsets[event] = is_written;
    a.word_offsets[n] = is_written ? words : 0;
  }
}

/* ------------------------------------------------------------------------------------------------- writing */

/* The bank of an event while it is written. */
struct report {
  uint32_t *sub_banks[SUB_BANKS];
  uint32_t counts[SELECTION_COUNTS], event;
};

/* Sets a half-word, which must be 0 before. */
static SL_DEVICE void put_half(uint32_t *words, uint32_t index, uint32_t value) {
  atomicOr(&words[index / 2], value << 16 * (index % 2));
}

/* Called by one thread: writes the head of the bank and the heads of the sub-banks. */
static SL_DEVICE void write_heads(uint32_t *bank, struct report *r) {
  const uint32_t ids[SUB_BANKS] = {1, 2, 3, 4, 0}, classes[OBJECT_TYPES] = {1, 10030, 10010};
  const uint32_t class_counts[OBJECT_TYPES] = {r->counts[COUNT_LINES], r->counts[COUNT_VERTICES],
                                               r->counts[COUNT_TRACKS]};
  const uint32_t objects = object_count(r->counts);
  uint32_t end = SELECTION_REPORT_HEAD_WORDS, types = 0, counted = 0;
  bank[1] = SUB_BANKS;
  for (uint32_t i = 0; i < SUB_BANKS; i++) {
    const uint32_t words = sub_bank_words(r->counts, i);
    bank[1] |= ids[i] << 3 * (i + 1);
    if (i == SUB_STRUCTURE || i == SUB_EXTRA || i == SUB_STANDARD) bank[end] = words << 16 | objects;
    end += words;
    bank[2 + i] = end;
  }
  bank[0] = end;
  for (uint32_t i = 0; i < OBJECT_TYPES; i++) {
    counted += class_counts[i];
    if (class_counts[i] > 0) r->sub_banks[SUB_TYPES][++types] = classes[i] << 16 | counted;
  }
  r->sub_banks[SUB_TYPES][0] = (types + 1) << 16 | types;
  bank[end - sub_bank_words(r->counts, SUB_HITS)] =
      r->counts[COUNT_TRACKS]; /* the first list end follows in the high half */
}

/* Writes the number of values of each object, four objects per word. */
static SL_DEVICE void write_value_counts(const struct report *r) {
  const uint32_t lines = r->counts[COUNT_LINES], vertices = lines + r->counts[COUNT_VERTICES];
  const uint32_t objects = object_count(r->counts);
  for (uint32_t w = threadIdx.x; w < (objects + 3) / 4; w += blockDim.x) {
    uint32_t word = 0;
    for (uint32_t i = 4 * w; i < 4 * w + 4 && i < objects; i++)
      word |= (i < lines ? 1u : i < vertices ? VERTEX_VALUES : TRACK_VALUES) << 8 * (i % 4);
    r->sub_banks[SUB_STANDARD][1 + w] = word;
  }
}

/* The values of the lines, followed by those of the vertices and tracks. */
static SL_DEVICE uint32_t *values_of(const struct report *r) {
  return r->sub_banks[SUB_STANDARD] + 1 + (object_count(r->counts) + 3) / 4;
}

static SL_DEVICE void write_lines(const struct sel_reports_args *a, const struct report *r) {
  const uint32_t *passed = passed_lines(a, r->event);
  uint32_t *structure = r->sub_banks[SUB_STRUCTURE], head = 2;
  for (uint32_t j = 0; j < r->counts[COUNT_LINES]; j++) {
    const uint32_t kind = passed[j] >> KIND_SHIFT, length = candidate_count(a, kind, r->event);
    const uint8_t *accepted = length ? line_accepts(a, passed[j], r->event) : NULL;
    const uint32_t *numbers = kind == KIND_TRACKS ? track_numbers(a, r->event) : vertex_numbers(a, r->event);
    for (uint32_t c = KIND_VERTICES; c < kind; c++) numbers += event_vertices(a, c - KIND_VERTICES, r->event);
    uint32_t count = 0;
    SL_FOR_BLOCK (i, length) {
      const uint32_t is_one = i < length && accepted[i];
      const uint32_t index = sl_block_append(is_one, &count);
      if (is_one) put_half(structure, head + 1 + index, numbers[i]);
    }
    if (threadIdx.x == 0) {
      put_half(structure, head, count << 1);
      values_of(r)[j] = sl_bits_from_f32((float)((passed[j] & LINE_MASK) + 1));
    }
    head += 1 + count;
  }
}

static SL_DEVICE void write_vertices(const struct sel_reports_args *a, const struct report *r) {
  const uint32_t *numbers = vertex_numbers(a, r->event), *tracks = track_numbers(a, r->event);
  const uint32_t lines = r->counts[COUNT_LINES], head = vertex_halves(r->counts);
  uint32_t *structure = r->sub_banks[SUB_STRUCTURE], *values = values_of(r) + lines;
  for (uint32_t c = 0; c < a->vertices.count; c++) {
    const struct secondary_vertices_view *vertices = &a->vertices.at[c];
    const uint32_t begin = vertices->offsets[r->event], length = event_vertices(a, c, r->event);
    for (uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
      if (numbers[i] == NO_OBJECT) continue;
      const uint32_t k = numbers[i] - lines, at = begin + i;
      const float found[VERTEX_VALUES] = {vertices->x[at], vertices->y[at], vertices->z[at], vertices->chi2[at]};
      put_half(structure, head + (1 + VERTEX_TRACKS) * k, VERTEX_TRACKS << 1);
      put_half(structure, head + (1 + VERTEX_TRACKS) * k + 1, tracks[vertices->first[at]]);
      put_half(structure, head + (1 + VERTEX_TRACKS) * k + 2, tracks[vertices->second[at]]);
      for (uint32_t v = 0; v < VERTEX_VALUES; v++) values[VERTEX_VALUES * k + v] = sl_bits_from_f32(found[v]);
    }
    numbers += length;
  }
}

static SL_DEVICE void write_hits(const struct sel_reports_args *a, const struct report *r, uint32_t track,
                                 uint32_t *to) {
  for (uint32_t d = 0; d < DETECTORS; d++) {
    const struct hit_list hits = track_hits(a, r->event, track, d);
    for (uint32_t h = 0; h < hits.count; h++) *to++ = hits.ids[h];
  }
}

static SL_DEVICE void write_tracks(const struct sel_reports_args *a, const struct report *r) {
  const uint32_t *numbers = track_numbers(a, r->event), length = event_tracks(a, r->event);
  const uint32_t lines = r->counts[COUNT_LINES], vertices = r->counts[COUNT_VERTICES];
  const uint32_t head = track_halves(r->counts), first_state = a->states.offsets[r->event];
  const uint32_t first_track = a->tracks.offsets[r->event];
  uint32_t *structure = r->sub_banks[SUB_STRUCTURE], *hits = r->sub_banks[SUB_HITS];
  uint32_t *values = values_of(r) + lines + VERTEX_VALUES * vertices, end = 1 + r->counts[COUNT_TRACKS] / 2;
  SL_FOR_BLOCK (i, length) {
    const uint32_t is_one = i < length && numbers[i] != NO_OBJECT;
    const uint32_t count = is_one ? hit_count(a, r->event, first_track + i) : 0;
    uint32_t total;
    const uint32_t begin = end + sl_block_exclusive_scan(count, &total);
    end += total;
    if (!is_one) continue;
    const uint32_t k = numbers[i] - lines - vertices, s = first_state + i;
    const float chi2_ndof = a->particles.chi2_ndof[a->particles.offsets[r->event] + i];
    const float found[TRACK_VALUES] = {a->states.z[s],  a->states.x[s],   a->states.y[s], a->states.tx[s],
                                       a->states.ty[s], a->states.qop[s], chi2_ndof,      (float)a->states.ndof[s]};
    put_half(structure, head + 2 * k, 1 << 1 | 1);
    put_half(structure, head + 2 * k + 1, k);
    for (uint32_t v = 0; v < TRACK_VALUES; v++) values[TRACK_VALUES * k + v] = sl_bits_from_f32(found[v]);
    put_half(hits, 1 + k, begin + count);
    write_hits(a, r, first_track + i, hits + begin);
  }
}

SL_KERNEL(write_reports, struct sel_reports_args) {
  if (sl_grid_thread() == 0) a.reports.word_offsets[0] = 0;
  for (uint32_t n = blockIdx.x; n < *a.events.count; n += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, n);
    const uint32_t item = a.reports.offsets[event], begin = a.word_offsets[n], end = a.word_offsets[n + 1];
    if (a.reports.offsets[event + 1] == item) continue; /* uniform in the block, as is the condition below */
    if (begin == end) {                                 /* the words of the slice do not fit: it will run in parts */
      if (threadIdx.x == 0) a.reports.word_offsets[item + 1] = 0;
      continue;
    }
    struct report r;
    uint32_t *bank = a.reports.word + begin, at = SELECTION_REPORT_HEAD_WORDS;
    r.event = event;
    for (uint32_t i = 0; i < SELECTION_COUNTS; i++) r.counts[i] = a.counts[(uint64_t)event * SELECTION_COUNTS + i];
    for (uint32_t i = 0; i < SUB_BANKS; i++) {
      r.sub_banks[i] = bank + at;
      at += sub_bank_words(r.counts, i);
    }
    for (uint32_t w = threadIdx.x; w < end - begin; w += blockDim.x) bank[w] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
      a.reports.size_bytes[item] = (uint16_t)(4 * (end - begin));
      a.reports.word_offsets[item + 1] = end;
      write_heads(bank, &r);
    }
    __syncthreads();
    write_value_counts(&r);
    write_lines(&a, &r);
    write_vertices(&a, &r);
    write_tracks(&a, &r);
  }
}

/* ---------------------------------------------------------------------------------------------- the node */

static int run(const struct sl_launch *l, const struct sel_reports_args *a) {
  int status = SL_COUNT_SCAN(l, count_objects, SL_PER_EVENT, a->reports.offsets, &a->reports.bound, *a);
  if (status == SL_OK) status = l->scan(l, a->word_offsets, &a->reports.word_offsets_bound);
  if (status == SL_OK) status = SL_LAUNCH(l, write_reports, SL_PER_EVENT, *a);
  return status;
}

static int prepare(const struct sl_services *s, void *args) {
  struct sel_reports_args *a = (struct sel_reports_args *)args;
  (void)s;
  a->key = lines_key(a->lines.names, a->lines.count);
  return SL_OK;
}

SL_ALGORITHM(sel_reports, "writes accepted candidates, with tracks and their hits, as HltSelReports banks", 64, run,
             SL_ERRORS_OF(errors), SL_PREPARE(prepare));
