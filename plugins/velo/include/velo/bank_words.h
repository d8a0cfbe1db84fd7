/* bank_words.h: number of clusters of a VELO bank before it is decoded, for kernels (README.md, "Banks"). */
#ifndef VELO_BANK_WORDS_H
#define VELO_BANK_WORDS_H

#include <sluice/kernel.h>

/* Words of a bank that follow its number of words, if it has one. */
struct velo_bank_words {
  const uint32_t *words;
  uint32_t count; /* 0 for a damaged bank: the decoder reports the error */
};

static SL_DEVICE struct velo_bank_words velo_bank_words(const uint32_t *payload, uint32_t size_bytes,
                                                        uint32_t version) {
  struct velo_bank_words bank = {payload, size_bytes / 4};
  if (version == 4) return bank;
  if (version != 2 && version != 3) bank.count = 0;
  if (bank.count == 0) return bank;
  bank.words = payload + 1;
  bank.count = payload[0] < bank.count ? payload[0] : 0;
  return bank;
}

/* Groups of adjacent pixels in a super-pixel, 0 to 2: each run of occupied rows is one. The number of clusters of an
 * event is at most the sum over its super-pixels, since groups of neighbouring super-pixels are joined. */
static SL_DEVICE uint32_t velo_superpixel_groups(uint32_t word) {
  const uint32_t rows = (word | word >> 4) & 0xF;
  return (uint32_t)sl_count_bits(rows & ~(rows << 1));
}

#endif
