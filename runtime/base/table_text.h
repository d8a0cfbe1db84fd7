/* table_text.h: lines of tables for a person. */
#ifndef SL_TABLE_TEXT_H
#define SL_TABLE_TEXT_H

#include <stdarg.h>

/* The text that vprintf would print, with `-`, padded to the same width, for each number that is infinite or not a
 * number (an undefined value). The caller frees it; NULL if memory is out. */
char *sl_table_text(const char *format, va_list arguments);

#endif
