/* collection.c: compares two definitions of a collection: name; names, types, shapes, widths and dimensions of the
 * fields, in order; the names of the dimensions; the trait. Units, doc strings and the sizes of dimensions may differ.
 */
#include "plugin/registry.h"
#include "plugin/tables.h"

#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the definition of XXH3_state_t */
#include <xxhash.h>

static const char *axes_of(const struct sl_field *f) { return f->dimensions ? f->dimensions : ""; }

static int fields_compare(const struct sl_field *a, const struct sl_field *b, uint32_t index, char *difference,
                          size_t size) {
  if (strcmp(a->name, b->name))
    snprintf(difference, size, "field %u is %s against %s", index, a->name, b->name);
  else if (a->type != b->type)
    snprintf(difference, size, "field %s is %s against %s", a->name, sl_type_name(a->type), sl_type_name(b->type));
  else if (a->shape != b->shape)
    snprintf(difference, size, "field %s is %s against %s", a->name, sl_shape_name(a->shape), sl_shape_name(b->shape));
  else if (strcmp(axes_of(a), axes_of(b)) != 0)
    snprintf(difference, size, "field %s has the dimensions (%s) against (%s)", a->name, axes_of(a), axes_of(b));
  else if (!a->dimensions && a->width != b->width)
    snprintf(difference, size, "field %s has %u values per entry against %u", a->name, a->width, b->width);
  else
    return 0;
  return 1;
}

/* Compares trait, port, data and the defaults of budgets, which would otherwise depend on the plugin that is found
 * first. */
static int traits_compare(const struct sl_trait *a, const struct sl_trait *b, char *difference, size_t size) {
  if (a == b) return 0;
  if (!a || !b || strcmp(a->name, b->name) != 0) {
    snprintf(difference, size, "the trait is %s against %s", a ? a->name : "none", b ? b->name : "none");
    return 1;
  }
  if (strcmp(a->port, b->port) != 0) {
    snprintf(difference, size, "the port of trait %s is %s against %s", a->name, a->port, b->port);
    return 1;
  }
  int differs = a->data_bytes != b->data_bytes || a->member_count != b->member_count;
  if (!differs && a->data_bytes > 0) differs = memcmp(a->data, b->data, a->data_bytes) != 0;
  for (uint32_t i = 1; i < a->member_count && !differs; i++)
    differs = strcmp(a->members[i].name, b->members[i].name) != 0 ||
              a->members[i].default_value != b->members[i].default_value;
  if (differs) snprintf(difference, size, "the data of trait %s", a->name);
  return differs;
}

int sl_collection_compare(const struct sl_collection *a, const struct sl_collection *b, char *difference, size_t size) {
  if (strcmp(a->name, b->name)) {
    snprintf(difference, size, "the name is %s against %s", a->name, b->name);
    return 1;
  }
  for (uint32_t i = 0; i < a->field_count && i < b->field_count; i++)
    if (fields_compare(&a->fields[i], &b->fields[i], i, difference, size)) return 1;
  for (uint32_t d = 0; d < a->dimension_count && d < b->dimension_count; d++) {
    if (strcmp(a->dimensions[d].name, b->dimensions[d].name) == 0) continue;
    snprintf(difference, size, "dimension %u is %s against %s", d, a->dimensions[d].name, b->dimensions[d].name);
    return 1;
  }
  if (a->dimension_count != b->dimension_count) {
    snprintf(difference, size, "it has %u dimensions against %u", a->dimension_count, b->dimension_count);
    return 1;
  }
  if (a->field_count == b->field_count) return traits_compare(a->trait, b->trait, difference, size);
  const uint32_t common = a->field_count < b->field_count ? a->field_count : b->field_count;
  if (a->field_count > common)
    snprintf(difference, size, "field %s is there against missing", a->fields[common].name);
  else
    snprintf(difference, size, "field %s is missing against there", b->fields[common].name);
  return 1;
}

/* Strings are hashed with their terminating zero, numbers as 32 bits little-endian (as all supported hosts are). */
uint64_t sl_collection_hash(const struct sl_collection *c) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, c->name, strlen(c->name) + 1);
  for (uint32_t i = 0; i < c->field_count; i++) {
    const struct sl_field *f = &c->fields[i];
    const uint32_t layout[3] = {f->type, f->shape, f->dimensions ? 0 : f->width};
    XXH3_64bits_update(&state, f->name, strlen(f->name) + 1);
    XXH3_64bits_update(&state, layout, sizeof(layout));
    if (f->dimensions) XXH3_64bits_update(&state, f->dimensions, strlen(f->dimensions) + 1);
  }
  for (uint32_t d = 0; d < c->dimension_count; d++)
    XXH3_64bits_update(&state, c->dimensions[d].name, strlen(c->dimensions[d].name) + 1);
  return XXH3_64bits_digest(&state);
}
