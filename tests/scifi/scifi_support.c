/* scifi_support.c: see scifi_support.h. */
#include "scifi_support.h"

struct sl_test *detector_new(const char *path) {
  struct sl_test *t = sl_test_new(SCIFI_PLUGIN, "geometry");
  sl_test_set_text(t, "path", path ? path : "");
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

struct sl_test *decoder_new(const struct sl_test *detector, const struct banks_case *b) {
  struct sl_test *t = sl_test_new(SCIFI_PLUGIN, "decode");
  banks_give(t, "banks", b);
  give(t, "geometry", detector, "geometry", DECODER_FIELDS);
  return t;
}

void halfwords_put(struct halfwords *h, uint32_t link, uint32_t channel, uint32_t fraction, uint32_t flag) {
  if (h->count == 0) h->count = SCIFI_HEADER;
  assert_true(h->count < sizeof h->at / sizeof h->at[0]);
  h->at[h->count++] = (uint16_t)(link << 9 | channel << 2 | fraction << 1 | flag);
}

/* Adds a halfword at the middle of `width` channels. */
static void put_piece(struct halfwords *h, uint32_t link, uint32_t channel, uint32_t width, uint32_t flag) {
  halfwords_put(h, link, channel + (width - 1) / 2, (width - 1) % 2, flag);
}

void halfwords_put_cluster(struct halfwords *h, uint32_t version, uint32_t link, uint32_t channel, uint32_t width) {
  const uint32_t before = (width - 1) / SCIFI_SMALL * SCIFI_SMALL; /* channels before the last piece */
  if (before == 0) {
    put_piece(h, link, channel, width, 0);
  } else if (version >= 6) {
    halfwords_put(h, link, channel + 1, version != 7, 1);
    halfwords_put(h, link, channel + width - 1, 0, 1);
  } else {
    for (uint32_t at = 0; at < (version == 4 ? before : 1); at += SCIFI_SMALL)
      put_piece(h, link, channel + at, SCIFI_SMALL, 1);
    put_piece(h, link, channel + before, width - before, 1);
  }
}

void banks_add_halfwords(struct banks_case *b, uint32_t version, uint32_t source_id, struct halfwords *h) {
  if (h->count == 0) h->count = SCIFI_HEADER;
  h->at[h->count] = 0;
  banks_add(b, (uint8_t)version, (uint16_t)source_id, h->at, 4 * ((h->count + 1) / 2));
  h->count = 0;
}
