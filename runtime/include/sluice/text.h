/* text.h: UTF-8 text for XML 1.0 and JSON. Names, titles and paths may contain any bytes; the text written by these
 * functions is always well-formed.
 */
#ifndef SLUICE_TEXT_H
#define SLUICE_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Buffer size for one character written by sl_text_xml or sl_text_json, with the terminating zero. */
enum { SL_TEXT_BYTES = 8 };

/* Returns the character at `text`, and its length in *bytes. Returns 0 with length 1 at the end, and for bytes that are
 * not UTF-8: truncated, overlong, a surrogate, or beyond U+10FFFF. */
static inline uint32_t sl_text_character(const char *text, uint32_t *bytes) {
  const unsigned char *c = (const unsigned char *)text;
  const uint32_t length = c[0] < 0x80 ? 1 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
  const uint32_t smallest = length < 3 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  uint32_t character = c[0] & (0xFFu >> (length + 1));
  *bytes = 1;
  if (length == 1) return c[0];
  if (c[0] < 0xC2 || c[0] > 0xF4) return 0;
  for (uint32_t i = 1; i < length; i++) {
    if ((c[i] & 0xC0) != 0x80) return 0;
    character = character << 6 | (c[i] & 0x3Fu);
  }
  if (character < smallest || character > 0x10FFFF || (character >= 0xD800 && character <= 0xDFFF)) return 0;
  *bytes = length;
  return character;
}

/* Writes the character at `text` for XML 1.0, between tags or in a quoted value. Tabs and line breaks become blanks;
 * characters that XML forbids or that are not UTF-8 become U+FFFD. Returns the number of bytes of `text` consumed. */
static inline uint32_t sl_text_xml(const char *text, char written[SL_TEXT_BYTES]) {
  uint32_t bytes;
  const uint32_t character = sl_text_character(text, &bytes);
  const int is_control = character < ' ' || (character >= 0x7F && character < 0xA0);
  if (character == '\t' || character == '\n' || character == '\r')
    snprintf(written, SL_TEXT_BYTES, " ");
  else if (is_control || (character & 0xFFFE) == 0xFFFE)
    snprintf(written, SL_TEXT_BYTES, "\xEF\xBF\xBD");
  else if (character < 0x80 && strchr("&<>\"'", (int)character))
    snprintf(written, SL_TEXT_BYTES, "&#%u;", character);
  else
    snprintf(written, SL_TEXT_BYTES, "%.*s", (int)bytes, text);
  return bytes;
}

/* Writes the character at `text` for a JSON string: control characters are escaped, bytes that are not UTF-8 become
 * U+FFFD. Returns the number of bytes of `text` consumed. */
static inline uint32_t sl_text_json(const char *text, char written[SL_TEXT_BYTES]) {
  static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
  uint32_t bytes;
  const uint32_t character = sl_text_character(text, &bytes);
  const char *found = character > 0 && character < 0x80 ? strchr(plain, (int)character) : NULL;
  if (found)
    snprintf(written, SL_TEXT_BYTES, "\\%c", letters[found - plain]);
  else if (character == 0)
    snprintf(written, SL_TEXT_BYTES, "\\ufffd");
  else if (character < ' ' || (character >= 0x7F && character < 0xA0))
    snprintf(written, SL_TEXT_BYTES, "\\u%04x", character & 0xFFFFu);
  else
    snprintf(written, SL_TEXT_BYTES, "%.*s", (int)bytes, text);
  return bytes;
}

/* The word for a count: `one` for 1, else `many`. "1 event has", "0 events have". */
static inline const char *sl_plural(uint64_t count, const char *one, const char *many) {
  return count == 1 ? one : many;
}

#ifdef __cplusplus
}
#endif

#endif
