/* markup.h: text in XML, and in the labels of Graphviz, which are like it. */
#ifndef SL_MARKUP_H
#define SL_MARKUP_H

#include <stdio.h>

/* Control characters become `?`; bytes of UTF-8 stay. */
static inline void sl_write_markup_character(char c, FILE *file) {
  switch (c) {
    case '&':
      fputs("&amp;", file);
      break;
    case '<':
      fputs("&lt;", file);
      break;
    case '>':
      fputs("&gt;", file);
      break;
    case '"':
      fputs("&quot;", file);
      break;
    default:
      fputc((unsigned char)c < 0x20 ? '?' : c, file);
  }
}

#endif
