/* json.c: see json.h. One growing string; `filled` determines where a comma is needed. */
#include "base/json.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sl_json_begin(struct sl_json *j) { memset(j, 0, sizeof(*j)); }

void sl_json_free(struct sl_json *j) {
  free(j->text);
  memset(j, 0, sizeof(*j));
}

const char *sl_json_text(const struct sl_json *j) { return j->failed ? NULL : j->text ? j->text : ""; }

int sl_json_finish(struct sl_json *j, FILE *file) {
  const char *text = sl_json_text(j);
  const int status = !text ? SL_ENOMEM : fprintf(file, "%s\n", text) < 0 ? SL_EIO : SL_OK;
  sl_json_free(j);
  return status;
}

static void put(struct sl_json *j, const char *bytes, size_t count) {
  if (j->length + count + 1 > j->allocated) {
    const size_t allocated = 2 * (j->length + count) + 64;
    char *grown = realloc(j->text, allocated);
    if (!grown) {
      j->failed = 1;
      return;
    }
    j->text = grown;
    j->allocated = allocated;
  }
  memcpy(j->text + j->length, bytes, count);
  j->length += count;
  j->text[j->length] = '\0';
}

static void put_text(struct sl_json *j, const char *text) { put(j, text, strlen(text)); }

static void put_line_start(struct sl_json *j) {
  if (j->one_line) return;
  put(j, "\n", 1);
  for (uint32_t i = 0; i < j->depth; i++) put(j, "  ", 2);
}

/* ------------------------------------------------------------------------------------------------- text */

static void put_quoted(struct sl_json *j, const char *text) {
  char written[SL_TEXT_BYTES];
  put(j, "\"", 1);
  while (*text) {
    text += sl_text_json(text, written);
    put_text(j, written);
  }
  put(j, "\"", 1);
}

/* -------------------------------------------------------------------------------------------- structure */

/* Writes the comma, line break and key before a value. Fails if calls are not nested correctly. */
static void put_key(struct sl_json *j, const char *key) {
  const int in_object = j->depth > 0 && j->closers[j->depth - 1] == '}';
  if (in_object != (key != NULL) || (j->depth == 0 && j->filled[0])) j->failed = 1;
  if (j->failed) return;
  if (j->filled[j->depth]) put(j, ",", 1);
  j->filled[j->depth] = 1;
  if (j->depth) put_line_start(j);
  if (!key) return;
  put_quoted(j, key);
  put(j, ": ", 2);
}

static void put_value(struct sl_json *j, const char *key, const char *value) {
  put_key(j, key);
  if (!j->failed) put_text(j, value);
}

static void open_level(struct sl_json *j, const char *key, const char *opener, char closer) {
  if (j->depth == SL_JSON_DEPTH_MAX) j->failed = 1;
  put_value(j, key, opener);
  if (j->failed) return;
  j->closers[j->depth++] = closer;
  j->filled[j->depth] = 0;
}

static void close_level(struct sl_json *j, char closer) {
  if (j->depth == 0 || j->closers[j->depth - 1] != closer) j->failed = 1;
  if (j->failed) return;
  const int filled = j->filled[j->depth];
  j->depth--;
  if (filled) put_line_start(j);
  put(j, &closer, 1);
}

void sl_json_begin_object(struct sl_json *j, const char *key) { open_level(j, key, "{", '}'); }
void sl_json_end_object(struct sl_json *j) { close_level(j, '}'); }
void sl_json_begin_array(struct sl_json *j, const char *key) { open_level(j, key, "[", ']'); }
void sl_json_end_array(struct sl_json *j) { close_level(j, ']'); }

/* ----------------------------------------------------------------------------------------------- values */

void sl_json_integer(struct sl_json *j, const char *key, int64_t value) {
  char text[32];
  snprintf(text, sizeof(text), "%lld", (long long)value);
  put_value(j, key, text);
}

void sl_json_unsigned(struct sl_json *j, const char *key, uint64_t value) {
  char text[32];
  snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
  put_value(j, key, text);
}

/* 15 digits represent every shorter decimal, because %g drops trailing zeros, except for subnormal numbers, which have
 * fewer digits; 17 digits always read back exactly. */
void sl_json_number(struct sl_json *j, const char *key, double value) {
  char text[40] = "null";
  if (isfinite(value))
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
      snprintf(text, sizeof(text), "%.*g", digits, value);
      if (strtod(text, NULL) == value) break;
    }
  put_value(j, key, text);
}

void sl_json_string(struct sl_json *j, const char *key, const char *value) {
  put_key(j, key);
  if (j->failed) return;
  if (value)
    put_quoted(j, value);
  else
    put_text(j, "null");
}

void sl_json_boolean(struct sl_json *j, const char *key, int value) { put_value(j, key, value ? "true" : "false"); }

void sl_json_raw(struct sl_json *j, const char *key, const char *json) {
  put_key(j, key);
  while (!j->failed && *json) {
    const size_t line_bytes = strcspn(json, "\n");
    put(j, json, line_bytes);
    json += line_bytes;
    if (*json == '\n') {
      json++;
      if (*json) put_line_start(j);
    }
  }
}

void sl_json_add_raw(struct sl_json *j, const char *json, size_t bytes) {
  if (!j->failed) put(j, json, bytes);
}
