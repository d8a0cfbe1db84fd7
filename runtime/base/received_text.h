/* received_text.h: a growing text that a plugin appends to, by struct sl_text_calls of sluice/host.h. */
#ifndef SL_RECEIVED_TEXT_H
#define SL_RECEIVED_TEXT_H

#include <sluice/host.h>

/* Initialise it with zeros; `text` is to be freed. */
struct sl_received_text {
  char *text; /* ends with a zero byte; NULL: nothing was added */
  uint64_t bytes, capacity;
  const char *dropped; /* why the text was dropped; NULL: it was not */
};

struct sl_text_calls sl_received_text_calls(struct sl_received_text *t);

#endif
