/* text_file.c: see text_file.h. The stream's buffer is part of the struct: if the C library could not allocate it, it
 * would drop text without setting an error. */
#define _GNU_SOURCE
#include "base/text_file.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static ssize_t add(void *cookie, const char *bytes, size_t count) {
  struct sl_text_file *t = cookie;
  if (t->bytes + count + 1 > t->allocated) {
    const size_t allocated = 2 * (t->bytes + count) + 256;
    char *larger = realloc(t->text, allocated);
    if (!larger) {
      t->failed = 1;
      return 0;
    }
    t->text = larger;
    t->allocated = allocated;
  }
  memcpy(t->text + t->bytes, bytes, count);
  t->bytes += count;
  t->text[t->bytes] = '\0';
  return (ssize_t)count;
}

FILE *sl_text_open(struct sl_text_file *t) {
  *t = (struct sl_text_file){.file = NULL};
  t->file = fopencookie(t, "w", (cookie_io_functions_t){.write = add});
  if (t->file) setvbuf(t->file, t->buffer, _IOFBF, sizeof t->buffer);
  return t->file;
}

int sl_text_close(struct sl_text_file *t) {
  const int is_open = t->file != NULL;
  if (is_open && fclose(t->file) != 0) t->failed = 1;
  if (is_open) add(t, "", 0); /* allocates the text even if nothing was written */
  t->file = NULL;
  if (is_open && !t->failed) return SL_OK;
  free(t->text);
  t->text = NULL;
  t->bytes = 0;
  return SL_ENOMEM;
}
