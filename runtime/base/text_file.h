/* text_file.h: a FILE that collects its text in memory. Unlike open_memstream in some C libraries, it never loses text
 * silently if memory is out. */
#ifndef SL_TEXT_FILE_H
#define SL_TEXT_FILE_H

#include <stddef.h>
#include <stdio.h>

struct sl_text_file {
  FILE *file;
  char *text; /* valid after sl_text_close: zero-terminated; the caller frees it */
  size_t bytes, allocated;
  int failed;
  char buffer[1024];
};

/* Returns the file to write to, or NULL if out of memory. `t` must not move until it is closed. */
FILE *sl_text_open(struct sl_text_file *t);
/* Returns SL_OK, or SL_ENOMEM without a text if anything is missing. */
int sl_text_close(struct sl_text_file *t);

#endif
