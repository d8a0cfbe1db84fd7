/* lh5_codec.c: see lh5_codec.h. A difference d is the code 2 d, or -2 d - 1 if it is negative; the first sample is a
 * difference to 0. Codes are little-endian groups of 7 bits; the high bit of a byte means that another group follows.
 */
#include "lh5_codec.h"

struct lh5_decoded lh5_decode(const uint8_t *bytes, uint64_t count, uint16_t *values, uint32_t samples) {
  const uint8_t *const end = bytes + count;
  uint32_t value = 0;
  for (uint32_t i = 0; i < samples; i++) {
    if (bytes == end) return (struct lh5_decoded){LH5_CODE_SHORT, i};
    uint32_t code = *bytes++;
    if (code & 0x80) {
      code &= 0x7f;
      for (uint32_t group = 1;; group++) {
        if (group == LH5_CODE_BYTES_MAX) return (struct lh5_decoded){LH5_CODE_RANGE, i};
        if (bytes == end) return (struct lh5_decoded){LH5_CODE_SHORT, i};
        code |= (uint32_t)(*bytes & 0x7f) << 7 * group;
        if ((*bytes++ & 0x80) == 0) break;
      }
    }
    value += code >> 1 ^ (0u - (code & 1));
    if (value > UINT16_MAX) return (struct lh5_decoded){LH5_CODE_RANGE, i};
    values[i] = (uint16_t)value;
  }
  return (struct lh5_decoded){bytes == end ? LH5_CODE_OK : LH5_CODE_LONG, samples};
}
