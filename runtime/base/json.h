/* json.h: writes JSON text into memory, indented by two blanks, with keys in the order of the calls.
 *
 * The first value is the document. Inside an object every call has a key; elsewhere the key is NULL. Text must be
 * UTF-8; other bytes become U+FFFD. If memory is out or calls are not nested correctly, sl_json_text returns NULL.
 */
#ifndef SL_JSON_H
#define SL_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SL_JSON_DEPTH_MAX = 64 };

struct sl_json {
  char *text; /* zero-terminated */
  size_t length, allocated;
  uint32_t depth;
  uint32_t failed;
  uint32_t one_line;                     /* set after sl_json_begin: no line breaks */
  char closers[SL_JSON_DEPTH_MAX];       /* closing characters of the open objects and arrays */
  uint8_t filled[SL_JSON_DEPTH_MAX + 1]; /* 1 if there is a value at this depth */
};

void sl_json_begin(struct sl_json *j);
void sl_json_free(struct sl_json *j);
/* Returns the document so far; owned by the writer, valid until its next call. NULL if a call failed. */
const char *sl_json_text(const struct sl_json *j);

/* Writes a finished document and frees it. Returns SL_ENOMEM or SL_EIO on failure. */
int sl_json_finish(struct sl_json *j, FILE *file);

void sl_json_begin_object(struct sl_json *j, const char *key);
void sl_json_end_object(struct sl_json *j);
void sl_json_begin_array(struct sl_json *j, const char *key);
void sl_json_end_array(struct sl_json *j);
void sl_json_integer(struct sl_json *j, const char *key, int64_t value);
void sl_json_unsigned(struct sl_json *j, const char *key, uint64_t value);
/* The shortest decimal that reads back as the same double; null for infinities and NaN. */
void sl_json_number(struct sl_json *j, const char *key, double value);
void sl_json_string(struct sl_json *j, const char *key, const char *value); /* NULL value: null */
void sl_json_boolean(struct sl_json *j, const char *key, int value);
/* A value given as JSON text; its lines are indented. */
void sl_json_raw(struct sl_json *j, const char *key, const char *json);
/* Adds a further piece to a value that sl_json_raw began; its lines are not indented. */
void sl_json_add_raw(struct sl_json *j, const char *json, size_t bytes);

#endif
