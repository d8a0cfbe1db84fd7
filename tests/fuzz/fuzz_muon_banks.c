/* fuzz_muon_banks.c: the reader of the muon chambers' raw banks on any payload. Two bytes select version and source.
 * The reader stays inside of the payload, ends, and returns tiles of the map with times of 4 bits. The hit lists that
 * muon.decode uses must have the hits that are read one by one. */
#define _GNU_SOURCE
#include "fuzz_file.h"
#include "muon/bank_words.h"
#include "muon/channels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HALVES = MUON_TELL40S * MUON_HALVES, CHANNELS_MAX = HALVES * MUON_HALF_CHANNELS, HEAD_BYTES = 2 };

/* The nominal maps of both versions. */
static struct channel_map {
  uint32_t channel_first[HALVES + 1], tiles[CHANNELS_MAX], tell40_links[HALVES], tell40_station[MUON_TELL40S];
  uint32_t link_region[HALVES * MUON_LINKS], link_quarter[HALVES * MUON_LINKS];
} maps[2];

static void make_maps(void) {
  static struct muon_description d;
  char reason[256];
  require(statements_read(&muon_description_format, NULL, 0, &d, reason, sizeof reason) == 0);
  for (uint32_t i = 0; i < 2; i++) {
    struct channel_map *m = &maps[i];
    struct muon_geometry g = {0};
    g.channel_first = m->channel_first;
    g.tiles = m->tiles;
    g.tell40_links = m->tell40_links;
    g.tell40_station = m->tell40_station;
    g.link_region = m->link_region;
    g.link_quarter = m->link_quarter;
    if (i == 0) {
      muon_channels_sizes(&d, &g);
      muon_channels_fill(&d, g.tiles);
    } else {
      require(muon_links_fill(&d, &g));
    }
  }
}

/* Counts the digits of the hit lists that muon.decode uses; returns 0 if an address is unknown, else 1. */
static int count_lists(struct muon_reader *r, uint32_t *digits) {
  *digits = 0;
  if (r->fault) return 1;
  if (r->version == 2) {
    for (; muon_next_batch(r); r->at += r->left, r->left = 0) {
      for (uint32_t i = 0; i < r->left; i++) {
        const uint32_t address = muon_hit_address(muon_halfword(r->payload, r->at + i));
        if (address >= r->channels) return 0;
        *digits += r->tiles[address] != 0;
      }
    }
  } else {
    while (muon_next_link(r)) {
      const uint64_t hits = muon_link_hits(r->payload, r->link_at);
      for (uint32_t k = 0; k < MUON_LINK_CHANNELS; k++)
        *digits += (hits >> k & 1) && r->tiles[r->link * MUON_LINK_CHANNELS + k] != 0;
    }
  }
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (maps[0].channel_first[1] == 0) make_maps();
  if (size < HEAD_BYTES || size - HEAD_BYTES > UINT16_MAX) return 0;
  const size_t bytes = size - HEAD_BYTES;
  const uint32_t format = 2 + (data[0] >> 4 & 1), version = data[0] & 0xFu;
  uint32_t *payload =
      calloc(bytes > 0 ? (bytes + 3) / 4 : 1, sizeof *payload); /* whole words, like payloads of events */
  require(payload != NULL);
  memcpy(payload, data + HEAD_BYTES, bytes);
  const struct channel_map *m = &maps[format - 2];
  const struct muon_map map = {format, m->channel_first, m->tiles, m->tell40_links};
  const struct muon_bank_words bank = {payload, (uint32_t)bytes, version, data[1]};
  struct muon_reader reader, lists;
  struct muon_digit digit;
  uint32_t digits = 0, listed;
  muon_reader_begin(&reader, &map, &bank);
  lists = reader;
  for (; muon_reader_next(&reader, &digit); digits++) require(digit.tile != 0 && digit.time < 16);
  require(digits <= 7 * bytes && reader.fault < MUON_FAULT_COUNT && muon_fault_text(reader.fault)[0] != '\0');
  require(reader.fault != MUON_FINE || version != 2 || bytes % 2 == 0);
  const int is_known = count_lists(&lists, &listed);
  require(is_known == (reader.fault != MUON_UNKNOWN_ADDRESS) || reader.fault == MUON_TOO_SHORT);
  require(reader.fault != MUON_FINE || (lists.fault == MUON_FINE && digits == listed));
  free(payload);
  return 0;
}
