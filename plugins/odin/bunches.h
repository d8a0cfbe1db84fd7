/* bunches.h: reads lists of bunch slots such as "1-100, 894, 2000-2010" into a bit mask. On the host. */
#ifndef ODIN_BUNCHES_H
#define ODIN_BUNCHES_H

#include "odin/event_model.h"

#include <string.h>

enum { ODIN_BUNCH_WORDS = (ODIN_SLOTS + 31) / 32, ODIN_NO_SLOT = 0xFFFF };

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\n"); }

/* Reads a number and skips it and blanks after it. Returns ODIN_NO_SLOT if there is none; for a number that is too
 * large, some value of at least ODIN_SLOTS. */
static uint32_t read_slot(const char **at) {
  const uint32_t digits = (uint32_t)strspn(*at, "0123456789");
  uint32_t slot = 0;
  for (uint32_t i = 0; i < digits && slot < ODIN_SLOTS; i++) slot = 10 * slot + (uint32_t)((*at)[i] - '0');
  *at = skip_blanks(*at + digits);
  return digits > 0 ? slot : ODIN_NO_SLOT;
}

/* Returns a message for an invalid range, or NULL. `after`: character after the range. */
static const char *fault_of_range(uint32_t first, uint32_t last, char after) {
  if (first == ODIN_NO_SLOT || last == ODIN_NO_SLOT || (after != ',' && after != '\0'))
    return "is neither a bunch slot nor a range of them, such as 894 or 1-100";
  if (first >= ODIN_SLOTS || last >= ODIN_SLOTS) return "goes beyond the last bunch slot, 3563";
  return last < first ? "ends before it begins" : NULL;
}

/* Sets the bits of the slots of a list that is not empty. Reports each invalid entry and returns SL_EINVAL then. */
static int read_bunches(const struct sl_services *s, const char *text, uint32_t *mask) {
  int status = SL_OK;
  for (const char *entry = text, *next; entry; entry = next) {
    entry = skip_blanks(entry);
    const uint32_t length = (uint32_t)strcspn(entry, ",");
    const char *at = entry;
    const uint32_t first = read_slot(&at);
    uint32_t last = first;
    if (*at == '-') {
      at = skip_blanks(at + 1);
      last = read_slot(&at);
    }
    const char *fault = fault_of_range(first, last, *at);
    if (fault) {
      s->message(s->context, SL_ERROR, "bunches: \"%.*s\" %s", (int)length, entry, fault);
      status = SL_EINVAL;
    }
    for (uint32_t slot = first; !fault && slot <= last; slot++) mask[slot / 32] |= 1u << slot % 32;
    next = entry[length] == ',' ? entry + length + 1 : NULL;
  }
  return status;
}

#endif
