/* table_text.h: formats lines of tables. */
#ifndef SL_TABLE_TEXT_H
#define SL_TABLE_TEXT_H

#include <stdarg.h>

/* Returns the text that vprintf would print, with `-`, padded to the same width, for infinite numbers and NaN
 * (undefined values). The caller frees it; NULL if out of memory. */
char *sl_table_text(const char *format, va_list arguments);

#endif
