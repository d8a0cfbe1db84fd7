/* sel_reports_test.c: words and offsets of the banks of selections.sel_reports against a plain packer, which appends
 * one object after the other. Lines over tracks, over vertices of several containers and over neither, with common
 * candidates; events without lines, tracks or vertices; reports that are too large.
 */
#include "selections/event_model.h"
#include "selections/reports.h"
#include "selections_support.h"

enum { EVENTS = 24, CONTAINERS = 3, LINES_MAX = 70, TRACKS_MAX = 800, VERTICES_MAX = 800, HITS_MAX = 20000 };
enum { NAME_BYTES = 24, BANK_MAX = 20000, BY_PARTICLES = 7, BY_CONTAINER = 100, NONE = UINT32_MAX };

struct container {
  uint64_t made_by;
  uint32_t offsets[EVENTS + 1], first[VERTICES_MAX], second[VERTICES_MAX];
  float x[VERTICES_MAX], y[VERTICES_MAX], z[VERTICES_MAX], chi2[VERTICES_MAX];
};

/* The hits of the tracks of one detector. */
struct hits {
  uint32_t offsets[EVENTS + 1], hit_offsets[TRACKS_MAX + 1], ids[HITS_MAX], tracks, count;
};

struct line {
  uint64_t made_by;
  uint32_t offsets[EVENTS + 1];
  uint8_t accepted[TRACKS_MAX > VERTICES_MAX ? TRACKS_MAX : VERTICES_MAX];
};

static struct sample {
  struct container containers[CONTAINERS];
  struct hits velo, ut, scifi; /* scifi: the long tracks themselves */
  uint32_t velo_track[TRACKS_MAX], ut_track[TRACKS_MAX], ndof[TRACKS_MAX];
  float state[6][TRACKS_MAX], chi2_ndof[TRACKS_MAX];
  struct line lines[LINES_MAX];
  uint32_t line_count, passed_offsets[EVENTS + 1], passed[EVENTS * ((LINES_MAX + 31) / 32)], key;
  char names[LINES_MAX][NAME_BYTES];
} sample;
static const char *const state_names[] = {"z", "x", "y", "tx", "ty", "qop"}; /* in the order of the bank */

static uint32_t below(uint32_t end) { return (uint32_t)random_between(0, (float)end); }

static void add_track_hits(struct hits *h, uint32_t hits, uint32_t detector) {
  for (uint32_t i = 0; i < hits; i++) h->ids[h->count++] = detector << 28 | below(1u << 20);
  h->hit_offsets[++h->tracks] = h->count;
}

/* Event e has e % 5 * 7 long tracks, some without UT hits; there are more tracks in the VELO and the UT. */
static void make_tracks(struct sample *s) {
  for (uint32_t e = 0; e < EVENTS; e++) {
    const uint32_t tracks = e % 5 * 7, begin = s->scifi.tracks;
    for (uint32_t i = 0; i < tracks + 2; i++) add_track_hits(&s->velo, 3 + below(6), 2);
    for (uint32_t i = 0; i < tracks / 2; i++) add_track_hits(&s->ut, below(5), 3);
    for (uint32_t i = 0; i < tracks; i++) add_track_hits(&s->scifi, below(13), 5);
    for (uint32_t t = begin; t < begin + tracks; t++) {
      s->velo_track[t] = below(tracks + 2);
      s->ut_track[t] = tracks < 2 || t % 3 == 0 ? UINT32_MAX : below(tracks / 2);
      s->ndof[t] = below(20);
      s->chi2_ndof[t] = random_between(0, 5);
      for (uint32_t f = 0; f < 6; f++) s->state[f][t] = random_between(-100, 100);
    }
    s->velo.offsets[e + 1] = s->velo.tracks;
    s->ut.offsets[e + 1] = s->ut.tracks;
    s->scifi.offsets[e + 1] = s->scifi.tracks;
  }
}

/* Container c is empty in every third event, from event c on. */
static void make_vertices(struct sample *s) {
  for (uint32_t c = 0; c < CONTAINERS; c++) {
    struct container *of = &s->containers[c];
    uint32_t v = 0;
    of->made_by = BY_CONTAINER + c;
    for (uint32_t e = 0; e < EVENTS; e++) {
      const uint32_t tracks = s->scifi.offsets[e + 1] - s->scifi.offsets[e];
      for (uint32_t i = 0; tracks > 1 && e % 3 != c && i < 9 * c + 4; i++, v++) {
        of->first[v] = below(tracks - 1);
        of->second[v] = of->first[v] + 1;
        of->x[v] = random_between(-1, 1), of->y[v] = random_between(-1, 1);
        of->z[v] = random_between(-100, 100), of->chi2[v] = random_between(0, 20);
      }
      of->offsets[e + 1] = v;
    }
  }
}

/* Line k is over tracks, over a container, or over nothing; it accepts one in `share` candidates. */
static void make_lines(struct sample *s, uint32_t lines, uint32_t share) {
  const char *names[LINES_MAX];
  s->line_count = lines;
  for (uint32_t k = 0; k < lines; k++) {
    struct line *l = &s->lines[k];
    const uint32_t kind = k % (CONTAINERS + 2);
    const uint32_t *offsets = kind == 0            ? s->scifi.offsets
                              : kind <= CONTAINERS ? s->containers[kind - 1].offsets
                                                   : NULL;
    l->made_by = kind == 0 ? BY_PARTICLES : kind <= CONTAINERS ? BY_CONTAINER + kind - 1 : 0;
    if (offsets) memcpy(l->offsets, offsets, sizeof l->offsets);
    for (uint32_t i = 0; i < l->offsets[EVENTS]; i++) l->accepted[i] = below(share) == 0;
    snprintf(s->names[k], NAME_BYTES, "Hlt1Line%u", k);
    names[k] = s->names[k];
  }
  s->key = lines_key(names, lines);
}

/* An event passes one in `share` lines; every fourth event passes no line. */
static void make_decisions(struct sample *s, uint32_t share) {
  const uint32_t width = (s->line_count + 31) / 32;
  for (uint32_t e = 0; e < EVENTS; e++) {
    s->passed_offsets[e + 1] = s->passed_offsets[e] + width;
    for (uint32_t k = 0; e % 4 != 3 && k < s->line_count; k++)
      if (below(share) == 0) s->passed[s->passed_offsets[e] + k / 32] |= 1u << k % 32;
  }
}

/* Removes the decisions of event `e`, as if `decide` had not run on it. */
static void remove_decisions(struct sample *s, uint32_t e) {
  const uint32_t begin = s->passed_offsets[e], width = s->passed_offsets[e + 1] - begin;
  memmove(s->passed + begin, s->passed + begin + width,
          (s->passed_offsets[EVENTS] - begin - width) * sizeof *s->passed);
  for (uint32_t i = e + 1; i <= EVENTS; i++) s->passed_offsets[i] -= width;
}

static struct sample *make_sample(uint32_t lines, uint32_t lines_share, uint32_t candidates_share) {
  memset(&sample, 0, sizeof sample);
  random_start(lines);
  make_tracks(&sample);
  make_vertices(&sample);
  make_lines(&sample, lines, candidates_share);
  make_decisions(&sample, lines_share);
  return &sample;
}

/* --------------------------------------------------------------------------------------------- the packer */

struct bank {
  uint32_t words[BANK_MAX], count;
};

struct halves {
  uint16_t at[BANK_MAX];
  uint32_t count;
};

static void push(struct bank *b, uint32_t word) {
  assert_true(b->count < BANK_MAX);
  b->words[b->count++] = word;
}
static void push_f32(struct bank *b, float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  push(b, word);
}
static void push_half(struct halves *h, uint32_t half) {
  assert_true(h->count < BANK_MAX && half <= UINT16_MAX);
  h->at[h->count++] = (uint16_t)half;
}
static void push_halves(struct bank *b, const struct halves *h) {
  for (uint32_t i = 0; i < h->count; i += 2)
    push(b, (uint32_t)h->at[i] | (i + 1 < h->count ? (uint32_t)h->at[i + 1] << 16 : 0));
}

/* Object numbers of vertices and tracks of an event; NONE: not in the report. */
struct objects {
  uint32_t lines, vertices, tracks, of_vertex[CONTAINERS][VERTICES_MAX], of_track[TRACKS_MAX];
};

static int passes(const struct sample *s, uint32_t e, uint32_t k) {
  if (s->passed_offsets[e] == s->passed_offsets[e + 1]) return 0;
  return (int)(s->passed[s->passed_offsets[e] + k / 32] >> k % 32 & 1u);
}

static int any_accepts(const struct sample *s, uint32_t e, uint64_t made_by, uint32_t i) {
  for (uint32_t k = 0; k < s->line_count; k++)
    if (passes(s, e, k) && s->lines[k].made_by == made_by && s->lines[k].accepted[s->lines[k].offsets[e] + i]) return 1;
  return 0;
}

static void number_objects(const struct sample *s, uint32_t e, struct objects *o) {
  const uint32_t tracks = s->scifi.offsets[e + 1] - s->scifi.offsets[e];
  int is_child[TRACKS_MAX] = {0};
  uint32_t next = 0;
  for (uint32_t k = 0; k < s->line_count; k++) next += (uint32_t)passes(s, e, k);
  o->lines = next;
  for (uint32_t c = 0; c < CONTAINERS; c++) {
    const struct container *of = &s->containers[c];
    for (uint32_t i = 0; i < of->offsets[e + 1] - of->offsets[e]; i++) {
      o->of_vertex[c][i] = any_accepts(s, e, of->made_by, i) ? next++ : NONE;
      if (o->of_vertex[c][i] == NONE) continue;
      is_child[of->first[of->offsets[e] + i]] = is_child[of->second[of->offsets[e] + i]] = 1;
    }
  }
  o->vertices = next - o->lines;
  for (uint32_t i = 0; i < tracks; i++)
    o->of_track[i] = is_child[i] || any_accepts(s, e, BY_PARTICLES, i) ? next++ : NONE;
  o->tracks = next - o->lines - o->vertices;
}

static void pack_line(const struct sample *s, uint32_t e, uint32_t k, const struct objects *o, struct halves *to) {
  const struct line *l = &s->lines[k];
  const uint32_t head = to->count;
  push_half(to, 0);
  for (uint32_t i = l->offsets[e]; i < l->offsets[e + 1]; i++) {
    const uint32_t index = i - l->offsets[e];
    if (l->accepted[i])
      push_half(to, l->made_by == BY_PARTICLES ? o->of_track[index] : o->of_vertex[l->made_by - BY_CONTAINER][index]);
  }
  to->at[head] = (uint16_t)((to->count - head - 1) * 2);
}

static void pack_ids(const struct hits *h, uint32_t track, struct bank *to) {
  for (uint32_t i = h->hit_offsets[track]; i < h->hit_offsets[track + 1]; i++) push(to, h->ids[i]);
}

/* Parts of a bank while it is packed: structure, values, hits. */
struct parts {
  struct halves structure, ends;
  struct bank values, ids;
};

static void pack_vertices(const struct sample *s, uint32_t e, const struct objects *o, struct parts *p) {
  for (uint32_t c = 0; c < CONTAINERS; c++) {
    const struct container *of = &s->containers[c];
    for (uint32_t v = of->offsets[e]; v < of->offsets[e + 1]; v++) {
      if (o->of_vertex[c][v - of->offsets[e]] == NONE) continue;
      push_half(&p->structure, 4);
      push_half(&p->structure, o->of_track[of->first[v]]);
      push_half(&p->structure, o->of_track[of->second[v]]);
      push_f32(&p->values, of->x[v]);
      push_f32(&p->values, of->y[v]);
      push_f32(&p->values, of->z[v]);
      push_f32(&p->values, of->chi2[v]);
    }
  }
}

static void pack_tracks(const struct sample *s, uint32_t e, const struct objects *o, int with_ut, struct parts *p) {
  push_half(&p->ends, o->tracks);
  for (uint32_t t = s->scifi.offsets[e], n = 0; t < s->scifi.offsets[e + 1]; t++) {
    if (o->of_track[t - s->scifi.offsets[e]] == NONE) continue;
    push_half(&p->structure, 3);
    push_half(&p->structure, n++);
    for (uint32_t f = 0; f < 6; f++) push_f32(&p->values, s->state[f][t]);
    push_f32(&p->values, s->chi2_ndof[t]);
    push_f32(&p->values, (float)s->ndof[t]);
    pack_ids(&s->velo, s->velo.offsets[e] + s->velo_track[t], &p->ids);
    if (with_ut && s->ut_track[t] != UINT32_MAX) pack_ids(&s->ut, s->ut.offsets[e] + s->ut_track[t], &p->ids);
    pack_ids(&s->scifi, t, &p->ids);
    push_half(&p->ends, 1 + o->tracks / 2 + p->ids.count);
  }
}

static void end_sub_bank(struct bank *b, uint32_t i) { b->words[2 + i] = b->count; }

static void pack(const struct sample *s, uint32_t e, int with_ut, struct bank *b) {
  static struct objects o;
  static struct parts p;
  number_objects(s, e, &o);
  const uint32_t objects = o.lines + o.vertices + o.tracks;
  p.structure.count = p.ends.count = p.values.count = p.ids.count = b->count = 0;
  if (o.lines == 0) return;
  push_half(&p.structure, objects);
  push_half(&p.structure, 0);
  for (uint32_t k = 0; k < s->line_count; k++) {
    if (!passes(s, e, k)) continue;
    pack_line(s, e, k, &o, &p.structure);
    push_f32(&p.values, (float)(k + 1));
  }
  pack_vertices(s, e, &o, &p);
  pack_tracks(s, e, &o, with_ut, &p);
  for (uint32_t i = 0; i < 10; i++) push(b, 0);
  b->words[1] = 5 | 1 << 3 | 2 << 6 | 3 << 9 | 4 << 12;
  /* types */
  const uint32_t types = 1u + (o.vertices > 0) + (o.tracks > 0);
  push(b, (types + 1) << 16 | types);
  push(b, 1 << 16 | o.lines);
  if (o.vertices) push(b, 10030 << 16 | (o.lines + o.vertices));
  if (o.tracks) push(b, 10010 << 16 | objects);
  end_sub_bank(b, 0);
  /* structure */
  p.structure.at[1] = (uint16_t)((p.structure.count + 1) / 2);
  push_halves(b, &p.structure);
  end_sub_bank(b, 1);
  /* extra information: one zero byte per object, padded */
  push(b, (2 + objects / 4) << 16 | objects);
  for (uint32_t i = 0; i < 1 + objects / 4; i++) push(b, 0);
  end_sub_bank(b, 2);
  /* values */
  push(b, (2 + objects / 4 + p.values.count) << 16 | objects);
  for (uint32_t i = 0; i < (objects + 3) / 4; i++) push(b, 0);
  for (uint32_t i = 0; i < objects; i++)
    b->words[b->count - (objects + 3) / 4 + i / 4] |= (i < o.lines                ? 1u
                                                       : i < o.lines + o.vertices ? 4u
                                                                                  : 8u)
                                                      << 8 * (i % 4);
  for (uint32_t i = 0; i < p.values.count; i++) push(b, p.values.words[i]);
  if (objects % 4 == 0) push(b, 0);
  end_sub_bank(b, 3);
  /* hits */
  push_halves(b, &p.ends);
  for (uint32_t i = 0; i < p.ids.count; i++) push(b, p.ids.words[i]);
  end_sub_bank(b, 4);
  b->words[0] = b->count;
}

/* ------------------------------------------------------------------------------------------------ the node */

static void give_hits(struct sl_test *t, const char *port, const struct hits *h) {
  sl_test_input(t, port, "offsets", h->offsets, EVENTS + 1);
  sl_test_input(t, port, "hit_offsets", h->hit_offsets, h->tracks + 1);
  sl_test_input(t, port, "hit_id", h->ids, h->count);
}

static void give_tracks(struct sl_test *t, const struct sample *s) {
  const uint64_t made_by = BY_PARTICLES;
  const uint32_t tracks = s->scifi.tracks;
  give_hits(t, "velo_tracks", &s->velo);
  give_hits(t, "tracks", &s->scifi);
  sl_test_input(t, "tracks", "velo_track", s->velo_track, tracks);
  sl_test_input(t, "tracks", "ut_track", s->ut_track, tracks);
  sl_test_input(t, "particles", "offsets", s->scifi.offsets, EVENTS + 1);
  sl_test_input(t, "particles", "made_by", &made_by, 1);
  sl_test_input(t, "particles", "chi2_ndof", s->chi2_ndof, tracks);
  sl_test_input(t, "states", "offsets", s->scifi.offsets, EVENTS + 1);
  for (uint32_t f = 0; f < 6; f++) sl_test_input(t, "states", state_names[f], s->state[f], tracks);
  sl_test_input(t, "states", "ndof", s->ndof, tracks);
}

static void give_vertices(struct sl_test *t, const struct container *of, const char *name) {
  const uint32_t count = of->offsets[EVENTS];
  sl_test_list_input(t, "vertices", name, "made_by", &of->made_by, 1);
  sl_test_list_input(t, "vertices", name, "offsets", of->offsets, EVENTS + 1);
  sl_test_list_input(t, "vertices", name, "first", of->first, count);
  sl_test_list_input(t, "vertices", name, "second", of->second, count);
  sl_test_list_input(t, "vertices", name, "x", of->x, count);
  sl_test_list_input(t, "vertices", name, "y", of->y, count);
  sl_test_list_input(t, "vertices", name, "z", of->z, count);
  sl_test_list_input(t, "vertices", name, "chi2", of->chi2, count);
}

static struct sl_test *report(const struct sample *s, int with_ut) {
  static const char *const names[CONTAINERS] = {"first", "second", "third"};
  const uint32_t lines = s->line_count;
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "sel_reports");
  sl_test_events(t, EVENTS);
  give_tracks(t, s);
  if (with_ut) give_hits(t, "ut_tracks", &s->ut);
  for (uint32_t c = 0; c < CONTAINERS; c++) give_vertices(t, &s->containers[c], names[c]);
  for (uint32_t k = 0; k < lines; k++) {
    const struct line *l = &s->lines[k];
    sl_test_list_input(t, "lines", s->names[k], "offsets", l->offsets, EVENTS + 1);
    sl_test_list_input(t, "lines", s->names[k], "made_by", &l->made_by, 1);
    sl_test_list_input(t, "lines", s->names[k], "accepted", l->accepted, l->offsets[EVENTS]);
  }
  sl_test_input(t, "decisions", "offsets", s->passed_offsets, EVENTS + 1);
  sl_test_input(t, "decisions", "key", &s->key, 1);
  sl_test_input(t, "decisions", "line_count", &lines, 1);
  sl_test_input(t, "decisions", "passed", s->passed, s->passed_offsets[EVENTS]);
  return t;
}

/* Compares the banks of the events `numbers` (NULL: all events) with the packer. Returns the size of the largest bank;
 * frees `t`. */
static uint32_t assert_reported(struct sl_test *t, const struct sample *s, int with_ut, const uint32_t *numbers,
                                uint32_t count) {
  static struct bank b;
  uint32_t item = 0, word = 0, largest = 0;
  if (numbers) sl_test_list(t, numbers, count);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = OUTPUT(t, "reports", "offsets", uint32_t);
  const uint32_t *word_offsets = OUTPUT(t, "reports", "word_offsets", uint32_t);
  assert_int_equal(word_offsets[0], 0);
  for (uint32_t e = 0, at = 0; e < EVENTS; e++) {
    const int is_own = !numbers || (at < count && numbers[at] == e);
    assert_int_equal(sl_test_event_error(t, e), 0);
    assert_int_equal(offsets[e], item);
    b.count = 0;
    if (is_own) pack(s, e, with_ut, &b);
    at += (uint32_t)is_own;
    if (b.count == 0) continue;
    assert_int_equal(OUTPUT(t, "reports", "size_bytes", uint16_t)[item], 4 * b.count);
    assert_memory_equal(OUTPUT(t, "reports", "word", uint32_t) + word, b.words, b.count * sizeof *b.words);
    word += b.count;
    assert_int_equal(word_offsets[++item], word);
    if (b.count > largest) largest = b.count;
  }
  assert_int_equal(offsets[EVENTS], item);
  assert_int_equal(sl_test_used(t, "reports.word_offsets"), word);
  sl_test_free(t);
  return largest;
}

static void banks_equal_those_of_a_plain_packer(void **state) {
  (void)state;
  const uint32_t lines[] = {0, 1, 5, 33, LINES_MAX};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    const struct sample *s = make_sample(lines[i], 3, 6);
    const uint32_t largest = assert_reported(report(s, 1), s, 1, NULL, 0);
    assert_int_equal(largest > 100, lines[i] > 0);
  }
}

static void event_lists_and_ut_hits_are_optional(void **state) {
  (void)state;
  const uint32_t numbers[] = {1, 2, 3, 7, 14, 20, 23}, count = sizeof numbers / sizeof *numbers;
  const struct sample *s = make_sample(12, 3, 6);
  assert_true(assert_reported(report(s, 1), s, 1, numbers, count) > 0);
  assert_true(assert_reported(report(s, 0), s, 0, NULL, 0) > 0);
  assert_int_equal(assert_reported(report(s, 1), s, 1, numbers, 0), 0);
}

static void a_candidate_of_several_lines_is_one_object(void **state) {
  (void)state;
  const struct sample *s = make_sample(30, 1, 1);
  assert_true(assert_reported(report(s, 1), s, 1, NULL, 0) > 0);
}

static void events_that_pass_no_line_have_no_report(void **state) {
  (void)state;
  const struct sample *s = make_sample(10, 1u << 20, 2);
  assert_int_equal(assert_reported(report(s, 1), s, 1, NULL, 0), 0);
}

static void an_event_that_was_not_decided_on_has_no_report(void **state) {
  (void)state;
  struct sample *s = make_sample(12, 1, 2);
  remove_decisions(s, EVENTS - 2);
  remove_decisions(s, 4);
  assert_true(assert_reported(report(s, 1), s, 1, NULL, 0) > 0);
}

static void reports_do_not_depend_on_the_block_size(void **state) {
  (void)state;
  const uint32_t threads[] = {32, 96, 256};
  const struct sample *s = make_sample(12, 2, 3);
  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    struct sl_test *t = report(s, 1);
    sl_test_block(t, threads[i]);
    assert_true(assert_reported(t, s, 1, NULL, 0) > 0);
  }
}

/* The first track of event 1 has more hits than a bank has words. */
static void a_report_that_is_too_large_is_left_out_and_reported(void **state) {
  (void)state;
  struct sample *s = make_sample(1, 1, 1);
  static struct hits large;
  large = (struct hits){.count = 0};
  for (uint32_t e = 0; e < EVENTS; e++) {
    if (e == 1) add_track_hits(&large, REPORT_WORDS_MAX, 2);
    for (uint32_t i = 0; i < 32; i++) add_track_hits(&large, 3, 2);
    large.offsets[e + 1] = large.tracks;
  }
  s->velo = large;
  memset(s->velo_track, 0, sizeof s->velo_track);
  struct sl_test *t = report(s, 0);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = OUTPUT(t, "reports", "offsets", uint32_t);
  assert_int_equal(offsets[2], offsets[1]);
  assert_int_equal(offsets[3], offsets[2] + 1);
  assert_int_equal(sl_test_event_error(t, 1) >> 32 & 0xFF, 3);
  sl_test_free(t);
}

static void words_that_exceed_the_memory_are_counted_and_not_written(void **state) {
  (void)state;
  const struct sample *s = make_sample(12, 2, 3);
  struct sl_test *t = report(s, 1);
  sl_test_budget(t, "reports.word_offsets", 50);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(sl_test_used(t, "reports.word_offsets") > 1000);
  sl_test_free(t);
}

static void candidates_of_an_unknown_container_are_reported(void **state) {
  (void)state;
  struct sample *s = make_sample(4, 1, 2);
  s->lines[2].made_by = 12345;
  struct sl_test *t = report(s, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, 0) >> 32 & 0xFF, 2);
  assert_int_equal(sl_test_event_error(t, 0) & 0xFFFF, 3);
  assert_int_equal(sl_test_event_error(t, 3), 0); /* event 3 passed no line */
  assert_int_equal(OUTPUT(t, "reports", "offsets", uint32_t)[1], 1);
  sl_test_free(t);
}

static void an_event_with_decisions_of_other_lines_is_refused(void **state) {
  (void)state;
  struct sample *s = make_sample(4, 1, 2);
  s->key ^= 1;
  struct sl_test *t = report(s, 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, 5) >> 32 & 0xFF, 1);
  assert_int_equal(OUTPUT(t, "reports", "offsets", uint32_t)[EVENTS], 0);
  sl_test_free(t);
}

static void assert_refused_for_other_tracks(struct sl_test *t, uint32_t event) {
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, event) >> 32 & 0xFF, 4);
  assert_int_equal(sl_test_event_error(t, event - 1), 0);
  assert_int_equal(OUTPUT(t, "reports", "offsets", uint32_t)[event],
                   OUTPUT(t, "reports", "offsets", uint32_t)[event + 1]);
  sl_test_free(t);
}

/* The wrong vertex is in the last container, which the only line does not use. */
static void an_event_with_vertices_of_other_tracks_is_refused(void **state) {
  (void)state;
  enum { EVENT = 4 };
  for (uint32_t second = 0; second < 2; second++) {
    struct sample *s = make_sample(1, 1, 2);
    struct container *of = &s->containers[CONTAINERS - 1];
    const uint32_t last = of->offsets[EVENT + 1] - 1;
    assert_true(of->offsets[EVENT] <= last);
    (second ? of->second : of->first)[last] = s->scifi.offsets[EVENT + 1] - s->scifi.offsets[EVENT];
    assert_refused_for_other_tracks(report(s, 1), EVENT);
  }
}

static void an_event_with_other_numbers_of_states_or_tracks_is_refused(void **state) {
  (void)state;
  enum { EVENT = 8 };
  const char *const ports[] = {"states", "tracks"};
  for (size_t p = 0; p < sizeof ports / sizeof *ports; p++) {
    const struct sample *s = make_sample(4, 1, 2);
    struct sl_test *t = report(s, 1);
    uint32_t offsets[EVENTS + 1];
    memcpy(offsets, s->scifi.offsets, sizeof offsets);
    offsets[EVENT + 1]--; /* the next event, which has no tracks, gets one */
    sl_test_input(t, ports[p], "offsets", offsets, EVENTS + 1);
    assert_refused_for_other_tracks(t, EVENT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(banks_equal_those_of_a_plain_packer),
      cmocka_unit_test(event_lists_and_ut_hits_are_optional),
      cmocka_unit_test(a_candidate_of_several_lines_is_one_object),
      cmocka_unit_test(events_that_pass_no_line_have_no_report),
      cmocka_unit_test(an_event_that_was_not_decided_on_has_no_report),
      cmocka_unit_test(reports_do_not_depend_on_the_block_size),
      cmocka_unit_test(a_report_that_is_too_large_is_left_out_and_reported),
      cmocka_unit_test(words_that_exceed_the_memory_are_counted_and_not_written),
      cmocka_unit_test(candidates_of_an_unknown_container_are_reported),
      cmocka_unit_test(an_event_with_decisions_of_other_lines_is_refused),
      cmocka_unit_test(an_event_with_vertices_of_other_tracks_is_refused),
      cmocka_unit_test(an_event_with_other_numbers_of_states_or_tracks_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
