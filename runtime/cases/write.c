/* write.c: writes a case: the header as JSON, then the arrays it names, each aligned. */
#include "base/json.h"
#include "cases/case.h"
#include "layout/bind.h"

#include <stdlib.h>
#include <string.h>

struct array {
  const void *values;
  uint64_t bytes;
};

struct writer {
  struct sl_json json;
  struct array *arrays;
  size_t count, allocated;
  uint64_t at; /* offset of the next array */
  int failed;
};

/* Writes the members "count" and "offset" of an array, and remembers the array. */
static void put_array(struct writer *w, uint32_t type, const void *values, uint64_t count) {
  if (w->count == w->allocated) {
    const size_t allocated = w->allocated ? 2 * w->allocated : 64;
    struct array *larger = realloc(w->arrays, allocated * sizeof *larger);
    w->failed |= larger == NULL;
    if (!larger) return;
    w->arrays = larger;
    w->allocated = allocated;
  }
  const uint64_t bytes = count * sl_type_bytes(type);
  w->arrays[w->count++] = (struct array){values, bytes};
  sl_json_unsigned(&w->json, "count", count);
  sl_json_unsigned(&w->json, "offset", w->at);
  w->at = sl_aligned(w->at + bytes, SL_CASE_ALIGNMENT);
}

static void put_field(struct writer *w, const struct sl_case_port *p, uint32_t f) {
  const struct sl_field *field = &p->collection->fields[f];
  sl_json_begin_object(&w->json, NULL);
  sl_json_string(&w->json, "name", field->name);
  sl_json_string(&w->json, "type", sl_type_name(field->type));
  sl_json_string(&w->json, "shape", sl_shape_name(field->shape));
  sl_json_unsigned(&w->json, "width", field->width);
  if (field->dimensions) sl_json_string(&w->json, "dimensions", field->dimensions);
  if (p->values[f]) put_array(w, field->type, p->values[f], p->counts[f]);
  sl_json_end_object(&w->json);
}

static void put_port(struct writer *w, const struct sl_case_port *p) {
  char hash[20];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)sl_collection_hash(p->declared));
  sl_json_begin_object(&w->json, NULL);
  sl_json_string(&w->json, "port", p->name);
  if (p->producer) sl_json_string(&w->json, "producer", p->producer);
  if (p->reference) sl_json_string(&w->json, "reference", p->reference);
  sl_json_string(&w->json, "collection", p->collection->name);
  sl_json_string(&w->json, "layout", hash);
  if (p->collection->dimension_count > 0) {
    sl_json_begin_object(&w->json, "dimensions");
    for (uint32_t d = 0; d < p->collection->dimension_count; d++)
      sl_json_unsigned(&w->json, p->collection->dimensions[d].name, p->collection->dimensions[d].size);
    sl_json_end_object(&w->json);
  }
  sl_json_begin_array(&w->json, "fields");
  for (uint32_t f = 0; f < p->collection->field_count; f++) put_field(w, p, f);
  sl_json_end_array(&w->json);
  sl_json_end_object(&w->json);
}

static void put_properties(struct writer *w, const struct sl_case *c) {
  sl_json_begin_object(&w->json, "properties");
  for (uint32_t i = 0; i < c->property_count; i++) {
    const struct sl_case_property *p = &c->properties[i];
    if (p->text) sl_json_string(&w->json, p->name, p->text);
    if (p->is_array) sl_json_begin_array(&w->json, p->name);
    for (uint32_t k = 0; !p->text && k < p->count; k++)
      sl_json_raw(&w->json, p->is_array ? NULL : p->name, p->items[k]);
    if (p->is_array) sl_json_end_array(&w->json);
  }
  sl_json_end_object(&w->json);
}

static void put_events(struct writer *w, const struct sl_case *c) {
  sl_json_begin_array(&w->json, "events");
  for (uint32_t e = 0; e < c->event_count; e++) {
    sl_json_begin_object(&w->json, NULL);
    sl_json_unsigned(&w->json, "run", c->runs[e]);
    sl_json_unsigned(&w->json, "event", c->numbers[e]);
    sl_json_end_object(&w->json);
  }
  sl_json_end_array(&w->json);
}

static void put_named(struct writer *w, const char *key, uint32_t type, const void *values, uint64_t count) {
  sl_json_begin_object(&w->json, key);
  put_array(w, type, values, count);
  sl_json_end_object(&w->json);
}

static void put_ports(struct writer *w, const char *key, const struct sl_case_port *ports, uint32_t count) {
  sl_json_begin_array(&w->json, key);
  for (uint32_t i = 0; i < count; i++) put_port(w, &ports[i]);
  sl_json_end_array(&w->json);
}

static const char *put_header(struct writer *w, const struct sl_case *c) {
  sl_json_begin(&w->json);
  sl_json_begin_object(&w->json, NULL);
  sl_json_unsigned(&w->json, "version", SL_CASE_VERSION);
  sl_json_string(&w->json, "algorithm", c->algorithm);
  sl_json_string(&w->json, "node", c->node);
  sl_json_unsigned(&w->json, "block", c->block_threads);
  sl_json_boolean(&w->json, "shared", (int)c->is_shared);
  put_events(w, c);
  if (c->has_list) put_named(w, "list", SL_TYPE_u32, c->list, c->list_count);
  put_properties(w, c);
  put_ports(w, "inputs", c->inputs, c->input_count);
  if (c->has_outputs) put_ports(w, "outputs", c->outputs, c->output_count);
  if (c->errors) put_named(w, "errors", SL_TYPE_u64, c->errors, c->event_count);
  sl_json_end_object(&w->json);
  return w->failed ? NULL : sl_json_text(&w->json);
}

static void copy(unsigned char *to, const void *from, uint64_t bytes) {
  if (bytes > 0) memcpy(to, from, (size_t)bytes);
}

int sl_case_write(const struct sl_case *c, const char *path, uint64_t *bytes, struct sl_diagnostics *d) {
  struct writer w = {.at = 0};
  const char *header = put_header(&w, c);
  const uint64_t length = w.json.length, begin = strlen(SL_CASE_MAGIC) + sizeof length;
  const uint64_t data = sl_aligned(begin + length, SL_CASE_ALIGNMENT);
  unsigned char *file = header ? calloc(1, (size_t)(data + w.at)) : NULL;
  int status = SL_ENOMEM;
  if (file) {
    copy(file, SL_CASE_MAGIC, strlen(SL_CASE_MAGIC));
    copy(file + strlen(SL_CASE_MAGIC), &length, sizeof length); /* little-endian, as all supported hosts are */
    copy(file + begin, header, length);
    uint64_t at = data;
    for (size_t i = 0; i < w.count; i++) {
      copy(file + at, w.arrays[i].values, w.arrays[i].bytes);
      at = sl_aligned(at + w.arrays[i].bytes, SL_CASE_ALIGNMENT);
    }
    *bytes = data + w.at;
    status = sl_write_file(path, file, (size_t)*bytes, d);
  } else {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s: out of memory", path);
  }
  free(file);
  free(w.arrays);
  sl_json_free(&w.json);
  return status;
}
