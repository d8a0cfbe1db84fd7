/* read.c: reads the file of a case, which may have any content: the header, then the arrays that it names. All that a
 * case promises is checked here, so that its users need not.
 */
#include "base/document.h"
#include "base/event_id.h"
#include "base/input.h"
#include "cases/case.h"
#include "layout/bind.h"
#include "plugin/dimensions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIELDS_MAX = 256, PORTS_MAX = 65536, HEADER_MAX = 1 << 28 };

struct reader {
  struct sl_document document;
  struct sl_case *c;
  const unsigned char *data; /* the arrays */
  uint64_t bytes;
  char where[200]; /* part of the header that is read: "inputs[2], field x: " */
  char *reason;
  size_t reason_size;
};

static int wrong(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int wrong(struct reader *r, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(r->reason, r->reason_size, "%s%s", r->where, text);
  return SL_EFORMAT;
}

static int no_memory(struct reader *r) {
  snprintf(r->reason, r->reason_size, "out of memory");
  return SL_ENOMEM;
}

/* --------------------------------------------------------------------------------------------------- values */

static int copy_text(struct reader *r, const char *text, const char **copy) {
  const size_t bytes = strlen(text) + 1;
  char *to = sl_case_get(r->c, bytes, 1);
  if (!to) return no_memory(r);
  *copy = memcpy(to, text, bytes);
  return SL_OK;
}

static int take_text(struct reader *r, const yaml_node_t *map, const char *key, const char **text) {
  const char *found = sl_document_text(sl_document_member(&r->document, map, key));
  if (!found) return wrong(r, "there is no text '%s'", key);
  return copy_text(r, found, text);
}

static int parse_count(const char *text, uint64_t maximum, uint64_t *value) {
  return text && sl_take_number(&text, maximum, value) && *text == '\0';
}

static int take_count(struct reader *r, const yaml_node_t *map, const char *key, uint64_t maximum, uint64_t *value) {
  const char *text = sl_document_text(sl_document_member(&r->document, map, key));
  if (parse_count(text, maximum, value)) return SL_OK;
  return wrong(r, "'%s' must be a number from 0 to %llu", key, (unsigned long long)maximum);
}

/* The array that "count" and "offset" of the map name. */
static int take_array(struct reader *r, const yaml_node_t *map, uint32_t type, const void **values, uint64_t *count) {
  const uint64_t value_bytes = sl_type_bytes(type);
  uint64_t offset = 0;
  int status = take_count(r, map, "count", r->bytes / value_bytes, count);
  if (status == SL_OK) status = take_count(r, map, "offset", r->bytes, &offset);
  if (status != SL_OK) return status;
  if (offset % SL_CASE_ALIGNMENT != 0)
    return wrong(r, "'offset' is %llu, which is no multiple of %d", (unsigned long long)offset, SL_CASE_ALIGNMENT);
  if (*count * value_bytes > r->bytes - offset)
    return wrong(r, "the array ends %llu bytes after the end of the file",
                 (unsigned long long)(*count * value_bytes - (r->bytes - offset)));
  *values = r->data + offset;
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------------- ports */

static int index_of(const char *text, const char *(*name)(uint32_t), uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(name(i), text) == 0) return (int)i;
  return -1;
}

/* Reads the declaration of field f; its values are read later. */
static int read_field(struct reader *r, const yaml_node_t *map, uint32_t f, struct sl_field *declared,
                      struct sl_field *sized) {
  uint64_t width = 0;
  const char *type = NULL, *shape = NULL;
  int status = take_text(r, map, "name", &sized->name);
  if (status == SL_OK) status = take_text(r, map, "type", &type);
  if (status == SL_OK) status = take_text(r, map, "shape", &shape);
  if (status == SL_OK) status = take_count(r, map, "width", SL_DIMENSION_MAX, &width);
  if (status == SL_OK && sl_document_member(&r->document, map, "dimensions"))
    status = take_text(r, map, "dimensions", &sized->dimensions);
  if (status != SL_OK) return status;
  const int type_index = index_of(type, sl_type_name, SL_TYPE_bool);
  const int shape_index = index_of(shape, sl_shape_name, SL_SHAPE_CODE_TOTAL + 1);
  if (type_index < 0) return wrong(r, "field %u has the unknown type %s", f, type);
  if (shape_index < 0) return wrong(r, "field %u has the unknown shape %s", f, shape);
  if (width == 0) return wrong(r, "field %u has no values per entry", f);
  sized->type = (uint32_t)type_index;
  sized->shape = (uint32_t)shape_index;
  sized->width = (uint32_t)width;
  sized->unit = sized->doc = "";
  *declared = *sized;
  if (sized->dimensions) declared->width = 0;
  return SL_OK;
}

static int read_dimensions(struct reader *r, const yaml_node_t *map, struct sl_dimension *sized,
                           struct sl_dimension *declared, uint32_t *count) {
  const yaml_node_t *sizes = sl_document_member(&r->document, map, "dimensions");
  const char *key = NULL;
  for (*count = 0; sl_document_member_at(&r->document, sizes, *count, &key); (*count)++) {
    uint64_t size = 0;
    if (*count == SL_DIMENSIONS_MAX || !key) return wrong(r, "there are more than %d dimensions", SL_DIMENSIONS_MAX);
    const int status = take_count(r, sizes, key, SL_DIMENSION_MAX, &size);
    if (status != SL_OK) return status;
    const char *name = NULL;
    const int copied = copy_text(r, key, &name);
    if (copied != SL_OK) return copied;
    declared[*count] = (struct sl_dimension){.name = name, .unit = "", .doc = ""};
    sized[*count] = declared[*count];
    sized[*count].size = (uint32_t)size;
  }
  return SL_OK;
}

static int read_collection(struct reader *r, const yaml_node_t *map, struct sl_case_port *p) {
  const yaml_node_t *list = sl_document_member(&r->document, map, "fields");
  const size_t count = sl_document_length(list);
  if (count < 1 || count > FIELDS_MAX) return wrong(r, "there are %zu fields, 1 to %d are expected", count, FIELDS_MAX);
  struct sl_collection *collections = sl_case_get(r->c, 2, sizeof *collections);
  struct sl_field *fields = sl_case_get(r->c, 2 * count, sizeof *fields);
  struct sl_dimension *dimensions = sl_case_get(r->c, 2 * SL_DIMENSIONS_MAX, sizeof *dimensions);
  if (!collections || !fields || !dimensions) return no_memory(r);
  const char *name = NULL;
  char reason[256];
  uint32_t dimension_count = 0;
  int status = take_text(r, map, "collection", &name);
  if (status == SL_OK) status = read_dimensions(r, map, dimensions, dimensions + SL_DIMENSIONS_MAX, &dimension_count);
  for (uint32_t f = 0; f < count && status == SL_OK; f++)
    status = read_field(r, sl_document_item(&r->document, list, f), f, &fields[count + f], &fields[f]);
  if (status != SL_OK) return status;
  for (uint32_t i = 0; i < 2; i++)
    collections[i] = (struct sl_collection){.name = name,
                                            .doc = "",
                                            .fields = fields + i * count,
                                            .field_count = (uint32_t)count,
                                            .dimension_count = dimension_count,
                                            .dimensions = dimensions + i * SL_DIMENSIONS_MAX};
  p->collection = &collections[0];
  p->declared = &collections[1];
  return sl_collection_check(p->declared, reason, sizeof reason) < 0 ? wrong(r, "%s", reason) : SL_OK;
}

static int read_values(struct reader *r, const yaml_node_t *map, struct sl_case_port *p) {
  const yaml_node_t *list = sl_document_member(&r->document, map, "fields");
  const uint32_t count = p->collection->field_count;
  const size_t length = strlen(r->where);
  p->values = sl_case_get(r->c, count, sizeof *p->values);
  p->counts = sl_case_get(r->c, count, sizeof *p->counts);
  if (!p->values || !p->counts) return no_memory(r);
  for (uint32_t f = 0; f < count; f++) {
    const yaml_node_t *field = sl_document_item(&r->document, list, f);
    if (!sl_document_member(&r->document, field, "count")) continue;
    snprintf(r->where + length, sizeof r->where - length, "field %s: ", p->collection->fields[f].name);
    const int status = take_array(r, field, p->collection->fields[f].type, &p->values[f], &p->counts[f]);
    r->where[length] = '\0';
    if (status != SL_OK) return status;
  }
  return SL_OK;
}

/* The field that a reference names must be one of the collection. */
static int check_reference(struct reader *r, const struct sl_case_port *p) {
  if (!p->reference || sl_field_index(p->collection, p->reference) >= 0) return SL_OK;
  return wrong(r, "collection %s has no field %s", p->collection->name, p->reference);
}

static int read_port(struct reader *r, const yaml_node_t *map, struct sl_case_port *p) {
  int status = take_text(r, map, "port", &p->name);
  if (status == SL_OK && sl_document_member(&r->document, map, "producer"))
    status = take_text(r, map, "producer", &p->producer);
  if (status == SL_OK && sl_document_member(&r->document, map, "reference"))
    status = take_text(r, map, "reference", &p->reference);
  if (status == SL_OK) status = read_collection(r, map, p);
  if (status == SL_OK) status = check_reference(r, p);
  return status == SL_OK ? read_values(r, map, p) : status;
}

static int read_ports(struct reader *r, const char *key, struct sl_case_port **ports, uint32_t *count) {
  const yaml_node_t *list = sl_document_member(&r->document, sl_document_root(&r->document), key);
  const size_t length = sl_document_length(list);
  int status = SL_OK;
  if (length > PORTS_MAX) return wrong(r, "there are %zu %s, at most %d are expected", length, key, PORTS_MAX);
  *ports = sl_case_get(r->c, length, sizeof **ports);
  if (!*ports) return no_memory(r);
  for (size_t i = 0; i < length && status == SL_OK; i++) {
    snprintf(r->where, sizeof r->where, "%s[%zu]: ", key, i);
    status = read_port(r, sl_document_item(&r->document, list, i), &(*ports)[i]);
  }
  *count = (uint32_t)length;
  if (status == SL_OK) r->where[0] = '\0';
  return status;
}

/* --------------------------------------------------------------------------------------------------- others */

static int read_events(struct reader *r, const yaml_node_t *root) {
  const yaml_node_t *list = sl_document_member(&r->document, root, "events");
  const size_t count = sl_document_length(list);
  uint64_t run = 0;
  int status = SL_OK;
  r->c->runs = sl_case_get(r->c, count, sizeof *r->c->runs);
  r->c->numbers = sl_case_get(r->c, count, sizeof *r->c->numbers);
  if (!r->c->runs || !r->c->numbers) return no_memory(r);
  for (size_t e = 0; e < count && status == SL_OK; e++) {
    const yaml_node_t *event = sl_document_item(&r->document, list, e);
    snprintf(r->where, sizeof r->where, "events[%zu]: ", e);
    status = take_count(r, event, "run", UINT32_MAX, &run);
    if (status == SL_OK) status = take_count(r, event, "event", UINT64_MAX, &r->c->numbers[e]);
    r->c->runs[e] = (uint32_t)run;
  }
  r->c->event_count = (uint32_t)count;
  if (status == SL_OK) r->where[0] = '\0';
  return status;
}

/* A number is a scalar without quotes; only the algorithm knows its type. */
static int is_number(const yaml_node_t *node) {
  return node && node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
         !isnan(sl_document_number(node));
}

static int read_property(struct reader *r, const yaml_node_t *value, struct sl_case_property *p) {
  p->is_array = value->type == YAML_SEQUENCE_NODE;
  p->count = p->is_array ? (uint32_t)sl_document_length(value) : 1;
  if (!p->is_array && value->type == YAML_SCALAR_NODE && value->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
    return copy_text(r, sl_document_text(value), &p->text);
  const char **items = sl_case_get(r->c, p->count, sizeof *items);
  if (!items) return no_memory(r);
  p->items = items;
  for (uint32_t i = 0; i < p->count; i++) {
    const yaml_node_t *item = p->is_array ? sl_document_item(&r->document, value, i) : value;
    if (!is_number(item)) return wrong(r, "property %s is neither a number nor a text in quotes", p->name);
    const int status = copy_text(r, sl_document_text(item), &items[i]);
    if (status != SL_OK) return status;
  }
  return SL_OK;
}

static int read_properties(struct reader *r, const yaml_node_t *root) {
  const yaml_node_t *map = sl_document_member(&r->document, root, "properties"), *value;
  const char *key = NULL;
  uint32_t count = 0;
  int status = SL_OK;
  while (sl_document_member_at(&r->document, map, count, &key)) count++;
  r->c->properties = sl_case_get(r->c, count, sizeof *r->c->properties);
  if (!r->c->properties) return no_memory(r);
  for (uint32_t i = 0; i < count && status == SL_OK; i++) {
    value = sl_document_member_at(&r->document, map, i, &key);
    if (!key) return wrong(r, "property %u has no name", i);
    status = copy_text(r, key, &r->c->properties[i].name);
    if (status == SL_OK) status = read_property(r, value, &r->c->properties[i]);
  }
  r->c->property_count = count;
  return status;
}

static int read_list_and_errors(struct reader *r, const yaml_node_t *root) {
  const yaml_node_t *list = sl_document_member(&r->document, root, "list");
  const yaml_node_t *errors = sl_document_member(&r->document, root, "errors");
  const void *values = NULL;
  uint64_t count = 0;
  int status = SL_OK;
  if (list) {
    snprintf(r->where, sizeof r->where, "list: ");
    status = take_array(r, list, SL_TYPE_u32, &values, &count);
    if (status == SL_OK && count > r->c->event_count) status = wrong(r, "it has more events than the case");
    r->c->has_list = 1;
    r->c->list = values;
    r->c->list_count = (uint32_t)count;
  }
  if (errors && status == SL_OK) {
    snprintf(r->where, sizeof r->where, "errors: ");
    status = take_array(r, errors, SL_TYPE_u64, &values, &count);
    if (status == SL_OK && count != r->c->event_count) status = wrong(r, "there must be one for each event");
    r->c->errors = values;
  }
  if (status == SL_OK) r->where[0] = '\0';
  return status;
}

static int read_header(struct reader *r) {
  struct sl_case *c = r->c;
  const yaml_node_t *root = sl_document_root(&r->document);
  uint64_t version = 0, block = 0;
  int status = take_count(r, root, "version", UINT32_MAX, &version);
  if (status == SL_OK && version != SL_CASE_VERSION)
    status = wrong(r, "it has version %llu of the format, and this version of sluice reads %d",
                   (unsigned long long)version, SL_CASE_VERSION);
  if (status == SL_OK) status = take_text(r, root, "algorithm", &c->algorithm);
  if (status == SL_OK && !strchr(c->algorithm, '.')) status = wrong(r, "'algorithm' is not PLUGIN.ALGORITHM");
  if (status == SL_OK) status = take_text(r, root, "node", &c->node);
  if (status == SL_OK) status = take_count(r, root, "block", 1024, &block);
  if (status != SL_OK) return status;
  const char *is_shared = sl_document_text(sl_document_member(&r->document, root, "shared"));
  c->block_threads = (uint32_t)block;
  c->is_shared = is_shared && strcmp(is_shared, "true") == 0;
  status = read_events(r, root);
  if (status == SL_OK) status = read_properties(r, root);
  if (status == SL_OK) status = read_ports(r, "inputs", &c->inputs, &c->input_count);
  c->has_outputs = sl_document_member(&r->document, root, "outputs") != NULL;
  if (status == SL_OK) status = read_ports(r, "outputs", &c->outputs, &c->output_count);
  if (status == SL_OK) status = read_list_and_errors(r, root);
  return status == SL_OK ? sl_case_check(c, r->reason, r->reason_size) : status;
}

/* The whole file, in memory of the case. */
static int read_file(struct reader *r, const char *path, const unsigned char **file, uint64_t *bytes) {
  struct stat about;
  const int descriptor = sl_open_regular(path, r->reason, r->reason_size);
  if (descriptor < 0) return SL_EIO;
  int status = fstat(descriptor, &about) < 0 ? SL_EIO : SL_OK;
  unsigned char *memory = status == SL_OK ? sl_case_get(r->c, (uint64_t)about.st_size, 1) : NULL;
  if (status == SL_OK && !memory) status = no_memory(r);
  uint64_t at = 0;
  while (status == SL_OK && at < (uint64_t)about.st_size) {
    const ssize_t count = read(descriptor, memory + at, (size_t)((uint64_t)about.st_size - at));
    if (count < 0 && errno != EINTR) status = SL_EIO;
    if (count == 0) break;
    if (count > 0) at += (uint64_t)count;
  }
  if (status == SL_EIO) snprintf(r->reason, r->reason_size, "%s", strerror(errno));
  close(descriptor);
  *file = memory;
  *bytes = at;
  return status;
}

static int read_case(struct reader *r, const char *path) {
  const size_t magic_bytes = strlen(SL_CASE_MAGIC);
  const unsigned char *file = NULL;
  uint64_t bytes = 0, length = 0;
  int status = read_file(r, path, &file, &bytes);
  if (status != SL_OK) return status;
  const uint64_t begin = magic_bytes + sizeof length;
  if (bytes < begin || memcmp(file, SL_CASE_MAGIC, magic_bytes) != 0)
    return wrong(r, "it is no case of sluice capture");
  memcpy(&length, file + magic_bytes, sizeof length);
  if (length > bytes - begin || length > HEADER_MAX)
    return wrong(r, "its header has %llu bytes, and the file ends after %llu", (unsigned long long)length,
                 (unsigned long long)(bytes - begin));
  const uint64_t data = sl_aligned(begin + length, SL_CASE_ALIGNMENT);
  r->data = file + (data < bytes ? data : bytes);
  r->bytes = data < bytes ? bytes - data : 0;
  char reason[256];
  if (sl_document_read_text(&r->document, path, (const char *)file + begin, (size_t)length, reason, sizeof reason) < 0)
    status = wrong(r, "its header is not JSON: %s", reason);
  if (status == SL_OK) status = read_header(r);
  sl_document_close(&r->document);
  return status;
}

int sl_case_read(const char *path, struct sl_case **c, char *reason, size_t reason_size) {
  struct reader r = {.c = sl_case_new(), .reason = reason, .reason_size = reason_size};
  *c = NULL;
  if (!r.c) return no_memory(&r);
  const int status = read_case(&r, path);
  if (status == SL_OK)
    *c = r.c;
  else
    sl_case_free(r.c);
  return status;
}
