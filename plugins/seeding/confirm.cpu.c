/* confirm.cpu.c: version of confirm.cu for one CPU core with 256-bit vectors. It finds the same hits, bit for bit.
 *   1. Compute the position of a track in the six layers and its search windows once, one layer per lane.
 *   2. Follow the track from eight neighbouring start hits at a time, one per lane. To find the nearest hits of the
 *      next layer, count the hits of its window (some twenty) below each lane's prediction, without a search.
 * Each step processes many tracks before the next step begins, so that their long computations overlap.
 */
#include "confirm.h"

#include <sluice/vectors.h>

enum {
  TRACKS = 64,       /* tracks at a time */
  BLOCKS = 32,       /* blocks of eight start hits */
  COUNTED_MAX = 128, /* largest window that is counted instead of searched */
  MARGIN = LANES     /* padding on both sides of an event's hits */
};
static const i32x8 lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};

/* Layers in the order of the search, one per lane; the last two lanes have no hits. */
struct layers {
  f32x8 d, bend, dxdy, z;
  i32x8 begin[2], end[2]; /* hits in the event: lower half, upper half */
};

/* A track: position and hits of the search window in each layer, least number of hits, hits in x layers, focus_of(),
 * best line so far. */
struct track_search {
  float x[LANES];
  int32_t begin[LANES], end[LANES], needed;
  uint32_t x_hits;
  float focus;
  uint64_t key;
  struct line line;
};

/* A track followed from eight start hits. */
struct followed {
  f32x8 ty, y[SCIFI_STEREO_LAYERS]; /* 0 where there is no hit */
  i32x8 hits[SCIFI_STEREO_LAYERS], count, is_alive;
  struct track_search *track;
};

struct search {
  struct layers layers;
  struct followed blocks[BLOCKS];
  const struct confirm_args *a;
  const float *x; /* x of the event's hits, with margins */
  struct track_search tracks[TRACKS];
  uint32_t halvings;
  uint32_t live[BLOCKS], count; /* blocks with at least one live lane */
};

/* ----------------------------------------------------------------------------------------------------- bisection */

VECTOR_INLINE f32x8 x_of(const struct search *s, i32x8 hit) { return f32x8_gather(s->x, hit); }

/* Per lane: the first indices of [begin, end) with x >= low and with x > high, or end. A range has fewer than 1 <<
 * halvings entries. */
VECTOR_INLINE void bisect(const struct search *s, i32x8 begin, i32x8 end, f32x8 low, f32x8 high, i32x8 *from,
                          i32x8 *above) {
  i32x8 a = begin, b = begin;
  for (uint32_t h = s->halvings; h-- > 0;) {
    const i32x8 a_next = a + (1 << h), b_next = b + (1 << h), a_exists = a_next <= end, b_exists = b_next <= end;
    const f32x8 a_x = x_of(s, i32x8_select(a_exists, a_next, begin) - 1);
    const f32x8 b_x = x_of(s, i32x8_select(b_exists, b_next, begin) - 1);
    a = i32x8_select(a_exists & (a_x < low), a_next, a);
    b = i32x8_select(b_exists & (b_x <= high), b_next, b);
  }
  *from = a;
  *above = b;
}

/* Per lane: the hit of [begin, end) nearest to x (ties: the lower index), or NO_HIT if none is within max_distance. */
VECTOR_INLINE i32x8 near_hits(const struct search *s, int32_t begin, int32_t end, f32x8 x, f32x8 *hit_x) {
  const float max_distance = s->a->max_distance;
  i32x8 after = i32x8_of(begin), above;
  if (end - begin <= COUNTED_MAX)
    for (int32_t h = begin; h < end; h++) after -= s->x[h] < x;
  else
    bisect(s, after, i32x8_of(end), x, x, &after, &above);
  const f32x8 none = f32x8_of(2.0f * max_distance + 1.0f), x_before = x_of(s, after - 1), x_after = x_of(s, after);
  const f32x8 off_before = f32x8_select(after > begin, x - x_before, none);
  const f32x8 off_after = f32x8_select(after < end, x_after - x, none);
  const i32x8 is_before = off_before <= off_after;
  const i32x8 is_near = f32x8_select(is_before, off_before, off_after) <= max_distance;
  *hit_x = f32x8_select(is_before, x_before, x_after);
  return i32x8_select(is_near, after + is_before, i32x8_of(NO_HIT));
}

/* ------------------------------------------------------------------------------------------------------ tracks */

static void open_track_search(const struct search *s, uint32_t item, struct track_search *t) {
  const struct confirm_args *a = s->a;
  const struct layers *l = &s->layers;
  const uint32_t upper = a->tracks.kind[item] & 1u;
  const f32x8 x = a->tracks.a[item] + a->tracks.b[item] * l->d + a->tracks.c[item] * l->bend;
  const f32x8 outwards = upper ? -l->dxdy : l->dxdy;
  const f32x8 near_x = x + outwards * a->min_y, far_x = x + outwards * a->max_y;
  i32x8 from, above;
  bisect(s, l->begin[upper], l->end[upper], f32x8_min(near_x, far_x), f32x8_max(near_x, far_x), &from, &above);
  f32x8_store(t->x, x);
  i32x8_store(t->begin, from);
  i32x8_store(t->end, above);
  t->needed = (int32_t)hits_needed(a, item);
  t->x_hits = a->tracks.hit_count[item];
  t->focus = focus_of(a, item);
  t->key = no_start;
  t->line = (struct line){{NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT, NO_HIT}, 0, 0.0f, 0.0f, 0.0f};
}

/* Fits a lane's line, and stores it if it is the track's best. */
static void judge(const struct search *s, const struct followed *f, uint32_t first, uint32_t lane) {
  struct line line;
  float d[SCIFI_STEREO_LAYERS], y[SCIFI_STEREO_LAYERS];
  line.count = (uint32_t)f->count[lane];
  if (line.count < f->track->line.count) return;
  for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    line.hits[k] = (uint32_t)f->hits[k][lane];
    d[k] = s->layers.d[k];
    y[k] = f->y[k][lane];
  }
  fit(&line, d, y);
  const uint64_t key = key_of(&line, first, line.hits[first]);
  if (key >= f->track->key || !is_accepted(s->a, f->track->x_hits, &line)) return;
  f->track->key = key;
  f->track->line = line;
}

/* Starts a block with the track's eight hits from `hit` on, of layer `first`. */
VECTOR_INLINE void begin_block(const struct search *s, struct followed *f, uint32_t first, int32_t hit) {
  const struct layers *l = &s->layers;
  for (uint32_t k = 0; k < first; k++) f->hits[k] = i32x8_of(NO_HIT), f->y[k] = f32x8_of(0.0f);
  f->hits[first] = hit + lane_numbers;
  f->y[first] = (f->track->x[first] - f32x8_load(s->x + hit)) / l->dxdy[first];
  f->ty = f->y[first] * (1.0f / (l->z[first] + f->track->focus));
  f->count = i32x8_of(1);
  f->is_alive = lane_numbers < f->track->end[first] - hit;
}

/* Extends the block into layer k; returns 1 if a lane can still get enough hits. */
VECTOR_INLINE uint32_t follow_block(const struct search *s, struct followed *f, uint32_t k) {
  const struct layers *l = &s->layers;
  const struct track_search *t = f->track;
  const float z = l->z[k] + t->focus;
  f32x8 hit_x;
  f->hits[k] = near_hits(s, t->begin[k], t->end[k], t->x[k] - f->ty * (l->dxdy[k] * z), &hit_x);
  const i32x8 is_found = f->hits[k] != NO_HIT;
  const f32x8 y = (t->x[k] - hit_x) / l->dxdy[k];
  f->y[k] = f32x8_select(is_found, y, f32x8_of(0.0f));
  f->ty = f32x8_select(is_found, 0.5f * (f->ty + y * (1.0f / z)), f->ty);
  f->count -= is_found;
  f->is_alive &= f->count >= t->needed - (int32_t)(SCIFI_STEREO_LAYERS - 1 - k);
  return i32x8_bits(f->is_alive) != 0;
}

/* Follows all blocks, which start in layer `first`, to the last layer. */
static void follow_blocks(struct search *s, uint32_t first) {
  for (uint32_t i = 0; i < s->count; i++) s->live[i] = i;
  for (uint32_t k = first + 1; k < SCIFI_STEREO_LAYERS; k++) {
    uint32_t live = 0;
    for (uint32_t i = 0; i < s->count; i++) {
      const uint32_t block = s->live[i];
      s->live[live] = block;
      live += follow_block(s, &s->blocks[block], k);
    }
    s->count = live;
  }
  for (uint32_t i = 0; i < s->count; i++) {
    const struct followed *f = &s->blocks[s->live[i]];
    for (uint32_t lanes = i32x8_bits(f->is_alive); lanes; lanes &= lanes - 1)
      judge(s, f, first, (uint32_t)__builtin_ctz(lanes));
  }
  s->count = 0;
}

static void write_line(const struct search *s, uint32_t item, const struct line *line) {
  const struct seed_stereo *stereo = &s->a->stereo;
  uint16_t *hits = stereo->hits + SCIFI_STEREO_LAYERS * (size_t)item;
  uint32_t by_layer[SCIFI_LAYERS], count = 0;
  for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) by_layer[layer_of(k)] = line->hits[k];
  for (uint32_t i = 0; i < SCIFI_STEREO_LAYERS; i++) {
    const uint32_t hit = by_layer[SCIFI_STATION_LAYERS * (i / 2) + 1 + i % 2];
    hits[count] = (uint16_t)hit;
    count += hit != NO_HIT;
  }
  stereo->hit_count[item] = (uint8_t)count;
  for (; count < SCIFI_STEREO_LAYERS; count++) hits[count] = 0;
  stereo->y[item] = line->y;
  stereo->ty[item] = line->ty;
  stereo->chi2[item] = line->chi2;
}

static void search_tracks(struct search *s, uint32_t item, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) open_track_search(s, item + i, &s->tracks[i]);
  for (uint32_t first = 0; first < START_LAYERS; first++) {
    for (uint32_t i = 0; i < count; i++) {
      struct track_search *t = &s->tracks[i];
      const uint32_t most = SCIFI_STEREO_LAYERS - first; /* hits of a line that starts here */
      if (t->needed < (int32_t)t->line.count) t->needed = (int32_t)t->line.count;
      if (t->needed > (int32_t)most) continue;
      for (int32_t hit = t->begin[first]; hit < t->end[first]; hit += LANES) {
        s->blocks[s->count].track = t;
        begin_block(s, &s->blocks[s->count], first, hit);
        if (++s->count == BLOCKS) follow_blocks(s, first);
      }
    }
    follow_blocks(s, first);
  }
  for (uint32_t i = 0; i < count; i++) write_line(s, item + i, &s->tracks[i].line);
}

/* ------------------------------------------------------------------------------------------------------- event */

static void open_layers(struct search *s) {
  struct layers *l = &s->layers;
  memset(l, 0, sizeof *l);
  for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++) {
    const uint32_t number = layer_of(k);
    l->d[k] = s->a->seeding.d[number];
    l->bend[k] = s->a->seeding.bend[number];
    l->dxdy[k] = number % 2 ? s->a->stereo_slope : -s->a->stereo_slope;
    l->z[k] = l->d[k] + s->a->seeding.constants[SEED_Z_REFERENCE];
  }
}

static void open_event(struct search *s, uint32_t event) {
  const uint16_t *zone_first = s->a->hits.zone_first + (size_t)event * (SCIFI_ZONES + 1);
  const uint32_t begin = s->a->hits.offsets[event], hits = s->a->hits.offsets[event + 1] - begin;
  const uint32_t count = hits < SCIFI_HITS_MAX ? hits : SCIFI_HITS_MAX;
  int32_t longest = 0;
  memset(s->a->x, 0, MARGIN * sizeof(float));
  memcpy(s->a->x + MARGIN, s->a->hits.x + begin, count * sizeof(float));
  memset(s->a->x + MARGIN + count, 0, MARGIN * sizeof(float));
  for (uint32_t k = 0; k < SCIFI_STEREO_LAYERS; k++)
    for (uint32_t upper = 0; upper < 2; upper++) {
      const uint32_t zone = 2 * layer_of(k) + upper;
      const int32_t first = zone_first[zone], end = zone_first[zone + 1];
      s->layers.begin[upper][k] = first;
      s->layers.end[upper][k] = end;
      longest = end - first > longest ? end - first : longest;
    }
  for (s->halvings = 0; longest >> s->halvings; s->halvings++) continue;
}

int confirm_tuned(const struct sl_launch *l, const void *args) {
  const struct confirm_args *a = args;
  struct search s;
  (void)l;
  s.a = a;
  s.x = a->x + MARGIN;
  s.count = 0;
  open_layers(&s);
  SL_FOR_EVENTS (event, a->events) {
    const uint32_t begin = a->tracks.offsets[event], end = a->tracks.offsets[event + 1];
    if (begin < end) open_event(&s, event);
    for (uint32_t item = begin; item < end; item += TRACKS)
      search_tracks(&s, item, end - item < TRACKS ? end - item : TRACKS);
  }
  return SL_OK;
}
