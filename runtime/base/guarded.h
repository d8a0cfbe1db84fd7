/* guarded.h: allocations that detect writes outside their bounds. */
#ifndef SL_GUARDED_H
#define SL_GUARDED_H

#include <stddef.h>

/* `values` is aligned to 64 bytes and surrounded by canaries. With AddressSanitizer the canaries are out of bounds, so
 * that it detects reads too. */
struct sl_guarded {
  void *values; /* NULL: nothing allocated */
  size_t bytes;
  unsigned char salt;
};

enum { SL_POISON = 0xA5, SL_GUARDED_BYTES = 192 /* canaries and padding, at most */ };

/* Allocates memory filled with `fill`; the bytes of the canaries depend on `salt`. `values` is NULL if out of
 * memory. */
struct sl_guarded sl_guarded_new(size_t bytes, int fill, int salt);
void sl_guarded_free(struct sl_guarded *g);
/* Returns 0, or 1 with the location of the nearest overwritten byte: "3 bytes past its end". */
int sl_guarded_is_damaged(const struct sl_guarded *g, char *text, size_t size);

/* Marks bytes as inaccessible or accessible for AddressSanitizer, if present. */
void sl_guarded_forbid(const void *from, size_t bytes);
void sl_guarded_permit(const void *from, size_t bytes);

#endif
