/* received_text.c: see received_text.h. */
#include "base/received_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int drop(struct sl_received_text *t, const char *reason, int status) {
  free(t->text);
  *t = (struct sl_received_text){.dropped = reason};
  return status;
}

/* Makes room for `bytes` more bytes and a zero byte. */
static int reserve(struct sl_received_text *t, uint64_t bytes) {
  if (t->dropped) return SL_EINVAL;
  if (bytes > SL_TEXT_BYTES_MAX - t->bytes) return drop(t, "it is longer than 16 MiB", SL_EINVAL);
  if (t->bytes + bytes < t->capacity) return SL_OK;
  const uint64_t larger = 2 * (t->bytes + bytes) + 4096;
  char *text = realloc(t->text, larger);
  if (!text) return drop(t, "out of memory", SL_ENOMEM);
  t->text = text;
  t->capacity = larger;
  return SL_OK;
}

static int add(void *context, const char *text, uint64_t bytes) {
  struct sl_received_text *t = context;
  const int status = reserve(t, bytes);
  if (status < 0) return status;
  if (bytes > 0) memcpy(t->text + t->bytes, text, bytes);
  t->bytes += bytes;
  t->text[t->bytes] = '\0';
  return SL_OK;
}

static void print(void *context, const char *format, ...) {
  struct sl_received_text *t = context;
  va_list arguments;
  va_start(arguments, format);
  const int bytes = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (bytes < 0 || reserve(t, (uint64_t)bytes) < 0) return;
  va_start(arguments, format);
  vsnprintf(t->text + t->bytes, (size_t)bytes + 1, format, arguments);
  va_end(arguments);
  t->bytes += (uint64_t)bytes;
}

struct sl_text_calls sl_received_text_calls(struct sl_received_text *t) {
  return (struct sl_text_calls){.size = sizeof(struct sl_text_calls), .context = t, .add = add, .print = print};
}
