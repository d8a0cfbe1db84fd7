/* lh5_codec.h: the codec uleb128_zigzag_diff of LH5 files: differences of consecutive samples in groups of 7 bits. */
#ifndef HDF5_LH5_CODEC_H
#define HDF5_LH5_CODEC_H

#include <stdint.h>

/* The most bytes of a code: a difference of two samples of 16 bits has 17 bits. */
enum { LH5_CODE_BYTES_MAX = 3 };

enum {
  LH5_CODE_OK,
  LH5_CODE_SHORT, /* the bytes end within sample `sample` */
  LH5_CODE_LONG,  /* bytes are left after the last sample */
  LH5_CODE_RANGE  /* sample `sample` does not have 16 bits */
};
struct lh5_decoded {
  uint32_t result; /* LH5_CODE_... */
  uint32_t sample;
};

/* Decodes `samples` values from exactly `count` bytes, which may be anything. Reads and writes nothing else. */
struct lh5_decoded lh5_decode(const uint8_t *bytes, uint64_t count, uint16_t *values, uint32_t samples);

#endif
