/* scifi.decode: SciFi hits from raw banks of versions 4 to 8, by zone, sorted by x (README.md, "Hits").
 *
 * A few threads a bank, and a halfword each: whether one belongs to a pair with the one before it follows from those
 * right before it (bank_words.h). Hits are sorted by the mat's place among all mats, by zone and x, and by the channel
 * in the mat: no two have both in common, or the event is refused.
 *
 * Count, scan, write:
 * 1. decode_count checks the banks, and counts the clusters of each mat. Exclusive sums of these are the mats' places.
 * 2. The scan makes offsets of the events' sums.
 * 3. decode_write decodes again and puts each cluster's key, mat and channel, into the mat's part, at a place that
 *    depends on the order of threads. Its rank among the keys of its mat does not; there the hit is written, counted
 *    from the other end where x descends as channels ascend.
 *
 * Reads 2 bytes a hit twice, and 5 kB of headers; writes 13 bytes a hit, and 2 kB of places. Where x and z follow from
 * stands in one record of 32 bytes by mat.
 */
#include "decode.h"

#define DECODE_ERROR_(name, code, text) {code, 0, text},
static const struct sl_event_error decode_errors[] = {
    SCIFI_BANK_ERRORS(DECODE_ERROR_){SCIFI_TWO_BANKS, 0,
                                     "two SciFi banks of one source (detail: its number among the geometry's 240)"},
    {SCIFI_TWO_HITS, 0, "SciFi banks have two clusters at one channel (detail: the channel)"},
    {SCIFI_TOO_MANY_HITS, 0, "more than 65535 SciFi hits in an event (detail: how many)"},
    {SCIFI_LOST_LINK, 0,
     "SciFi clusters are left out that are of links which are not connected (detail: their bank's source id)"},
    {SCIFI_LOST_PAIR, 0,
     "flags, channels or fractions of a SciFi bank's clusters do not go together (detail: its source id)"}};

/* --------------------------------------------------------------------------------------------- the detector */

static void fill_record(const struct scifi_geometry_view *g, uint32_t mat, float *record) {
  const double dxdy = (double)g->dxdy[mat], dzdy = (double)g->dzdy[mat], begin = (double)g->u_begin[mat];
  const double dx_du = (double)g->direction_x[mat] - dxdy * (double)g->direction_y[mat];
  const double dz_du = (double)g->direction_z[mat] - dzdy * (double)g->direction_y[mat];
  record[X] = (float)((double)g->mirror_x[mat] - dxdy * (double)g->mirror_y[mat] + begin * dx_du);
  record[DX_DU] = (float)dx_du;
  record[Z] = (float)((double)g->mirror_z[mat] - dzdy * (double)g->mirror_y[mat] + begin * dz_du);
  record[DZ_DU] = (float)dz_du;
  record[HALF_PITCH] = g->half_pitch[mat];
  record[DIE_GAP] = g->die_gap[mat];
  record[SIPM_PITCH] = g->sipm_pitch[mat];
  record[FIRST_ID] = sl_f32_from_bits((uint32_t)SCIFI_LHCB_ID | (mat + SCIFI_FIRST_MAT) << SCIFI_MAT_BIT);
}

static uint32_t mat_of(const float *record) {
  return ((sl_bits_from_f32(record[FIRST_ID]) & ~(uint32_t)SCIFI_LHCB_ID) >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
}
static uint32_t zone_of(uint32_t mat) { return mat >> (SCIFI_QUARTER_BIT - SCIFI_MAT_BIT + 1); }

/* Where the `i`-th die of a mat begins or ends, by ascending x. */
static float edge_x(const float *record, uint32_t i) {
  const uint32_t from_first = is_reversed(record) ? 2 * MAT_CHANNELS / SCIFI_DIE_CHANNELS - 1 - i : i;
  const uint32_t is_end = from_first % 2;
  return x_of(record,
              u_of(record, from_first / 2 * SCIFI_DIE_CHANNELS + (is_end ? SCIFI_DIE_CHANNELS - 1 : 0), is_end));
}

/* Whether x ascends through all mats of a zone. */
static int check_order(const struct sl_services *s, const float *mats, uint32_t count) {
  float last = 0;
  for (uint32_t place = 0; place < count; place++) {
    const float *record = mats + (size_t)RECORD_FLOATS * place;
    const uint32_t mat = mat_of(record),
                   is_first = place == 0 || zone_of(mat_of(record - RECORD_FLOATS)) != zone_of(mat);
    for (uint32_t i = 0; i < 2 * MAT_CHANNELS / SCIFI_DIE_CHANNELS; i++) {
      const float x = edge_x(record, i);
      if (!(is_first && i == 0) && !(x > last)) {
        s->message(s->context, SL_ERROR, "the geometry's mat %u lies over another, or channels of its own", mat);
        return SL_EINVAL;
      }
      last = x;
    }
  }
  return SL_OK;
}

/* Records of the mats that are connected, by zone and x. Returns how many there are. */
static uint32_t sort_mats(const struct scifi_geometry_view *g, float *mats) {
  uint8_t is_used[SCIFI_MAT_TABLE] = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < SCIFI_BANKS * SCIFI_BANK_LINKS; i++) {
    const uint32_t mat = (g->link_channel[i] >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT; /* wraps where nothing is connected */
    if (mat < SCIFI_MAT_TABLE) is_used[mat] = 1;
  }
  for (uint32_t mat = 0; mat < SCIFI_MAT_TABLE; mat++) {
    float record[RECORD_FLOATS];
    if (!is_used[mat]) continue;
    uint32_t to = count++;
    fill_record(g, mat, record);
    for (; to > 0; to--) {
      const float *before = mats + (size_t)RECORD_FLOATS * (to - 1);
      if (zone_of(mat_of(before)) != zone_of(mat) || edge_x(before, 0) <= edge_x(record, 0)) break;
      memcpy(mats + (size_t)RECORD_FLOATS * to, before, sizeof record);
    }
    memcpy(mats + (size_t)RECORD_FLOATS * to, record, sizeof record);
  }
  return count;
}

/* Links' first channels, by the mats' places; and where each zone's mats begin. */
static void number_mats(const struct scifi_geometry_view *g, const float *mats, uint32_t count, uint32_t *links,
                        uint32_t *zone_mat) {
  uint32_t mat_first[SCIFI_MAT_TABLE] = {0};
  for (uint32_t place = 0; place < count; place++) {
    const uint32_t mat = mat_of(mats + (size_t)RECORD_FLOATS * place);
    mat_first[mat] = (uint32_t)ONE_MORE | place << SCIFI_MAT_BIT;
    for (uint32_t zone = zone_of(mat) + 1; zone < ZONE_SLOTS; zone++) zone_mat[zone] = place + 1;
  }
  for (uint32_t i = 0; i < SCIFI_BANKS * SCIFI_BANK_LINKS; i++) {
    const uint32_t channel = g->link_channel[i], mat = (channel >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
    links[i] = mat < SCIFI_MAT_TABLE ? mat_first[mat] | (channel & (MAT_CHANNELS - 1)) : (uint32_t)SCIFI_NOT_CONNECTED;
  }
}

static int prepare(const struct sl_services *s, void *args) {
  struct decode_args *a = (struct decode_args *)args;
  float *mats = (float *)s->make_table(s->context, "mats", (uint64_t)RECORD_FLOATS * SCIFI_MAT_TABLE);
  uint32_t *links = (uint32_t *)s->make_table(s->context, "links", SCIFI_BANKS * SCIFI_BANK_LINKS);
  uint32_t *zone_mat = (uint32_t *)s->make_table(s->context, "zone_mat", ZONE_SLOTS);
  uint8_t *source_row = (uint8_t *)s->make_table(s->context, "source_row", SOURCE_IDS);
  if (!mats || !links || !zone_mat || !source_row) return SL_ENOMEM;
  const uint32_t count = sort_mats(&a->geometry, mats);
  if (count > SCIFI_MATS) {
    s->message(s->context, SL_ERROR, "the geometry's links have SiPMs of %u mats, more than %u", count,
               (uint32_t)SCIFI_MATS);
    return SL_EINVAL;
  }
  number_mats(&a->geometry, mats, count, links, zone_mat);
  memset(source_row, NO_ROW, SOURCE_IDS);
  for (uint32_t row = SCIFI_BANKS; row-- > 0;)
    if (a->geometry.source_id[row] < SOURCE_IDS) source_row[a->geometry.source_id[row]] = (uint8_t)row;
  return check_order(s, mats, count);
}

/* ------------------------------------------------------------------------------------------------------ keys */

/* An event's hits, being sorted. `next[m]` is where mat m's next key is put, and so, at last, where the mat ends.
 * Without `keys` they are counted there. */
struct sorting {
  uint32_t *keys, *next;
};

static SL_DEVICE void take_key(const struct sorting *s, const struct scifi_cluster *cluster) {
  const uint32_t key = cluster->channel << KEY_CHANNEL_BIT | cluster->fraction << KEY_SIZE_BITS | cluster->pseudo_size;
  const uint32_t mat = mat_of_key(key);
  const uint32_t slot = atomicAdd(&s->next[mat], 1u);
  if (s->keys) s->keys[slot] = key;
}

/* Takes the clusters of a bank, those of this thread's halfwords. Returns what is wrong with these. */
static SL_DEVICE uint32_t take_bank(const struct sorting *s, const struct scifi_bank_words *words) {
  uint32_t faults = 0;
  for (uint32_t i = SCIFI_HEADER + sl_group_lane(BANK_LANES); i < words->end; i += SL_GROUP(BANK_LANES)) {
    const uint32_t c = scifi_halfword(words->payload, i), begin = scifi_link_begin(words, c);
    const uint32_t has_flag = scifi_flag_of(c) | scifi_flag_of(scifi_halfword(words->payload, i - 1));
    struct scifi_cluster cluster = scifi_cluster_at(begin + scifi_channel_of(c), scifi_fraction_of(c), SCIFI_SMALL);
    if (!has_flag && begin != SCIFI_NOT_CONNECTED) { /* most are such: a cluster by themselves */
      take_key(s, &cluster);
    } else if (!scifi_is_taken(words, i)) {
      struct scifi_bank_cursor cursor = scifi_bank_begin();
      cursor.next = i;
      scifi_take_halfword(words, &cursor);
      while (scifi_taken_next(&cursor, &cluster)) take_key(s, &cluster);
      faults |= cursor.faults;
    }
  }
  return faults;
}

/* ----------------------------------------------------------------------------------------------------- count */

/* Counts the clusters of each mat, some threads a bank. Returns whether the thread saw a bank that is refused.
 * `claims`: a bit for each row. */
static SL_DEVICE uint32_t count_mats(const struct decode_args *a, uint32_t event, const struct sorting *s,
                                     uint32_t *claims) {
  const uint32_t begin = a->banks.offsets[event], banks = a->banks.offsets[event + 1] - begin;
  uint32_t wrong = 0;
  SL_FOR_GROUPS (i, banks, BANK_LANES) {
    struct scifi_bank_words words;
    if (i >= banks) continue;
    const struct bank b = open_bank(a, begin + i);
    const uint32_t error = open_words(a, &b, &words);
    if (error != SCIFI_NO_ERROR) {
      sl_event_fail(&a->events, event, error, b.source_id);
      wrong = 1;
      continue;
    }
    if (sl_group_lane(BANK_LANES) == 0 && atomicOr(&claims[b.row / 32], 1u << b.row % 32) >> b.row % 32 & 1) {
      sl_event_fail(&a->events, event, SCIFI_TWO_BANKS, b.row);
      wrong = 1;
    }
    const uint32_t faults = take_bank(s, &words);
    tell_faults(a, event, faults, b.source_id);
  }
  return wrong;
}

/* Writes where each mat and each zone begins. Returns how many hits there are. */
static SL_DEVICE uint32_t place_mats(const struct decode_args *a, uint32_t event, const uint32_t *counts) {
  uint16_t *mat_first = a->mat_first + (size_t)event * SCIFI_MATS;
  uint32_t sum = 0;
  SL_FOR_BLOCK (place, SCIFI_MATS) {
    uint32_t total;
    const uint32_t first = sum + sl_block_exclusive_scan(place < SCIFI_MATS ? counts[place] : 0u, &total);
    if (place < SCIFI_MATS) mat_first[place] = (uint16_t)first;
    sum += total;
  }
  __syncthreads();
  for (uint32_t zone = threadIdx.x; zone < ZONE_SLOTS; zone += blockDim.x) {
    const uint32_t place = a->zone_mat[zone];
    a->hits.zone_first[(size_t)event * ZONE_SLOTS + zone] = place < SCIFI_MATS ? mat_first[place] : (uint16_t)sum;
  }
  return sum;
}

SL_KERNEL(decode_count, struct decode_args) {
  __shared__ uint32_t counts[SCIFI_MATS], claims[CLAIM_WORDS];
  const struct sorting s = {NULL, counts};
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = threadIdx.x; i < SCIFI_MATS; i += blockDim.x) counts[i] = 0;
    for (uint32_t i = threadIdx.x; i < CLAIM_WORDS; i += blockDim.x) claims[i] = 0;
    __syncthreads();
    const uint32_t wrong = sl_block_sum_u32(count_mats(&a, event, &s, claims));
    const uint32_t hits = place_mats(&a, event, counts);
    if (threadIdx.x == 0) {
      a.hits.offsets[event] = wrong > 0 || hits > SCIFI_HITS_MAX ? 0 : hits;
      if (hits > SCIFI_HITS_MAX) sl_event_fail(&a.events, event, SCIFI_TOO_MANY_HITS, hits);
    }
    __syncthreads();
  }
}

/* ----------------------------------------------------------------------------------------------------- write */

static SL_DEVICE void put_keys(const struct decode_args *a, uint32_t event, const struct sorting *s) {
  const uint32_t begin = a->banks.offsets[event], banks = a->banks.offsets[event + 1] - begin;
  SL_FOR_GROUPS (bank, banks, BANK_LANES) {
    struct scifi_bank_words words;
    if (bank >= banks) continue;
    const struct bank b = open_bank(a, begin + bank);
    if (open_words(a, &b, &words) != SCIFI_NO_ERROR) continue; /* no event with one comes here */
    take_bank(s, &words);
  }
}

/* Writes the hit whose key stands at `slot` to its place in the event: after those of its mat with smaller channels, or
 * before them, where x descends. */
static SL_DEVICE void place_hit(const struct decode_args *a, const struct sorting *s, uint32_t event, uint32_t slot) {
  const uint32_t *keys = s->keys, key = keys[slot], mat = mat_of_key(key), channel = key >> KEY_CHANNEL_BIT;
  const uint32_t first = mat > 0 ? s->next[mat - 1] : 0, end = s->next[mat];
  const float *record = a->mats + (size_t)RECORD_FLOATS * mat;
  uint32_t before = 0, equal = 0;
  for (uint32_t i = first; i < end; i++) {
    before += keys[i] >> KEY_CHANNEL_BIT < channel ? 1u : 0u;
    equal += keys[i] >> KEY_CHANNEL_BIT == channel ? 1u : 0u;
  }
  const uint32_t to = a->hits.offsets[event] + (is_reversed(record) ? end - 1 - before : first + before);
  write_hit(a, to, key, record);
  if (equal > 1) refuse_two_hits(a, event, sl_bits_from_f32(record[FIRST_ID]) + (channel & (MAT_CHANNELS - 1)));
}

SL_KERNEL(decode_write, struct decode_args) {
  __shared__ uint32_t staged_keys[STAGED_HITS], next[SCIFI_MATS];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.hits.offsets[event], hits = a.hits.offsets[event + 1] - first;
    struct sorting s;
    if (hits == 0) { /* none, or refused, or the slice overflowed */
      for (uint32_t i = threadIdx.x; i < ZONE_SLOTS; i += blockDim.x)
        a.hits.zone_first[(size_t)event * ZONE_SLOTS + i] = 0;
      continue;
    }
    s.keys = hits > STAGED_HITS ? a.keys + first : staged_keys;
    s.next = next;
    for (uint32_t i = threadIdx.x; i < SCIFI_MATS; i += blockDim.x)
      next[i] = a.mat_first[(size_t)event * SCIFI_MATS + i];
    __syncthreads();
    put_keys(&a, event, &s);
    __syncthreads();
    for (uint32_t slot = threadIdx.x; slot < hits; slot += blockDim.x) place_hit(&a, &s, event, slot);
    __syncthreads(); /* the keys are free */
  }
}

static int run(const struct sl_launch *l, const struct decode_args *a) {
  return SL_COUNT_SCAN_WRITE(l, decode_count, decode_write, a->hits, *a);
}

SL_ALGORITHM(decode, "SciFi hits from raw banks, by zone, sorted by x", 256, run, SL_ERRORS_OF(decode_errors),
             SL_PREPARE(prepare), SL_TUNED(DECODE_TUNED));
