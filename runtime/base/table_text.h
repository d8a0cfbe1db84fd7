/* table_text.h: lines of tables for a person. */
#ifndef SL_TABLE_TEXT_H
#define SL_TABLE_TEXT_H

#include <stdarg.h>

/* What vprintf would print, with `-` in the place, and of the width, of a number that is infinite or not a number: a
 * value that is undefined. To be freed; NULL if memory is out. */
char *sl_table_text(const char *format, va_list arguments);

#endif
