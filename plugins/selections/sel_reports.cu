/* sel_reports: an HltSelReports bank of each event that the node runs on and that passes a line (sel_reports.h).
 *
 *   1. count_objects  a block an event: notes the lines that passed and what their candidates are; numbers the
 *                     vertices, a thread each, by a scan over the block, which marks their tracks; numbers the tracks
 *                     likewise; counts candidates and hits, of which the bank's size follows
 *   2. two scans make offsets, of the banks and of their words
 *   3. write_reports  a block an event: the words are cleared, and written: lines one after the other, a thread a
 *                     candidate; vertices and tracks, a thread each
 *
 * Halfwords are set by an or into the cleared word, since two threads may share one. Every number is by a scan over
 * places, so that no order is left to chance.
 */
#include "sel_reports.h"

enum { OTHER_LINES = 1, UNKNOWN_CANDIDATES, TOO_LARGE, OTHER_TRACKS };
static const struct sl_event_error errors[] = {
    {OTHER_LINES, 0, "its decisions are of other lines than `lines`"},
    {UNKNOWN_CANDIDATES, 0,
     "a line's candidates are neither `particles` nor among `vertices`: its report has none; id"},
    {TOO_LARGE, 0, "its selection report is larger than a raw bank can be, and left out; words"},
    {OTHER_TRACKS, 0, "`particles`, `states` and `tracks`, or a vertex, are not of the same tracks"}};

/* ------------------------------------------------------------------------------------------------ counting */

static SL_DEVICE uint32_t kind_of(const struct sel_reports_args *a, uint32_t line, uint32_t event) {
  const uint64_t made_by = *a->lines.at[line].made_by;
  if (made_by == 0) return KIND_NONE;
  if (made_by == *a->particles.made_by) return KIND_TRACKS;
  for (uint32_t c = 0; c < a->vertices.count; c++)
    if (made_by == *a->vertices.at[c].made_by) return KIND_VERTICES + c;
  sl_event_cut(&a->events, event, UNKNOWN_CANDIDATES, line + 1);
  return KIND_NONE;
}

/* Notes the lines that passed; returns how many. */
static SL_DEVICE uint32_t note_lines(const struct sel_reports_args *a, uint32_t event) {
  uint32_t *to = a->passed + (uint64_t)event * a->lines.count, count = 0;
  SL_FOR_BLOCK (k, a->lines.count) {
    const uint32_t has_passed =
        k < a->lines.count && (event_decisions_word(&a->decisions, event, k / 32) >> k % 32 & 1u);
    const uint32_t place = sl_block_append(has_passed, &count);
    if (has_passed) to[place] = k | kind_of(a, k, event) << KIND_SHIFT;
  }
  __syncthreads();
  return count;
}

/* Does a line that passed accept candidate `i` of a kind? Adds to `candidates` how many do. */
static SL_DEVICE uint32_t is_accepted(const struct sel_reports_args *a, uint32_t event, uint32_t lines, uint32_t kind,
                                      uint32_t i, uint32_t *candidates) {
  const uint32_t *passed = passed_lines(a, event);
  uint32_t found = 0;
  for (uint32_t j = 0; j < lines; j++)
    if (passed[j] >> KIND_SHIFT == kind && line_accepts(a, passed[j], event)[i]) found++;
  *candidates += found;
  return found > 0;
}

/* Are there more or fewer states or long tracks than particles, or vertices of what is none of these? By a block. */
static SL_DEVICE uint32_t has_other_tracks(const struct sel_reports_args *a, uint32_t event) {
  const uint32_t tracks = event_tracks(a, event);
  uint32_t others = a->states.offsets[event + 1] - a->states.offsets[event] != tracks ||
                    a->tracks.offsets[event + 1] - a->tracks.offsets[event] != tracks;
  for (uint32_t c = 0; c < a->vertices.count; c++) {
    const struct secondary_vertices_view *of = &a->vertices.at[c];
    for (uint32_t i = of->offsets[event] + threadIdx.x; i < of->offsets[event + 1]; i += blockDim.x)
      others |= of->first[i] >= tracks || of->second[i] >= tracks;
  }
  return sl_block_sum_u32(others) > 0;
}

/* From object `first` on; returns how many there are. */
static SL_DEVICE uint32_t number_vertices(const struct sel_reports_args *a, uint32_t event, uint32_t first,
                                          uint32_t *candidates) {
  uint32_t *numbers = vertex_numbers(a, event), *tracks = track_numbers(a, event), count = 0;
  for (uint32_t c = 0; c < a->vertices.count; c++) {
    const struct secondary_vertices_view *of = &a->vertices.at[c];
    const uint32_t begin = of->offsets[event], length = event_vertices(a, c, event);
    SL_FOR_BLOCK (i, length) {
      const uint32_t is_one = i < length && is_accepted(a, event, first, KIND_VERTICES + c, i, candidates);
      const uint32_t place = sl_block_append(is_one, &count);
      if (i < length) numbers[i] = is_one ? first + place : NO_OBJECT;
      if (!is_one) continue;
      atomicOr(&tracks[of->first[begin + i]], 1u);
      atomicOr(&tracks[of->second[begin + i]], 1u);
    }
    numbers += length;
  }
  __syncthreads();
  return count;
}

/* Those that a vertex marked, or that a line accepts; adds the numbers of their hits. */
static SL_DEVICE uint32_t number_tracks(const struct sel_reports_args *a, uint32_t event, uint32_t lines,
                                        uint32_t first, uint32_t *candidates, uint32_t *hits) {
  const uint32_t begin = a->tracks.offsets[event], length = event_tracks(a, event);
  uint32_t *numbers = track_numbers(a, event), count = 0;
  SL_FOR_BLOCK (i, length) {
    uint32_t is_one = 0;
    if (i < length) is_one = is_accepted(a, event, lines, KIND_TRACKS, i, candidates) | numbers[i];
    const uint32_t place = sl_block_append(is_one, &count);
    if (i < length) numbers[i] = is_one ? first + place : NO_OBJECT;
    if (is_one) *hits += hit_count(a, event, begin + i);
  }
  return count;
}

SL_KERNEL(count_objects, struct sel_reports_args) {
  const uint32_t listed = *a.events.count;
  for (uint32_t place = listed + sl_grid_thread(); place < a.events.max; place += sl_grid_threads())
    a.word_offsets[place] = 0;
  for (uint32_t place = blockIdx.x; place < listed; place += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, place);
    const uint32_t is_same = *a.decisions.key == a.key;
    if (!is_same || has_other_tracks(&a, event)) {
      if (threadIdx.x == 0) {
        sl_event_fail(&a.events, event, is_same ? OTHER_TRACKS : OTHER_LINES, 0);
        a.reports.offsets[event] = a.word_offsets[place] = 0;
      }
      continue; /* as the whole block does */
    }
    uint32_t *tracks = track_numbers(&a, event);
    const uint32_t lines = note_lines(&a, event);
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
    if (words > REPORT_WORDS_MAX) sl_event_cut(&a.events, event, TOO_LARGE, words);
    a.reports.offsets[event] = is_written;
    a.word_offsets[place] = is_written ? words : 0;
  }
}

/* ------------------------------------------------------------------------------------------------- writing */

/* The bank of an event while it is written. */
struct report {
  uint32_t *sub_banks[SUB_BANKS];
  uint32_t counts[SELECTION_COUNTS], event;
};

static SL_DEVICE void put_half(uint32_t *words, uint32_t place, uint32_t value) {
  atomicOr(&words[place / 2], value << 16 * (place % 2));
}

/* The head of the bank, and what begins each sub-bank; by one thread. */
static SL_DEVICE void write_heads(uint32_t *bank, struct report *r) {
  const uint32_t ids[SUB_BANKS] = {1, 2, 3, 4, 0}, classes[OBJECT_TYPES] = {1, 10030, 10010};
  const uint32_t of_class[OBJECT_TYPES] = {r->counts[COUNT_LINES], r->counts[COUNT_VERTICES], r->counts[COUNT_TRACKS]};
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
    counted += of_class[i];
    if (of_class[i] > 0) r->sub_banks[SUB_TYPES][++types] = classes[i] << 16 | counted;
  }
  r->sub_banks[SUB_TYPES][0] = (types + 1) << 16 | types;
  bank[end - sub_bank_words(r->counts, SUB_HITS)] = r->counts[COUNT_TRACKS]; /* whose high half is still to come */
}

/* How many values each object has, four objects a word. */
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

/* Where the values of the lines begin; those of vertices and tracks follow. */
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
      const uint32_t place = sl_block_append(is_one, &count);
      if (is_one) put_half(structure, head + 1 + place, numbers[i]);
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
    const struct secondary_vertices_view *of = &a->vertices.at[c];
    const uint32_t begin = of->offsets[r->event], length = event_vertices(a, c, r->event);
    for (uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
      if (numbers[i] == NO_OBJECT) continue;
      const uint32_t k = numbers[i] - lines, at = begin + i;
      const float found[VERTEX_VALUES] = {of->x[at], of->y[at], of->z[at], of->chi2[at]};
      put_half(structure, head + (1 + VERTEX_TRACKS) * k, VERTEX_TRACKS << 1);
      put_half(structure, head + (1 + VERTEX_TRACKS) * k + 1, tracks[of->first[at]]);
      put_half(structure, head + (1 + VERTEX_TRACKS) * k + 2, tracks[of->second[at]]);
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
  const uint32_t head = track_halves(r->counts), from = a->states.offsets[r->event], of = a->tracks.offsets[r->event];
  uint32_t *structure = r->sub_banks[SUB_STRUCTURE], *hits = r->sub_banks[SUB_HITS];
  uint32_t *values = values_of(r) + lines + VERTEX_VALUES * vertices, end = 1 + r->counts[COUNT_TRACKS] / 2;
  SL_FOR_BLOCK (i, length) {
    const uint32_t is_one = i < length && numbers[i] != NO_OBJECT;
    const uint32_t count = is_one ? hit_count(a, r->event, of + i) : 0;
    uint32_t total;
    const uint32_t begin = end + sl_block_exclusive_scan(count, &total);
    end += total;
    if (!is_one) continue;
    const uint32_t k = numbers[i] - lines - vertices, s = from + i;
    const float chi2_ndof = a->particles.chi2_ndof[a->particles.offsets[r->event] + i];
    const float found[TRACK_VALUES] = {a->states.z[s],  a->states.x[s],   a->states.y[s], a->states.tx[s],
                                       a->states.ty[s], a->states.qop[s], chi2_ndof,      (float)a->states.ndof[s]};
    put_half(structure, head + 2 * k, 1 << 1 | 1);
    put_half(structure, head + 2 * k + 1, k);
    for (uint32_t v = 0; v < TRACK_VALUES; v++) values[TRACK_VALUES * k + v] = sl_bits_from_f32(found[v]);
    put_half(hits, 1 + k, begin + count);
    write_hits(a, r, of + i, hits + begin);
  }
}

SL_KERNEL(write_reports, struct sel_reports_args) {
  if (sl_grid_thread() == 0) a.reports.word_offsets[0] = 0;
  for (uint32_t place = blockIdx.x; place < *a.events.count; place += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, place);
    const uint32_t item = a.reports.offsets[event], begin = a.word_offsets[place], end = a.word_offsets[place + 1];
    if (a.reports.offsets[event + 1] == item) continue; /* as the whole block does, and below */
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
  int status = SL_LAUNCH(l, count_objects, SL_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, a->reports.offsets, &a->reports.bound);
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

SL_ALGORITHM(sel_reports, "what lines accepted, with tracks and their hits, as HltSelReports banks", 64, run,
             SL_ERRORS_OF(errors), SL_PREPARE(prepare));
