/* text_file.h: a FILE that gathers what is written to it in memory. Unlike open_memstream of some C libraries it never
 * loses text without saying so when memory is out. */
#ifndef SL_TEXT_FILE_H
#define SL_TEXT_FILE_H

#include <stddef.h>
#include <stdio.h>

struct sl_text_file {
  FILE *file;
  char *text; /* after sl_text_close: zero-terminated; the caller's to free */
  size_t bytes, allocated;
  int failed;
  char buffer[1024];
};

/* The file to write to, NULL when memory is out. `t` stays where it is until it is closed. */
FILE *sl_text_open(struct sl_text_file *t);
/* SL_OK; or SL_ENOMEM if anything is missing, and then there is no text. */
int sl_text_close(struct sl_text_file *t);

#endif
