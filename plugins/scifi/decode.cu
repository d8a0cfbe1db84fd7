/* scifi.decode: SciFi hits from raw banks of versions 4 to 8, by zone, sorted by x (README.md, "Hits").
 *   decode_sort   checks the banks, makes a key of each halfword, counts the keys of each SiPM, lists keys by SiPM
 *   scan          turns the numbers of hits into offsets
 *   decode_write  ranks each key among those of its SiPM and writes its hit
 * Parallelism: one thread per word of two halfwords. Three of four halfwords are single clusters; the others are listed
 * and processed by one thread per chain, so that not every warp waits for a chain.
 * Determinism: the order in the list of a SiPM depends on threads, but the ranks do not; no two keys are equal.
 * Cost per hit: 2 bytes read, 8 written and read again, 13 written; two comparisons. 5 kB of headers per event.
 * Plain version: tests/scifi/decode_reference.h. CPU version: decode.cpu.c; without it the default sequence executes 15
 * % more instructions on a CPU.
 */
#include "decode.h"

#define DECODE_ERROR_(name, code, text) {code, 0, text},
static const struct sl_event_error decode_errors[] = {
    SCIFI_BANK_ERRORS(DECODE_ERROR_){SCIFI_TWO_BANKS, 0,
                                     "two SciFi banks of one source (detail: its number among the geometry's 240)"},
    {SCIFI_TWO_HITS, 0, "SciFi banks have two clusters at one channel (detail: the channel)"},
    {SCIFI_TOO_MANY_HITS, 0, "more than 65535 SciFi hits in an event (detail: their number)"},
    {SCIFI_LOST_LINK, 0,
     "SciFi clusters of links that are not connected are ignored (detail: the source id of their bank)"},
    {SCIFI_LOST_PAIR, 0,
     "flags, channels or fractions of clusters in a SciFi bank are inconsistent (detail: its source id)"}};

/* ------------------------------------------------------------------------------------------------------ keys */

/* Keys ascend with x: in a reversed mat the channel in the key is counted from the other end. The upper bits of the key
 * of a halfword are the number of further clusters, each SCIFI_SMALL channels further. */
enum {
  KEY_REVERSED_BIT = KEY_CHANNEL_BIT + 20,
  KEY_REPEAT_BIT = KEY_REVERSED_BIT + 1,
  KEY_SIPM_BIT = KEY_CHANNEL_BIT + (int)SCIFI_SIPM_BIT,
  SIPMS = SCIFI_MATS * (int)MAT_CHANNELS / SCIFI_SIPM_CHANNELS,
  NO_KEY = 0
};
/* Bits of channel and fraction in a halfword, and their shift in the key of a single cluster. */
enum { HALFWORD_POSITION = 0x1FE, HALFWORD_SHIFT = KEY_SIZE_BITS - 1 };
SL_STATIC_ASSERT(REVERSED == 1 << 20 && KEY_REPEAT_BIT + 5 <= 32, "a key is 32 bits");

/* Bits that are inverted in the key of a reversed mat. */
enum { ALL_CHANNELS = (MAT_CHANNELS - 1) << KEY_CHANNEL_BIT };
SL_MATH_FUNCTION uint32_t reversal_of(uint32_t key) {
  return (0u - (key >> KEY_REVERSED_BIT & 1)) & (uint32_t)ALL_CHANNELS;
}

SL_MATH_FUNCTION uint32_t key_of(uint32_t channel, uint32_t fraction, uint32_t pseudo_size) {
  const uint32_t key = channel << KEY_CHANNEL_BIT | fraction << KEY_SIZE_BITS | pseudo_size;
  return key ^ reversal_of(key);
}

enum { BELOW_REVERSED = (1 << KEY_REVERSED_BIT) - 1 };

static SL_DEVICE uint32_t sipm_of_key(uint32_t key) { return key >> KEY_SIPM_BIT & (SIPMS - 1); }

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

/* x of edge `i` of the dies of a mat (begin and end of each die), by ascending x. */
static float edge_x(const struct mat_record *record, uint32_t i) {
  const uint32_t from_first = is_reversed(record) ? 2 * MAT_CHANNELS / SCIFI_DIE_CHANNELS - 1 - i : i;
  const uint32_t is_end = from_first % 2;
  return x_of(record,
              u_of(record, from_first / 2 * SCIFI_DIE_CHANNELS + (is_end ? SCIFI_DIE_CHANNELS - 1 : 0), is_end));
}

/* Returns SL_OK if x ascends through all mats of each zone; else reports an error and returns SL_EINVAL. */
static int check_order(const struct sl_services *s, const struct mat_record *mats, uint32_t count) {
  float last = 0;
  for (uint32_t index = 0; index < count; index++) {
    const struct mat_record *record = &mats[index];
    const uint32_t mat = mat_of(record), is_first = index == 0 || zone_of(mat_of(record - 1)) != zone_of(mat);
    for (uint32_t i = 0; i < 2 * MAT_CHANNELS / SCIFI_DIE_CHANNELS; i++) {
      const float x = edge_x(record, i);
      if (!(is_first && i == 0) && !(x > last)) {
        s->message(s->context, SL_ERROR, "mat %u of the geometry overlaps another mat, or some of its channels overlap",
                   mat);
        return SL_EINVAL;
      }
      last = x;
    }
  }
  return SL_OK;
}

/* Makes records of the connected mats, sorted by zone and x. Returns their number. */
static uint32_t sort_mats(const struct scifi_geometry_view *g, struct mat_record *mats) {
  uint8_t is_used[SCIFI_MAT_TABLE] = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < SCIFI_BANKS * SCIFI_BANK_LINKS; i++) {
    const uint32_t mat = (g->link_channel[i] >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT; /* wraps if not connected */
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

/* Fills links, link_keys and zone_mat by the sorted indices of the mats. */
static void number_mats(const struct scifi_geometry_view *g, const struct mat_record *mats, uint32_t count,
                        uint32_t *links, uint32_t *link_keys, uint32_t *zone_mat) {
  uint32_t mat_first[SCIFI_MAT_TABLE] = {0};
  for (uint32_t index = 0; index < count; index++) {
    const uint32_t mat = mat_of(&mats[index]);
    mat_first[mat] =
        (uint32_t)ONE_MORE | (is_reversed(&mats[index]) ? (uint32_t)REVERSED : 0u) | index << SCIFI_MAT_BIT;
    for (uint32_t zone = zone_of(mat) + 1; zone < ZONE_SLOTS; zone++) zone_mat[zone] = index + 1;
  }
  for (uint32_t i = 0; i < SCIFI_BANKS * SCIFI_BANK_LINKS; i++) {
    const uint32_t channel = g->link_channel[i], mat = (channel >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
    links[i] = mat < SCIFI_MAT_TABLE ? mat_first[mat] | (channel & (MAT_CHANNELS - 1)) : (uint32_t)SCIFI_NOT_CONNECTED;
    link_keys[i] = links[i] != SCIFI_NOT_CONNECTED ? key_of(links[i], 0, SCIFI_SMALL) : (uint32_t)NO_KEY;
  }
}

static int prepare(const struct sl_services *s, void *args) {
  struct decode_args *a = (struct decode_args *)args;
  struct mat_record *mats =
      (struct mat_record *)s->make_table(s->context, "mats", (uint64_t)RECORD_FLOATS * SCIFI_MAT_TABLE);
  uint32_t *links = (uint32_t *)s->make_table(s->context, "links", SCIFI_BANKS * SCIFI_BANK_LINKS);
  uint32_t *link_keys = (uint32_t *)s->make_table(s->context, "link_keys", SCIFI_BANKS * SCIFI_BANK_LINKS);
  uint32_t *zone_mat = (uint32_t *)s->make_table(s->context, "zone_mat", ZONE_SLOTS);
  uint8_t *source_row = (uint8_t *)s->make_table(s->context, "source_row", SOURCE_IDS);
  if (!mats || !links || !link_keys || !zone_mat || !source_row) return SL_ENOMEM;
  const uint32_t count = sort_mats(&a->geometry, mats);
  if (count > SCIFI_MATS) {
    s->message(s->context, SL_ERROR, "links of the geometry have SiPMs of %u mats, expected at most %u", count,
               (uint32_t)SCIFI_MATS);
    return SL_EINVAL;
  }
  number_mats(&a->geometry, mats, count, links, link_keys, zone_mat);
  memset(source_row, NO_ROW, SOURCE_IDS);
  for (uint32_t row = SCIFI_BANKS; row-- > 0;)
    if (a->geometry.source_id[row] < SOURCE_IDS) source_row[a->geometry.source_id[row]] = (uint8_t)row;
  return check_order(s, mats, count);
}

/* ----------------------------------------------------------------------------------------------------- words */

/* Groups of numbers for one load or store. */
struct two {
  uint32_t of[2];
} __attribute__((aligned(8)));
struct four {
  uint32_t of[4];
} __attribute__((aligned(16)));

/* The banks of an event that have clusters. Their words with halfwords are numbered through the event: `first` is the
 * first word of each bank, or UINT32_MAX after the last bank. `chunk` is the bank of every 2^chunk_bit-th word. */
enum { CHUNKS = 256, CHUNK_BIT_MIN = 5 };
struct event_banks {
  uint32_t first[BANK_SLOTS], claims[CLAIM_WORDS]; /* claims: a bit for each row that has a bank */
  struct two record[BANK_SLOTS];                   /* first word in the payloads, packed_bank */
  uint8_t chunk[CHUNKS];
  uint32_t begins[CHUNKS]; /* for chunks of 32 words: a bit for each word that is the first of a bank */
  uint32_t count, chunk_bit;
};

/* A bank: end in halfwords, version, row, index in the event. */
enum { BANK_VERSION_BIT = 10, BANK_ROW_BIT = 14, BANK_INDEX_BIT = 22 };
static SL_DEVICE uint32_t packed_bank(uint32_t end, uint32_t version, uint32_t row, uint32_t i) {
  return end | version << BANK_VERSION_BIT | row << BANK_ROW_BIT | i << BANK_INDEX_BIT;
}
static SL_DEVICE uint32_t bank_end(uint32_t packed) { return packed & ((1u << BANK_VERSION_BIT) - 1); }
static SL_DEVICE uint32_t bank_version(uint32_t packed) { return packed >> BANK_VERSION_BIT & 15; }
static SL_DEVICE uint32_t bank_row(uint32_t packed) { return packed >> BANK_ROW_BIT & 255; }
static SL_DEVICE uint32_t bank_index(uint32_t packed) { return packed >> BANK_INDEX_BIT; }

/* Checks bank `i` of the event. Returns 0 if it is refused, else its packed_bank, and in *words its number of words. */
static SL_DEVICE uint32_t check_bank(const struct decode_args *a, uint32_t event, uint32_t i, struct event_banks *e,
                                     uint32_t *words) {
  struct scifi_bank_words w;
  const struct bank b = open_bank(a, a->banks.offsets[event] + i);
  const uint32_t error = open_words(a, &b, &w);
  *words = 0;
  if (error != SCIFI_NO_ERROR) {
    sl_event_fail(&a->events, event, error, b.source_id);
    return 0;
  }
  if (atomicOr(&e->claims[b.row / 32], 1u << b.row % 32) >> b.row % 32 & 1) {
    sl_event_fail(&a->events, event, SCIFI_TWO_BANKS, b.row);
    return 0;
  }
  *words = (w.end - 1) / 2;
  return packed_bank(w.end, b.version, b.row, i);
}

/* Fills chunk, chunk_bit and begins, one thread per bank. */
static SL_DEVICE void fill_chunks(struct event_banks *e, uint32_t words) {
  uint32_t bit = CHUNK_BIT_MIN;
  while (words >> bit >= CHUNKS) bit++;
  for (uint32_t bank = threadIdx.x; bank < e->count; bank += blockDim.x) {
    const uint32_t end = bank + 1 < e->count ? e->first[bank + 1] : words;
    const uint32_t first = e->first[bank];
    for (uint32_t c = (first + (1u << bit) - 1) >> bit; c << bit < end; c++) e->chunk[c] = (uint8_t)bank;
    if (bit == CHUNK_BIT_MIN) atomicOr(&e->begins[first / 32], 1u << first % 32);
  }
  if (threadIdx.x == 0) e->chunk_bit = bit;
}

/* Numbers the words of the banks of an event, one thread per bank. Returns their number, or 0 if the event is refused.
 * Called by all threads of the block; afterwards all of them see the banks. */
static SL_DEVICE uint32_t number_words(const struct decode_args *a, uint32_t event, struct event_banks *e) {
  const uint32_t banks = a->banks.offsets[event + 1] - a->banks.offsets[event];
  uint32_t sum = 0, wrong = 0; /* sum: words | banks with words << COUNT_BIT */
  enum { COUNT_BIT = 24 };
  for (uint32_t i = threadIdx.x; i < BANK_SLOTS; i += blockDim.x) e->first[i] = UINT32_MAX;
  for (uint32_t i = threadIdx.x; i < CLAIM_WORDS; i += blockDim.x) e->claims[i] = 0;
  for (uint32_t i = threadIdx.x; i < CHUNKS; i += blockDim.x) e->begins[i] = 0;
  __syncthreads();
  SL_FOR_BLOCK (i, banks) {
    uint32_t words = 0, packed = 0, total;
    if (i < banks) {
      packed = check_bank(a, event, i, e, &words);
      wrong |= packed == 0;
    }
    const uint32_t before = sum + sl_block_exclusive_scan(words | (words > 0 ? 1u << COUNT_BIT : 0u), &total);
    const uint32_t slot = before >> COUNT_BIT;
    if (words > 0 && slot < BANK_SLOTS - 1) { /* with more banks, one is refused */
      e->first[slot] = before & ((1u << COUNT_BIT) - 1);
      e->record[slot].of[0] = a->banks.first_word[a->banks.offsets[event] + i];
      e->record[slot].of[1] = packed;
    }
    sum += total;
  }
  if (threadIdx.x == 0) e->count = sum >> COUNT_BIT;
  if (sl_block_sum_u32(wrong) > 0) return 0;
  const uint32_t words = sum & ((1u << COUNT_BIT) - 1);
  fill_chunks(e, words);
  __syncthreads();
  return words;
}

/* The bank of word `j`: the last one with first <= j. In chunks of 32 words it follows from the number of banks that
 * begin in the chunk up to j. */
static SL_DEVICE uint32_t find_bank(const struct event_banks *e, uint32_t j) {
  if (e->chunk_bit == CHUNK_BIT_MIN) return e->chunk[j / 32] + sl_count_bits(e->begins[j / 32] & ((2u << j % 32) - 2));
  uint32_t bank = e->chunk[j >> e->chunk_bit];
  while (e->first[bank + 1] <= j) bank++;
  return bank;
}

/* ------------------------------------------------------------------------------------------------------ sort */

/* A chain is a sequence of halfwords that may form clusters together. The first halfword of each chain is listed, so
 * that chains are distributed over all threads; if the list overflows, chains are searched again in take_chains. */
enum { LIST_SIZE = 1024 };

/* Decoding of an event by a block, in shared memory. */
struct decoding {
  struct event_banks banks;
  uint32_t next[SIPMS] __attribute__((aligned(16))); /* per SiPM: number of keys, then index of the next key */
  uint32_t list[LIST_SIZE], listed;                  /* halfwords with which chains begin; their number */
  uint32_t words_begin, keys_begin;
};

/* The keys of the halfwords, two per word. */
static SL_DEVICE struct two *word_keys(const struct decode_args *a, const struct decoding *d) {
  return (struct two *)(void *)a->halfword_keys + d->words_begin;
}

/* 1 if a halfword may belong to a cluster with the previous halfword, if both have the same link. */
static SL_DEVICE uint32_t may_join(uint32_t version, uint32_t before, uint32_t c) {
  return scifi_flag_of(before) & (version > 5 ? 1u : version > 4 ? scifi_flag_of(c) : 0u);
}

/* The key of the first channel of a halfword's link, or NO_KEY. */
static SL_DEVICE uint32_t link_key_of(const uint32_t *link_keys, uint32_t c) {
  const uint32_t link = scifi_link_of(c), is_one = link < SCIFI_BANK_LINKS ? 1u : 0u;
  const uint32_t key = link_keys[is_one ? link : 0];
  return is_one ? key : (uint32_t)NO_KEY;
}

/* The key of a halfword that is a single cluster; else begins_chain: 1 if a chain begins with it. */
struct single {
  uint32_t key, begins_chain;
};

/* Counts the key of a halfword that is a single cluster. `before`: the previous halfword of the bank, or 0. */
static SL_DEVICE struct single take_single(struct decoding *d, uint32_t link_key, uint32_t version, uint32_t c,
                                           uint32_t before) {
  const uint32_t joins = may_join(version, before, c), is_one = link_key != NO_KEY ? 1u : 0u;
  struct single single = {NO_KEY, 0};
  if (is_one & ~(scifi_flag_of(c) | joins)) {
    single.key = link_key ^ (c & HALFWORD_POSITION) << HALFWORD_SHIFT;
    atomicAdd(&d->next[sipm_of_key(single.key)], 1u);
  } else {
    single.begins_chain = is_one & joins && scifi_link_of(c) == scifi_link_of(before) ? 0u : 1u;
  }
  return single;
}

/* Lists halfwords `index` and `index` + 1 of the event if chains begin with them. */
static SL_DEVICE void list_chains(struct decoding *d, uint32_t is_first, uint32_t is_second, uint32_t index) {
  if (is_first + is_second == 0) return;
  const uint32_t entry = atomicAdd(&d->listed, is_first + is_second);
  if (is_first && entry < LIST_SIZE) d->list[entry] = index;
  if (is_second && entry + is_first < LIST_SIZE) d->list[entry + is_first] = index + 1;
}

/* 1 if halfword `i` of a bank belongs to the chain of the previous one. */
static SL_DEVICE uint32_t is_joined(const struct scifi_bank_words *words, uint32_t i) {
  return i > SCIFI_HEADER &&
         scifi_may_pair(words, scifi_halfword(words->payload, i - 1), scifi_halfword(words->payload, i));
}

/* 1 if take_single would list halfword `i` of a bank. */
static SL_DEVICE uint32_t begins_chain(const struct scifi_bank_words *words, uint32_t i) {
  const uint32_t c = scifi_halfword(words->payload, i);
  const uint32_t before = i > SCIFI_HEADER ? scifi_halfword(words->payload, i - 1) : 0;
  return !is_joined(words, i) &&
         (scifi_flag_of(c) || may_join(words->version, before, c) || scifi_link_begin(words, c) == SCIFI_NOT_CONNECTED);
}

/* Makes the keys of all single clusters of the event and lists the chains. Loads are grouped, to overlap them: a word
 * and the word before it (for the first one the header), then the link keys. */
static SL_DEVICE void take_words(const struct decode_args *a, struct decoding *d, uint32_t count) {
  for (uint32_t j = threadIdx.x; j < count; j += blockDim.x) {
    const uint32_t bank = find_bank(&d->banks, j), in_bank = j - d->banks.first[bank];
    const struct two record = d->banks.record[bank];
    const uint32_t *payload = a->banks.payload + record.of[0] + SCIFI_HEADER / 2 + in_bank;
    const uint32_t *link_keys = a->link_keys + bank_row(record.of[1]) * SCIFI_BANK_LINKS;
    const uint32_t version = bank_version(record.of[1]), word = payload[0], before = payload[-1] >> 16;
    const uint32_t first = word & 0xFFFF, second = word >> 16;
    const uint32_t first_key = link_key_of(link_keys, first), second_key = link_key_of(link_keys, second);
    const struct single none = {NO_KEY, 0};
    const struct single of_first = take_single(d, first_key, version, first, in_bank > 0 ? before : 0);
    const struct single of_second = SCIFI_HEADER + 2 * in_bank + 1 < bank_end(record.of[1])
                                        ? take_single(d, second_key, version, second, first)
                                        : none;
    const struct two keys = {{of_first.key, of_second.key}};
    word_keys(a, d)[j] = keys;
    list_chains(d, of_first.begins_chain, of_second.begins_chain, 2 * j);
  }
}

/* Counts and stores the keys of the halfwords that the cursor passed from `begin` on; the first one is halfword `index`
 * of the event. The key of the first halfword stands for all pieces except the last. */
static SL_DEVICE void store_keys(const struct decode_args *a, struct decoding *d,
                                 const struct scifi_bank_cursor *cursor, uint32_t begin, uint32_t index) {
  const struct scifi_cluster *last = &cursor->last, *piece = &cursor->piece;
  const uint32_t is_pair = cursor->next - begin - 1, pieces = cursor->pieces;
  uint32_t *keys = (uint32_t *)a->halfword_keys + 2 * (size_t)d->words_begin + index;
  uint32_t key = NO_KEY;
  if (cursor->has_last) {
    key = key_of(last->channel, last->fraction, last->pseudo_size);
    atomicAdd(&d->next[sipm_of_key(key)], 1 + pieces);
  }
  if (is_pair) keys[1] = pieces > 0 ? key : (uint32_t)NO_KEY;
  if (pieces > 0) key = key_of(piece->channel, piece->fraction, piece->pseudo_size) | (pieces - 1) << KEY_REPEAT_BIT;
  keys[0] = key;
}

/* Makes the keys of a chain that begins with halfword `first` of its bank, `index` of the event. Returns its faults. */
static SL_DEVICE uint32_t take_chain(const struct decode_args *a, struct decoding *d,
                                     const struct scifi_bank_words *words, uint32_t first, uint32_t index) {
  uint32_t faults = 0, i = first, c = scifi_halfword(words->payload, first), before;
  SL_ROLLED
  do {
    struct scifi_bank_cursor cursor = scifi_bank_begin();
    cursor.next = i + 1;
    const uint32_t c2 = scifi_next_halfword(words, &cursor);
    scifi_take_read(words, c, c2, &cursor);
    store_keys(a, d, &cursor, i, index + i - first);
    faults |= cursor.faults;
    before = cursor.next == i + 1 ? c : c2;
    c = cursor.next == i + 1 ? c2 : scifi_next_halfword(words, &cursor);
    i = cursor.next;
  } while (i < words->end && scifi_may_pair(words, before, c));
  return faults;
}

/* Makes the keys of all chains of the event (`count` words) and reports their faults. */
static SL_DEVICE void take_chains(const struct decode_args *a, uint32_t event, struct decoding *d, uint32_t count) {
  const uint32_t is_full = d->listed > LIST_SIZE, entries = is_full ? 2 * count : d->listed;
  for (uint32_t k = threadIdx.x; k < entries; k += blockDim.x) {
    const uint32_t index = is_full ? k : d->list[k], bank = find_bank(&d->banks, index / 2);
    const uint32_t packed = d->banks.record[bank].of[1], i = SCIFI_HEADER + index - 2 * d->banks.first[bank];
    struct scifi_bank_words words;
    words.payload = a->banks.payload + d->banks.record[bank].of[0];
    words.link_channel = a->links + bank_row(packed) * SCIFI_BANK_LINKS;
    words.version = bank_version(packed);
    words.end = bank_end(packed);
    if (is_full && (i >= words.end || !begins_chain(&words, i))) continue;
    const uint32_t faults = take_chain(a, d, &words, i, index);
    if (faults) report_faults(a, event, faults, a->banks.source_id[a->banks.offsets[event] + bank_index(packed)]);
  }
}

/* After all keys are counted: turns `next` into the first key of each SiPM and writes zone_first. Returns the number of
 * hits. */
static SL_DEVICE uint32_t scan_sipms(const struct decode_args *a, uint32_t event, uint32_t *next) {
  const uint32_t each = (SIPMS / 4 + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * each;
  const uint32_t end = begin + each < SIPMS / 4 ? begin + each : (uint32_t)(SIPMS / 4);
  struct four *fours = (struct four *)(void *)next;
  uint32_t sum = 0, total;
  for (uint32_t i = begin; i < end; i++) sum += fours[i].of[0] + fours[i].of[1] + fours[i].of[2] + fours[i].of[3];
  uint32_t first = sl_block_exclusive_scan(sum, &total);
  for (uint32_t i = begin; i < end; i++) {
    const struct four counts = fours[i];
    struct four firsts;
    SL_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
      firsts.of[k] = first;
      first += counts.of[k];
    }
    fours[i] = firsts;
  }
  __syncthreads();
  for (uint32_t zone = threadIdx.x; zone < ZONE_SLOTS; zone += blockDim.x) {
    const uint32_t mat = a->zone_mat[zone];
    a->hits.zone_first[(size_t)event * ZONE_SLOTS + zone] =
        (uint16_t)(mat < SCIFI_MATS ? next[mat * (SIPMS / SCIFI_MATS)] : total);
  }
  return total;
}

/* Lists the keys of `count` words by SiPM. The two atomic operations of a word overlap. */
static SL_DEVICE void list_keys(const struct decode_args *a, struct decoding *d, uint32_t count) {
  for (uint32_t j = threadIdx.x; j < count; j += blockDim.x) {
    const struct two keys = word_keys(a, d)[j];
    uint32_t indices[2] = {0, 0};
    SL_UNROLL
    for (uint32_t half = 0; half < 2; half++)
      if (keys.of[half] != NO_KEY)
        indices[half] = atomicAdd(&d->next[sipm_of_key(keys.of[half])], 1 + (keys.of[half] >> KEY_REPEAT_BIT));
    SL_UNROLL
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t repeats = keys.of[half] >> KEY_REPEAT_BIT, key = keys.of[half] & ((1u << KEY_REPEAT_BIT) - 1);
      uint32_t *to = a->keys + d->keys_begin + indices[half];
      if (keys.of[half] == NO_KEY) continue;
      *to = key & BELOW_REVERSED;
      SL_ROLLED
      for (uint32_t r = 1; r <= repeats; r++)
        to[r] = (((key ^ reversal_of(key)) + (r * SCIFI_SMALL << KEY_CHANNEL_BIT)) ^ reversal_of(key)) & BELOW_REVERSED;
    }
  }
}

SL_KERNEL(decode_begin, struct decode_args) {
  for (uint32_t i = sl_grid_thread(); i < 2; i += sl_grid_threads()) a.used[i] = 0;
}

SL_KERNEL_REGISTERS(decode_sort, struct decode_args, 40) {
  __shared__ struct decoding d;
  SL_FOR_EVENTS (event, a.events) {
    const struct four none = {{0, 0, 0, 0}};
    for (uint32_t i = threadIdx.x; i < SIPMS / 4; i += blockDim.x) ((struct four *)(void *)d.next)[i] = none;
    if (threadIdx.x == 0) d.listed = 0;
    const uint32_t words = number_words(&a, event, &d.banks);
    if (threadIdx.x == 0) d.words_begin = atomicAdd(&a.used[0], words);
    __syncthreads();
    take_words(&a, &d, words);
    __syncthreads();
    take_chains(&a, event, &d, words);
    __syncthreads();
    const uint32_t hits = scan_sipms(&a, event, d.next), is_too_many = hits > SCIFI_HITS_MAX;
    if (threadIdx.x == 0) {
      a.hits.offsets[event] = is_too_many ? 0 : hits;
      if (is_too_many) sl_event_fail(&a.events, event, SCIFI_TOO_MANY_HITS, hits);
      d.keys_begin = atomicAdd(&a.used[1], is_too_many ? 0 : hits);
      a.keys_begin[event] = d.keys_begin;
    }
    __syncthreads();
    /* If the keys of all events do not fit, the slice overflows and has no hits. */
    if (!is_too_many && d.keys_begin + hits <= a.hits.bound.capacity) list_keys(&a, &d, words);
    __syncthreads(); /* shared memory is free for the next event */
  }
}

/* ----------------------------------------------------------------------------------------------------- write */

/* Neighbours in the list that are loaded together. */
enum { NEIGHBOURS = 3 };

static SL_DEVICE uint32_t is_of_sipm(uint32_t key, uint32_t near) {
  return (near ^ key) >> KEY_SIPM_BIT == 0 ? 1u : 0u;
}

/* Loads up to NEIGHBOURS of the `count` keys before `at`, nearest first; the rest is NO_KEY. */
static SL_DEVICE void read_before(const uint32_t *at, uint32_t count, uint32_t *near) {
  SL_UNROLL
  for (uint32_t k = 0; k < NEIGHBOURS; k++) near[k] = count > k ? at[-1 - (int32_t)k] : (uint32_t)NO_KEY;
}

/* Loads up to NEIGHBOURS of the `count` keys after `at`, nearest first; the rest is UINT32_MAX. */
static SL_DEVICE void read_after(const uint32_t *at, uint32_t count, uint32_t *near) {
  SL_UNROLL
  for (uint32_t k = 0; k < NEIGHBOURS; k++) near[k] = count > k ? at[1 + k] : UINT32_MAX;
}

/* Number of the `count` keys before `at` that are larger than `key`, which is at `at`; keys of other SiPMs are smaller.
 * `near`: the first of them; *least: smallest XOR with one of them. */
static SL_DEVICE uint32_t count_above(const uint32_t *at, uint32_t count, uint32_t key, uint32_t *near,
                                      uint32_t *least) {
  uint32_t above = 0;
  for (;;) {
    SL_UNROLL
    for (uint32_t k = 0; k < NEIGHBOURS; k++) {
      above += near[k] > key ? 1u : 0u;
      *least = (near[k] ^ key) < *least ? near[k] ^ key : *least;
    }
    if (!is_of_sipm(key, near[NEIGHBOURS - 1])) return above;
    at -= NEIGHBOURS;
    count -= NEIGHBOURS;
    read_before(at, count, near);
  }
}

/* Number of the `count` keys after `at` that are smaller than `key`. */
static SL_DEVICE uint32_t count_below(const uint32_t *at, uint32_t count, uint32_t key, uint32_t *near) {
  uint32_t below = 0;
  for (;;) {
    SL_UNROLL
    for (uint32_t k = 0; k < NEIGHBOURS; k++) below += near[k] < key ? 1u : 0u;
    if (!is_of_sipm(key, near[NEIGHBOURS - 1])) return below;
    at += NEIGHBOURS;
    count -= NEIGHBOURS;
    read_after(at, count, near);
  }
}

/* Writes the hit of the key listed at `slot` to the index given by its rank in the SiPM. Key and neighbours are loaded
 * together. */
static SL_DEVICE void write_ranked_hit(const struct decode_args *a, uint32_t event, uint32_t event_hits,
                                       const uint32_t *keys, uint32_t hits, uint32_t slot) {
  const uint32_t *at = keys + slot, key = *at;
  uint32_t before[NEIGHBOURS], after[NEIGHBOURS], least = UINT32_MAX;
  read_before(at, slot, before);
  read_after(at, hits - slot - 1, after);
  const struct mat_record record = *record_of(a, mat_of_key(key));
  const uint32_t above = count_above(at, slot, key, before, &least);
  const uint32_t below = count_below(at, hits - slot - 1, key, after);
  const uint32_t own_key = key ^ (is_reversed(&record) ? (uint32_t)ALL_CHANNELS : 0u);
  write_hit(a, event_hits + slot - above + below, own_key, &record);
  if (least >> KEY_CHANNEL_BIT == 0)
    refuse_two_hits(a, event, sl_bits_from_f32(record.first_id) + (own_key >> KEY_CHANNEL_BIT & (MAT_CHANNELS - 1)));
}

/* Blocks per event, so that large events do not leave most of a GPU idle. */
#if defined(SL_TARGET_CPU)
enum { PARTS = 1 };
#else
enum { PARTS = 2 };
#endif

SL_KERNEL(decode_write, struct decode_args) {
  for (uint32_t i = blockIdx.x; i < PARTS * *a.events.count; i += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, i / PARTS), part = i % PARTS;
    const uint32_t begin = a.hits.offsets[event], hits = a.hits.offsets[event + 1] - begin;
    if (hits == 0 && part == 0) /* no hits, event refused, or the slice overflowed */
      for (uint32_t z = threadIdx.x; z < ZONE_SLOTS; z += blockDim.x)
        a.hits.zone_first[(size_t)event * ZONE_SLOTS + z] = 0;
    const uint32_t *keys = a.keys + a.keys_begin[event];
    for (uint32_t slot = part * blockDim.x + threadIdx.x; slot < hits; slot += PARTS * blockDim.x)
      write_ranked_hit(&a, event, begin, keys, hits, slot);
  }
}

static int run(const struct sl_launch *l, const struct decode_args *a) {
  int error = SL_LAUNCH(l, decode_begin, SL_PER_NODE(1), *a);
  if (!error) error = SL_COUNT_SCAN(l, decode_sort, SL_PER_EVENT, a->hits.offsets, &a->hits.bound, *a);
  if (!error) error = SL_LAUNCH(l, decode_write, SL_PER_CHUNK((uint64_t)PARTS * l->events_max), *a);
  return error;
}

SL_ALGORITHM(decode, "SciFi hits from raw banks, by zone, sorted by x", 256, run, SL_ERRORS_OF(decode_errors),
             SL_PREPARE(prepare), SL_CPU_TUNED(scifi_decode_tuned));
