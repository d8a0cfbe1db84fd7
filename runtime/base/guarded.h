/* guarded.h: allocations that notice when somebody writes outside of them. */
#ifndef SL_GUARDED_H
#define SL_GUARDED_H

#include <stddef.h>

/* `values` is aligned to 64 bytes and lies between canaries. AddressSanitizer, where present, is told that the canaries
 * are out of bounds, so that it sees reads too. */
struct sl_guarded {
  void *values; /* NULL: nothing allocated */
  size_t bytes;
  unsigned char salt;
};

enum { SL_POISON = 0xA5, SL_GUARDED_BYTES = 192 /* around the values, at most */ };

/* Filled with `fill`; the canaries' bytes differ with `salt`. `values` is NULL when memory is out. */
struct sl_guarded sl_guarded_new(size_t bytes, int fill, int salt);
void sl_guarded_free(struct sl_guarded *g);
/* 0; or 1 with where the nearest damaged byte lies: "3 bytes past its end". */
int sl_guarded_is_damaged(const struct sl_guarded *g, char *text, size_t size);

/* Tells AddressSanitizer, where present, that nobody is to touch these bytes, or that anybody may again. */
void sl_guarded_forbid(const void *from, size_t bytes);
void sl_guarded_permit(const void *from, size_t bytes);

#endif
