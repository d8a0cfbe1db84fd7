/* scifi.decode: SciFi hits from raw banks of versions 4 to 8, by zone, sorted by x (README.md, "Hits").
 *
 * A thread a word of two halfwords: banks have nine on average, but some have forty. Words are numbered through the
 * banks of an event by a sum over these; a thread finds its word's bank by a binary search. Whether a halfword belongs
 * to a pair with the one before it follows from those right before it (bank_words.h). Hits are sorted by the mat's
 * place among all mats, by zone and x, and by the channel in the mat: no two have both in common, or the event is
 * refused.
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

static void fill_record(const struct scifi_geometry_view *g, uint32_t mat, struct mat_record *record) {
  const double dxdy = (double)g->dxdy[mat], dzdy = (double)g->dzdy[mat], begin = (double)g->u_begin[mat];
  const double dx_du = (double)g->direction_x[mat] - dxdy * (double)g->direction_y[mat];
  const double dz_du = (double)g->direction_z[mat] - dzdy * (double)g->direction_y[mat];
  record->x = (float)((double)g->mirror_x[mat] - dxdy * (double)g->mirror_y[mat] + begin * dx_du);
  record->dx_du = (float)dx_du;
  record->z = (float)((double)g->mirror_z[mat] - dzdy * (double)g->mirror_y[mat] + begin * dz_du);
  record->dz_du = (float)dz_du;
  record->half_pitch = g->half_pitch[mat];
  record->die_gap = g->die_gap[mat];
  record->sipm_pitch = g->sipm_pitch[mat];
  record->first_id = sl_f32_from_bits((uint32_t)SCIFI_LHCB_ID | (mat + SCIFI_FIRST_MAT) << SCIFI_MAT_BIT);
}

static uint32_t mat_of(const struct mat_record *record) {
  return ((sl_bits_from_f32(record->first_id) & ~(uint32_t)SCIFI_LHCB_ID) >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
}
static uint32_t zone_of(uint32_t mat) { return mat >> (SCIFI_QUARTER_BIT - SCIFI_MAT_BIT + 1); }

/* Where the `i`-th die of a mat begins or ends, by ascending x. */
static float edge_x(const struct mat_record *record, uint32_t i) {
  const uint32_t from_first = is_reversed(record) ? 2 * MAT_CHANNELS / SCIFI_DIE_CHANNELS - 1 - i : i;
  const uint32_t is_end = from_first % 2;
  return x_of(record,
              u_of(record, from_first / 2 * SCIFI_DIE_CHANNELS + (is_end ? SCIFI_DIE_CHANNELS - 1 : 0), is_end));
}

/* Whether x ascends through all mats of a zone. */
static int check_order(const struct sl_services *s, const struct mat_record *mats, uint32_t count) {
  float last = 0;
  for (uint32_t place = 0; place < count; place++) {
    const struct mat_record *record = &mats[place];
    const uint32_t mat = mat_of(record), is_first = place == 0 || zone_of(mat_of(record - 1)) != zone_of(mat);
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
static uint32_t sort_mats(const struct scifi_geometry_view *g, struct mat_record *mats) {
  uint8_t is_used[SCIFI_MAT_TABLE] = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < SCIFI_BANKS * SCIFI_BANK_LINKS; i++) {
    const uint32_t mat = (g->link_channel[i] >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT; /* wraps where nothing is connected */
    if (mat < SCIFI_MAT_TABLE) is_used[mat] = 1;
  }
  for (uint32_t mat = 0; mat < SCIFI_MAT_TABLE; mat++) {
    struct mat_record record;
    if (!is_used[mat]) continue;
    uint32_t to = count++;
    fill_record(g, mat, &record);
    for (; to > 0; to--) {
      const struct mat_record *before = &mats[to - 1];
      if (zone_of(mat_of(before)) != zone_of(mat) || edge_x(before, 0) <= edge_x(&record, 0)) break;
      mats[to] = *before;
    }
    mats[to] = record;
  }
  return count;
}

/* Links' first channels, by the mats' places; and where each zone's mats begin. */
static void number_mats(const struct scifi_geometry_view *g, const struct mat_record *mats, uint32_t count,
                        uint32_t *links, uint32_t *zone_mat) {
  uint32_t mat_first[SCIFI_MAT_TABLE] = {0};
  for (uint32_t place = 0; place < count; place++) {
    const uint32_t mat = mat_of(&mats[place]);
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
  struct mat_record *mats =
      (struct mat_record *)s->make_table(s->context, "mats", (uint64_t)RECORD_FLOATS * SCIFI_MAT_TABLE);
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

/* Takes the clusters of a halfword. Returns what is wrong with it. Most have no flag, and are a cluster by themselves;
 * the others join them where the cluster is taken, so that a warp goes through that once. */
static SL_DEVICE uint32_t take_halfword(const struct sorting *s, const struct scifi_bank_words *words, uint32_t i) {
  const uint32_t c = scifi_halfword(words->payload, i), begin = scifi_link_begin(words, c);
  const uint32_t has_flag = scifi_flag_of(c) | scifi_flag_of(scifi_halfword(words->payload, i - 1));
  struct scifi_bank_cursor cursor = scifi_bank_begin();
  struct scifi_cluster cluster;
  if (!has_flag && begin != SCIFI_NOT_CONNECTED) {
    cursor.last = scifi_cluster_at(begin + scifi_channel_of(c), scifi_fraction_of(c), SCIFI_SMALL);
    cursor.has_last = 1;
  } else if (!scifi_is_taken(words, i)) {
    cursor.next = i;
    scifi_take_halfword(words, &cursor);
  }
  while (scifi_taken_next(&cursor, &cluster)) take_key(s, &cluster);
  return cursor.faults;
}

/* ----------------------------------------------------------------------------------------------------- words */

/* An event's banks. Words with halfwords are numbered through them: `place` is the first one's of each bank, and beyond
 * the last bank that of no word, so that a binary search ends there. */
struct event_banks {
  uint32_t place[BANK_SLOTS], first_word[BANK_SLOTS], claims[CLAIM_WORDS]; /* a bit for each row */
  uint16_t end[BANK_SLOTS];                                                /* in halfwords */
  uint8_t row[BANK_SLOTS], version[BANK_SLOTS];
};

/* Checks bank `i` of the event and remembers it. Returns 0 if it is refused; `words` is how many it has. */
static SL_DEVICE uint32_t check_bank(const struct decode_args *a, uint32_t event, uint32_t i, struct event_banks *e,
                                     uint32_t *words) {
  struct scifi_bank_words w;
  const uint32_t index = a->banks.offsets[event] + i;
  const struct bank b = open_bank(a, index);
  const uint32_t error = open_words(a, &b, &w);
  *words = (w.end - 1) / 2;
  if (error != SCIFI_NO_ERROR) {
    sl_event_fail(&a->events, event, error, b.source_id);
    return 0;
  }
  if (atomicOr(&e->claims[b.row / 32], 1u << b.row % 32) >> b.row % 32 & 1) {
    sl_event_fail(&a->events, event, SCIFI_TWO_BANKS, b.row);
    return 0;
  }
  if (i >= BANK_SLOTS - 1) return 1; /* of so many one is refused */
  e->first_word[i] = a->banks.first_word[index];
  e->end[i] = (uint16_t)w.end;
  e->row[i] = (uint8_t)b.row;
  e->version[i] = (uint8_t)b.version;
  return 1;
}

/* Numbers the words of an event's banks, a thread a bank. Returns how many there are, or 0 if the event is refused.
 * Every thread of the block calls it, and sees all banks then. */
static SL_DEVICE uint32_t number_words(const struct decode_args *a, uint32_t event, struct event_banks *e) {
  const uint32_t banks = a->banks.offsets[event + 1] - a->banks.offsets[event];
  uint32_t sum = 0, wrong = 0;
  for (uint32_t i = threadIdx.x; i < BANK_SLOTS; i += blockDim.x) e->place[i] = UINT32_MAX;
  for (uint32_t i = threadIdx.x; i < CLAIM_WORDS; i += blockDim.x) e->claims[i] = 0;
  __syncthreads();
  SL_FOR_BLOCK (i, banks) {
    uint32_t words = 0, total;
    if (i < banks && !check_bank(a, event, i, e, &words)) wrong = 1;
    const uint32_t place = sum + sl_block_exclusive_scan(words, &total);
    if (i < banks && i < BANK_SLOTS - 1) e->place[i] = place;
    sum += total;
  }
  return sl_block_sum_u32(wrong) > 0 ? 0 : sum;
}

/* The bank of word `j`: the last one that does not begin after it. */
static SL_DEVICE uint32_t find_bank(const struct event_banks *e, uint32_t j) {
  uint32_t bank = 0;
  for (uint32_t step = BANK_SLOTS / 2; step > 0; step /= 2)
    if (e->place[bank + step] <= j) bank += step;
  return bank;
}

/* Takes the clusters of this thread's words, of so many in the event; tells what is lost. */
static SL_DEVICE void take_words(const struct decode_args *a, uint32_t event, const struct event_banks *e,
                                 uint32_t count, const struct sorting *s) {
  for (uint32_t j = threadIdx.x; j < count; j += blockDim.x) {
    const uint32_t bank = find_bank(e, j), i = SCIFI_HEADER + 2 * (j - e->place[bank]);
    struct scifi_bank_words words;
    words.payload = a->banks.payload + e->first_word[bank];
    words.link_channel = a->links + e->row[bank] * SCIFI_BANK_LINKS;
    words.version = e->version[bank];
    words.end = e->end[bank];
    uint32_t faults = 0;
    SL_ROLLED
    for (uint32_t k = i; k < i + 2 && k < words.end; k++) faults |= take_halfword(s, &words, k);
    if (faults) tell_faults(a, event, faults, a->banks.source_id[a->banks.offsets[event] + bank]);
  }
}

/* ----------------------------------------------------------------------------------------------------- count */

/* Writes where each mat and each zone begins, a thread four mats at a time. Returns how many hits there are. */
static SL_DEVICE uint32_t place_mats(const struct decode_args *a, uint32_t event, const uint32_t *counts) {
  uint16_t *mat_first = a->mat_first + (size_t)event * SCIFI_MATS;
  uint32_t sum = 0;
  SL_FOR_BLOCK (i, SCIFI_MATS / 4) {
    const uint32_t *four = counts + 4 * (i < SCIFI_MATS / 4 ? i : 0);
    uint32_t total;
    const uint32_t mine = i < SCIFI_MATS / 4 ? four[0] + four[1] + four[2] + four[3] : 0;
    uint32_t first = sum + sl_block_exclusive_scan(mine, &total);
    for (uint32_t k = 0; k < 4 && i < SCIFI_MATS / 4; k++) {
      mat_first[4 * i + k] = (uint16_t)first;
      first += four[k];
    }
    sum += total;
  }
  __syncthreads();
  for (uint32_t zone = threadIdx.x; zone < ZONE_SLOTS; zone += blockDim.x) {
    const uint32_t mat = a->zone_mat[zone];
    a->hits.zone_first[(size_t)event * ZONE_SLOTS + zone] = mat < SCIFI_MATS ? mat_first[mat] : (uint16_t)sum;
  }
  return sum;
}

SL_KERNEL(decode_count, struct decode_args) {
  __shared__ struct event_banks banks;
  __shared__ uint32_t counts[SCIFI_MATS];
  const struct sorting s = {NULL, counts};
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = threadIdx.x; i < SCIFI_MATS; i += blockDim.x) counts[i] = 0;
    const uint32_t words = number_words(&a, event, &banks);
    take_words(&a, event, &banks, words, &s);
    __syncthreads();
    const uint32_t hits = place_mats(&a, event, counts);
    if (threadIdx.x == 0) {
      a.hits.offsets[event] = hits > SCIFI_HITS_MAX ? 0 : hits;
      if (hits > SCIFI_HITS_MAX) sl_event_fail(&a.events, event, SCIFI_TOO_MANY_HITS, hits);
    }
    __syncthreads(); /* counts are free */
  }
}

/* ----------------------------------------------------------------------------------------------------- write */

/* Writes the hit whose key stands at `slot` to its place in the event: after those of its mat with smaller channels, or
 * before them, where x descends. */
static SL_DEVICE void place_hit(const struct decode_args *a, const struct sorting *s, uint32_t event, uint32_t slot) {
  const uint32_t *keys = s->keys, key = keys[slot], mat = mat_of_key(key), channel = key >> KEY_CHANNEL_BIT;
  const uint32_t first = mat > 0 ? s->next[mat - 1] : 0, end = s->next[mat];
  const struct mat_record record = *record_of(a, mat);
  uint32_t before = 0, equal = 0;
  for (uint32_t i = first; i < end; i++) {
    before += keys[i] >> KEY_CHANNEL_BIT < channel ? 1u : 0u;
    equal += keys[i] >> KEY_CHANNEL_BIT == channel ? 1u : 0u;
  }
  const uint32_t to = a->hits.offsets[event] + (is_reversed(&record) ? end - 1 - before : first + before);
  write_hit(a, to, key, &record);
  if (equal > 1) refuse_two_hits(a, event, sl_bits_from_f32(record.first_id) + (channel & (MAT_CHANNELS - 1)));
}

SL_KERNEL(decode_write, struct decode_args) {
  __shared__ struct event_banks banks;
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
    const uint32_t words = number_words(&a, event, &banks);
    take_words(&a, event, &banks, words, &s);
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
