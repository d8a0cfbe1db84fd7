/* fuzz_calo.c: calo.decode on banks with any bytes. No read leaves the payloads, and no cell is written twice or
 * outside of the output. A refused event has no cells; other events have the cells and values of calo/bank_words.h.
 * The input is a sequence of banks: a byte with type and version, two of source id, two of size, the payload. */
#define _GNU_SOURCE
#define SL_TARGET_CPU 1
#include "../../plugins/calo/decode.cu"
#include "calo/description.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BANKS_MAX = 64, HEAD_BYTES = 5 };

struct banks {
  uint32_t offsets[2], first_word[BANKS_MAX], word_count;
  uint16_t source_id[BANKS_MAX], size_bytes[BANKS_MAX];
  uint8_t type[BANKS_MAX], version[BANKS_MAX];
  uint32_t *payload; /* of the exact size, so that any read beyond the end is detected */
};

static void read_banks(const uint8_t *data, size_t size, struct banks *b) {
  memset(b, 0, sizeof *b);
  b->payload = malloc(size + 4 * BANKS_MAX);
  require(b->payload != NULL);
  while (size >= HEAD_BYTES && b->offsets[1] < BANKS_MAX) {
    const uint32_t i = b->offsets[1]++, wanted = data[3] | (uint32_t)data[4] << 8;
    const uint32_t bytes = wanted < size - HEAD_BYTES ? wanted : (uint32_t)(size - HEAD_BYTES);
    b->type[i] = data[0] & 1 ? CALO_TYPE_BOARDS : CALO_TYPE_PACKED;
    b->version[i] = data[0] >> 1 & 7;
    b->source_id[i] = (uint16_t)(data[1] | data[2] << 8);
    b->size_bytes[i] = (uint16_t)bytes;
    b->first_word[i] = b->word_count;
    if (bytes % 4) b->payload[b->word_count + bytes / 4] = 0;
    memcpy(b->payload + b->word_count, data + HEAD_BYTES, bytes);
    b->word_count += (bytes + 3) / 4;
    data += HEAD_BYTES + bytes;
    size -= HEAD_BYTES + bytes;
  }
  uint32_t *exact = malloc(b->word_count ? 4 * b->word_count : 1);
  require(exact != NULL);
  memcpy(exact, b->payload, 4 * b->word_count);
  free(b->payload);
  b->payload = exact;
}

static void expect_value(int16_t *adc, const struct calo_geometry_view *g, uint32_t card, uint32_t channel,
                         int32_t value) {
  const uint32_t cell = g->channels[CALO_CARD_CHANNELS * card + channel];
  if (cell >= CALO_CELLS) return;
  require(adc[cell] == CALO_NO_ADC);
  adc[cell] = (int16_t)value;
}

/* Expected values of an event that is not refused. */
static void expect(const struct banks *b, const struct calo_geometry_view *g, int16_t *adc) {
  for (uint32_t i = 0; i < b->offsets[1]; i++) {
    const uint32_t *words = b->payload + b->first_word[i], count = b->size_bytes[i] / 4, version = b->version[i];
    struct calo_card card;
    uint32_t fault;
    if (b->type[i] == CALO_TYPE_PACKED) {
      for (uint32_t at = 0; at < count;) {
        at = calo_card_read(words, count, at, &card, &fault);
        require(fault == CALO_BANK_FINE);
        for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++)
          expect_value(adc, g, card.code - g->numbers[CALO_FIRST_CARD], k, calo_card_adc(words, &card, k));
      }
    } else if (calo_source_is_ecal(b->source_id[i])) {
      const int32_t *cards = g->card_index + CALO_BANK_CARDS * calo_source_number(b->source_id[i]);
      for (uint32_t k = 0; k < CALO_BANK_CARDS * CALO_CARD_CHANNELS; k++) {
        const uint32_t board = k / CALO_CARD_CHANNELS, channel = k % CALO_CARD_CHANNELS;
        if (cards[board] == CALO_NO_CARD || calo_group_is_off(words, version, board, channel / CALO_GROUP_CHANNELS))
          continue;
        expect_value(adc, g, (uint32_t)cards[board], channel, calo_board_adc(words, version, board, channel));
      }
    }
  }
}

static struct calo_description *open_description(void) {
  char reason[256];
  struct calo_description *d = malloc(sizeof *d);
  require(d != NULL);
  require(statements_read(&calo_description_format, NULL, 0, d, reason, sizeof reason) == 0);
  return d;
}

static void *make_table(void *context, const char *table, uint64_t count) {
  (void)table;
  return *(void **)context = calloc(count, sizeof(uint16_t));
}

/* Decodes the banks as one event; returns its error. */
static uint64_t decode_banks(const struct banks *b, const struct calo_geometry_view *g, int16_t *adc) {
  const uint32_t events = 1;
  uint64_t error = 0;
  void *fours = NULL;
  const struct sl_services services = {.context = &fours, .make_table = make_table};
  struct decode_args args;
  memset(&args, 0, sizeof args);
  args.geometry = *g;
  require(prepare(&services, &args) == SL_OK);
  args.fours = fours;
  args.events.count = &events;
  args.events.errors = &error;
  args.banks.offsets = b->offsets;
  args.banks.source_id = b->source_id;
  args.banks.type = b->type;
  args.banks.version = b->version;
  args.banks.size_bytes = b->size_bytes;
  args.banks.first_word = b->first_word;
  args.banks.payload = b->payload;
  args.cells.adc = adc;
  decode_cells(args);
  free(fours);
  return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct calo_description *d;
  if (!d) d = open_description();
  const uint32_t numbers[CALO_NUMBERS] = {3, d->first_card, d->card_count, d->source_count};
  const struct calo_geometry_view g = {.numbers = numbers, .channels = d->channels, .card_index = d->card_index};
  struct banks b;
  int16_t *adc = malloc(CALO_CELLS * sizeof *adc), *expected = malloc(CALO_CELLS * sizeof *expected);
  require(adc != NULL && expected != NULL);
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) expected[cell] = CALO_NO_ADC;
  read_banks(data, size, &b);
  const uint64_t error = decode_banks(&b, &g, adc);
  if (error == 0) expect(&b, &g, expected);
  require((error >> 32) <= CALO_DECODE_TWO_CARDS);
  require(memcmp(adc, expected, CALO_CELLS * sizeof *adc) == 0);
  free(b.payload);
  free(expected);
  free(adc);
  return 0;
}
