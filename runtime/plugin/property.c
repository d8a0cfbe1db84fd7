/* property.c: see property.h. */
#include "plugin/property.h"

#include "plugin/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t sl_property_count(const struct sl_member *m) { return m->count > 0 ? m->count : 1; }

/* ------------------------------------------------------------------------------------------------- arrays */

const char *sl_next_item(const char *text, const char **item, size_t *length) {
  *item = NULL;
  *length = 0;
  if (*text != '[' && *text != ',') return NULL;
  const char *begin = text + 1 + strspn(text + 1, " ");
  const size_t bytes = strcspn(begin, ",[]");
  const char *end = begin + bytes;
  if ((*end != ',' && *end != ']') || (*end == ']' && end[1] != '\0')) return NULL;
  *item = begin;
  *length = bytes;
  while (*length > 0 && begin[*length - 1] == ' ') (*length)--;
  return end;
}

static int read_number(const char *text, size_t length, double *value) {
  char *end;
  if (length == 0) return 0;
  *value = strtod(text, &end);
  return end == text + length && isfinite(*value);
}

int sl_array_read(const char *text, double *values, uint32_t count) {
  const char *item;
  size_t length;
  uint32_t found = 0, good = 1;
  while (good && *text != ']') {
    text = sl_next_item(text, &item, &length);
    good = text && found < count && read_number(item, length, &values[found]);
    found += good;
  }
  return good && found == count;
}

/* ------------------------------------------------------------------------------------------------ choices */

const char *sl_choice_name(const struct sl_member *m, uint32_t index, size_t *length) {
  const char *word = "";
  *length = 0;
  for (const char *rest = sl_next_word(m->choices, &word, length); rest; rest = sl_next_word(rest, &word, length))
    if (index-- == 0) return word;
  *length = 0;
  return "";
}

int sl_choice_index(const struct sl_member *m, const char *name) {
  const char *word;
  size_t length;
  int index = 0;
  for (const char *rest = sl_next_word(m->choices, &word, &length); rest; rest = sl_next_word(rest, &word, &length)) {
    if (strlen(name) == length && memcmp(word, name, length) == 0) return index;
    index++;
  }
  return -1;
}

/* ------------------------------------------------------------------------------------------------- values */

void sl_property_store(const struct sl_member *m, uint32_t index, double number, uint64_t integer, void *args) {
  char *place = (char *)args + m->args_offset + (size_t)index * sl_type_bytes(m->type);
  switch (m->type) {
    case SL_TYPE_f32:
      memcpy(place, &(float){(float)number}, sizeof(float));
      break;
    case SL_TYPE_f64:
      memcpy(place, &number, sizeof(double));
      break;
    case SL_TYPE_i32:
      memcpy(place, &(int32_t){(int32_t)number}, sizeof(int32_t));
      break;
    case SL_TYPE_u64:
      memcpy(place, &integer, sizeof(uint64_t));
      break;
    case SL_TYPE_bool:
    case SL_TYPE_enumeration:
    case SL_TYPE_u32:
      memcpy(place, &(uint32_t){(uint32_t)integer}, sizeof(uint32_t));
      break;
    default:
      break; /* strings are stored elsewhere; the plugin check admits no other type */
  }
}

const char *sl_number_text(uint32_t type, double number, char text[SL_NUMBER_TEXT_BYTES]) {
  if (type != SL_TYPE_f32 && type != SL_TYPE_f64) {
    if (number >= 0x1p64) /* the range of u64 ends at 2^64 */
      snprintf(text, SL_NUMBER_TEXT_BYTES, "%s", "18446744073709551615");
    else
      snprintf(text, SL_NUMBER_TEXT_BYTES, "%.0f", number + 0.0); /* + 0.0 turns -0 into 0 */
    return text;
  }
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, SL_NUMBER_TEXT_BYTES, "%.*g", digits, number);
    const double again = strtod(text, NULL);
    if (type == SL_TYPE_f32 ? (float)again == (float)number : again == number) break;
  }
  return text;
}
