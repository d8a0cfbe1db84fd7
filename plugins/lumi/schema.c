/* schema.c: lumi.schema, a constant with the bit field of each counter in a luminosity summary.
 *
 * Packing rule of the format: a counter has as many bits as its largest value needs. By descending number of bits, then
 * in the order of the list, each counter goes into the first word with enough free bits, at the lowest free bit.
 * Counters that only full summaries have are packed separately, into words after the base summary.
 *
 * The encoding key of a summary is the XXH32 hash of its description.
 */
#include "lumi/counters.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SL_ARGS   schema_args
#define SCHEMA(M) M(OUT, schema, lumi_schema, "bit fields of the counters of base and full summaries")
SL_HOST_ARGUMENTS(schema, SCHEMA);

struct counter {
  const char *name;
  uint32_t max;
  double shift, scale;
};
#define ENTRY_(name, max, shift, scale) {#name, max, shift, scale},
static const struct counter counters[LUMI_COUNTERS] = {LUMI_BASE_COUNTERS(ENTRY_) LUMI_EXTRA_COUNTERS(ENTRY_)};

enum { WORD_BITS = 32, DOCUMENT_BYTES = 1 << 15 };

static uint32_t bits_of(uint32_t max) {
  uint32_t bits = 0;
  for (; max > 0; max >>= 1) bits++;
  return bits;
}

/* Packs counters [begin, end) into words from `first_word` on; returns the word after the last. */
static uint32_t pack(const struct lumi_schema *s, uint32_t begin, uint32_t end, uint32_t first_word) {
  uint32_t used[LUMI_COUNTERS] = {0}, words = 0; /* bits used in each word */
  for (uint32_t size = WORD_BITS; size > 0; size--)
    for (uint32_t c = begin; c < end; c++) {
      if (bits_of(counters[c].max) != size) continue;
      uint32_t word = 0;
      while (used[word] + size > WORD_BITS) word++;
      s->word[c] = (uint8_t)(first_word + word);
      s->bit[c] = (uint8_t)used[word];
      s->size_bits[c] = (uint8_t)size;
      used[word] += size;
      if (word == words) words++;
    }
  return first_word + words;
}

/* ------------------------------------------------------------------------------------------- descriptions */

struct text {
  char *bytes; /* DOCUMENT_BYTES */
  size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = vsnprintf(t->bytes + t->length, DOCUMENT_BYTES - t->length, format, arguments);
  va_end(arguments);
  if (written > 0) t->length += (size_t)written;
  if (t->length >= DOCUMENT_BYTES) t->length = DOCUMENT_BYTES - 1;
}

/* The counter with a field that begins at a bit of a summary, or LUMI_COUNTERS. */
static uint32_t counter_at(const struct lumi_schema *s, uint32_t end, uint32_t bit) {
  uint32_t c = 0;
  while (c < end && (uint32_t)s->word[c] * WORD_BITS + s->bit[c] != bit) c++;
  return c < end ? c : LUMI_COUNTERS;
}

/* Describes the summary of the first `end` counters, by ascending bit. */
static void describe(struct text *t, const struct lumi_schema *s, uint32_t end, uint32_t words) {
  const char *separator = "";
  add(t, "{\"version\": 0, \"size\": %u, \"counters\": [", 4 * words);
  for (uint32_t bit = 0; bit < words * WORD_BITS; bit++) {
    const uint32_t c = counter_at(s, end, bit);
    if (c == LUMI_COUNTERS) continue;
    add(t, "%s\n{\"name\": \"%s\", \"offset\": %u, \"size\": %u", separator, counters[c].name, bit, s->size_bits[c]);
    if (counters[c].scale != 1) add(t, ", \"shift\": %g, \"scale\": %g", counters[c].shift, counters[c].scale);
    add(t, "}");
    separator = ",";
  }
  add(t, "]}");
}

/* Makes both descriptions and their keys. */
static void make_documents(const struct lumi_schema *s, char *one, struct text *all) {
  for (uint32_t kind = LUMI_BASE_SUMMARY; kind <= LUMI_FULL_SUMMARY; kind++) {
    struct text t = {one, 0};
    describe(&t, s, kind == LUMI_BASE_SUMMARY ? LUMI_BASE : LUMI_COUNTERS, s->word_count[kind]);
    s->key[kind] = XXH32(t.bytes, t.length, 0);
    add(all, "%s\"%08" PRIx32 "\": %s", kind == LUMI_BASE_SUMMARY ? "{" : ",\n", s->key[kind], t.bytes);
  }
  add(all, "}\n");
}

/* ---------------------------------------------------------------------------------------------- the constant */

static int make_arrays(const struct sl_services *s, struct lumi_schema *out) {
#define ARRAY_(field, count) (out->field = s->make_array(s->context, "schema", #field, count))
  return ARRAY_(word, LUMI_COUNTERS) && ARRAY_(bit, LUMI_COUNTERS) && ARRAY_(size_bits, LUMI_COUNTERS) &&
                 ARRAY_(shift, LUMI_COUNTERS) && ARRAY_(scale, LUMI_COUNTERS) && ARRAY_(key, 2) && ARRAY_(word_count, 2)
             ? SL_OK
             : SL_ENOMEM;
}

static int make(const struct sl_services *s, const struct schema_args *args) {
  struct lumi_schema out = args->schema;
  int status = make_arrays(s, &out);
  if (status < 0) return status;
  for (uint32_t c = 0; c < LUMI_COUNTERS; c++) {
    out.shift[c] = (float)counters[c].shift;
    out.scale[c] = (float)counters[c].scale;
  }
  out.word_count[LUMI_BASE_SUMMARY] = pack(&out, 0, LUMI_BASE, 0);
  out.word_count[LUMI_FULL_SUMMARY] = pack(&out, LUMI_BASE, LUMI_COUNTERS, out.word_count[LUMI_BASE_SUMMARY]);
  if (out.word_count[LUMI_FULL_SUMMARY] > LUMI_MAX_WORDS) {
    s->message(s->context, SL_ERROR, "a full summary has %u words, LUMI_MAX_WORDS is %d",
               out.word_count[LUMI_FULL_SUMMARY], LUMI_MAX_WORDS);
    return SL_EINVAL;
  }
  char *one = malloc(DOCUMENT_BYTES);
  struct text all = {malloc(DOCUMENT_BYTES), 0};
  status = SL_ENOMEM;
  if (one && all.bytes) {
    make_documents(&out, one, &all);
    out.document = s->make_array(s->context, "schema", "document", all.length + 1); /* ends with 0 */
    if (out.document) {
      memcpy(out.document, all.bytes, all.length + 1);
      status = SL_OK;
    }
  }
  free(one);
  free(all.bytes);
  return status;
}

SL_CONSTANT(schema, "bit fields of the counters in luminosity summaries", make);
