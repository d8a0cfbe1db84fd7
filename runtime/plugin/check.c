/* check.c: checks of a plugin descriptor. Magic, size and ABI version are checked before anything else is read; then
 * every table is checked once, outer tables first, so that each check can rely on earlier ones. Reports the first
 * finding. Calls no plugin code.
 */
#include "plugin/check.h"

#include "plugin/property.h"
#include "plugin/registry.h"
#include "plugin/tables.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  FIELDS_MAX = 256,
  WIDTH_MAX = 65536,
  ERRORS_MAX = 255,
  ARGS_BYTES_MAX = 65536,
  BLOCK_THREADS_MAX = 1024,
  KERNELS_MAX = 64,
  OPEN_PORTS_BYTES = 24 /* SL_OPEN_PORTS */
};

int checker_refuse(const struct checker *c, const char *format, ...) {
  int length = 0;
  if (c->algorithm) length = snprintf(c->reason, c->reason_size, "algorithm %s: ", c->algorithm->name);
  if (c->member && length >= 0 && (size_t)length < c->reason_size)
    length += snprintf(c->reason + length, c->reason_size - (size_t)length, "member %s: ", c->member->name);
  if (length < 0 || (size_t)length >= c->reason_size) return SL_EPLUGIN;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->reason + length, c->reason_size - (size_t)length, format, arguments);
  va_end(arguments);
  return SL_EPLUGIN;
}

/* ------------------------------------------------------------------------------------------------ names */

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

int checker_is_identifier(const char *name) {
  if (!name || !is_letter(*name)) return 0;
  for (name++; *name; name++)
    if (!is_letter(*name) && !(*name >= '0' && *name <= '9')) return 0;
  return 1;
}

static int check_name(const struct checker *c, const char *what, uint32_t index, const char *name) {
  if (!name) return checker_refuse(c, "the name of %s %u is NULL", what, index);
  if (!checker_is_identifier(name))
    return checker_refuse(c, "the name of %s %u, \"%s\", is no identifier", what, index, name);
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------- collections */

static int check_dimensions(const struct checker *c, const struct sl_collection *collection) {
  if (collection->dimension_count > SL_DIMENSIONS_MAX || (collection->dimension_count && !collection->dimensions))
    return checker_refuse(c, "collection %s has %u dimensions%s, at most %d are expected", collection->name,
                          collection->dimension_count, collection->dimensions ? "" : " and no table of them",
                          SL_DIMENSIONS_MAX);
  for (uint32_t d = 0; d < collection->dimension_count; d++) {
    const struct sl_dimension *dimension = &collection->dimensions[d];
    if (check_name(c, "dimension", d, dimension->name)) return SL_EPLUGIN;
    if (!dimension->unit || !dimension->doc)
      return checker_refuse(c, "dimension %s: unit or doc is NULL", dimension->name);
    if (sl_dimension_index(collection, dimension->name) != (int)d || sl_field_index(collection, dimension->name) >= 0)
      return checker_refuse(c, "collection %s has two entries %s", collection->name, dimension->name);
  }
  return SL_OK;
}

/* Checks a field by dimensions: "time, channels". */
static int check_axes(const struct checker *c, const struct sl_collection *collection, const struct sl_field *f) {
  uint32_t count = 0;
  if (f->shape != SL_SHAPE_CODE_PER_EVENT && f->shape != SL_SHAPE_CODE_PER_ITEM)
    return checker_refuse(c, "field %s is %s and has dimensions; PER_EVENT or PER_ITEM is expected", f->name,
                          sl_shape_name(f->shape));
  for (const char *name = f->dimensions; *name; count++) {
    char text[64];
    const size_t length = strcspn(name, ",");
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    if (sl_dimension_index(collection, text) < 0)
      return checker_refuse(c, "field %s has the dimension %s, which collection %s does not declare", f->name, text,
                            collection->name);
    name += length + strspn(name + length, ", ");
  }
  if (count < 1 || count > SL_DIMENSIONS_MAX)
    return checker_refuse(c, "field %s has %u dimensions, 1 to %d are expected", f->name, count, SL_DIMENSIONS_MAX);
  if (!f->unit || !f->doc) return checker_refuse(c, "field %s: unit or doc is NULL", f->name);
  return SL_OK;
}

static int check_field(const struct checker *c, const struct sl_collection *collection, uint32_t index) {
  const struct sl_field *f = &collection->fields[index];
  const int is_offsets = f->shape == SL_SHAPE_CODE_OFFSETS || f->shape == SL_SHAPE_CODE_ITEM_OFFSETS;
  if (check_name(c, "field", index, f->name)) return SL_EPLUGIN;
  if (sl_field_index(collection, f->name) != (int)index)
    return checker_refuse(c, "collection %s has two fields %s", collection->name, f->name);
  if (f->type >= SL_TYPE_bool)
    return checker_refuse(c, "field %s has type %u, which is not a field type", f->name, f->type);
  if (f->shape > SL_SHAPE_CODE_TOTAL) return checker_refuse(c, "field %s has unknown shape %u", f->name, f->shape);
  if (f->dimensions) return check_axes(c, collection, f);
  if (f->width < 1 || f->width > WIDTH_MAX)
    return checker_refuse(c, "field %s has %u values per entry, 1 to %d are expected", f->name, f->width, WIDTH_MAX);
  if (is_offsets && (f->type != SL_TYPE_u32 || f->width != 1))
    return checker_refuse(c, "field %s is %s, which must be u32 with one value per entry", f->name,
                          sl_shape_name(f->shape));
  if (f->shape == SL_SHAPE_CODE_TOTAL && f->type != SL_TYPE_u32 && f->type != SL_TYPE_u64 && f->type != SL_TYPE_i64)
    return checker_refuse(c, "field %s is TOTAL of type %s; u32, u64 or i64 is expected", f->name,
                          sl_type_name(f->type));
  if (!f->unit || !f->doc) return checker_refuse(c, "field %s: unit or doc is NULL", f->name);
  return SL_OK;
}

static int check_collection(const struct checker *c, const struct sl_collection *collection) {
  uint32_t shapes[SL_SHAPE_CODE_TOTAL + 1] = {0};
  char difference[256];
  if (!collection) return checker_refuse(c, "it has no collection");
  if (!checker_is_identifier(collection->name)) return checker_refuse(c, "the name of its collection is no identifier");
  if (!collection->doc) return checker_refuse(c, "collection %s: doc is NULL", collection->name);
  if (!collection->fields || collection->field_count < 1 || collection->field_count > FIELDS_MAX)
    return checker_refuse(c, "collection %s has %u fields%s, 1 to %d are expected", collection->name,
                          collection->field_count, collection->fields ? "" : " and no table of them", FIELDS_MAX);
  /* Names are checked first, because check_field searches by name. */
  for (uint32_t i = 0; i < collection->field_count; i++)
    if (check_name(c, "field", i, collection->fields[i].name)) return SL_EPLUGIN;
  if (check_dimensions(c, collection)) return SL_EPLUGIN;
  for (uint32_t i = 0; i < collection->field_count; i++) {
    if (check_field(c, collection, i)) return SL_EPLUGIN;
    shapes[collection->fields[i].shape]++;
  }
  if (shapes[SL_SHAPE_CODE_OFFSETS] > 1)
    return checker_refuse(c, "collection %s has more than one field of shape OFFSETS", collection->name);
  for (uint32_t i = 0; i < collection->field_count; i++)
    if (collection->fields[i].shape == SL_SHAPE_CODE_PER_SUBITEM && sl_group_of(collection, i) == 0)
      return checker_refuse(c, "collection %s: there is no ITEM_OFFSETS field before the PER_SUBITEM field %s",
                            collection->name, collection->fields[i].name);
  if (sl_bound_count(collection) > SL_BOUNDS_MAX)
    return checker_refuse(c, "collection %s has %u groups of subitems (ITEM_OFFSETS or BYTES), at most %d are expected",
                          collection->name, sl_bound_count(collection) - 1, SL_GROUPS_MAX);
  if (shapes[SL_SHAPE_CODE_ARRAY] && shapes[SL_SHAPE_CODE_ARRAY] != collection->field_count)
    return checker_refuse(c, "collection %s mixes ARRAY with other shapes", collection->name);
  if (shapes[SL_SHAPE_CODE_TOTAL] && shapes[SL_SHAPE_CODE_TOTAL] != collection->field_count)
    return checker_refuse(c, "collection %s mixes TOTAL with other shapes", collection->name);
  if (collection->trait && check_trait(c, collection)) return SL_EPLUGIN;
  if (sl_is_event_list(collection) &&
      sl_collection_compare(collection, &sl_event_list_collection, difference, sizeof(difference)))
    return checker_refuse(c, "collection sl_event_list differs from that of the runtime: %s", difference);
  return SL_OK;
}

int sl_collection_check(const struct sl_collection *collection, char *reason, size_t reason_size) {
  const struct checker c = {reason, reason_size, NULL, NULL};
  return check_collection(&c, collection);
}

/* --------------------------------------------------------------------------------------------- members */

static int is_port(const struct sl_member *m) { return m->kind == SL_MEMBER_IN || m->kind == SL_MEMBER_OUT; }

static int is_open(const struct sl_member *m) { return m->kind == SL_MEMBER_OPEN_IN || m->kind == SL_MEMBER_OPEN_OUT; }

/* Size of a member of this kind and type in the argument struct. */
static uint32_t member_bytes(const struct sl_member *m) {
  if (m->flags & SL_FLAG_LIST) return (uint32_t)sizeof(struct sl_event_list_views); /* independent of the collection */
  if (is_port(m)) return sl_collection_bytes(m->collection);
  if (is_open(m)) return OPEN_PORTS_BYTES;
  if (m->kind == SL_MEMBER_EVENTS) return (uint32_t)sizeof(struct sl_events);
  if (m->kind == SL_MEMBER_SCRATCH || m->kind == SL_MEMBER_TABLE) return (uint32_t)sizeof(void *);
  if (m->kind == SL_MEMBER_NODE_HASH) return (uint32_t)sizeof(uint64_t);
  if (m->kind == SL_MEMBER_COMPUTED) return m->args_size;
  if (m->kind == SL_MEMBER_FIELD) return (uint32_t)sizeof(struct sl_field_ref);
  if (m->kind == SL_MEMBER_PROGRAM) return (uint32_t)sizeof(struct sl_program);
  return sl_type_bytes(m->type) * (m->kind == SL_MEMBER_PROPERTY ? sl_property_count(m) : 1);
}

static int check_place(const struct checker *c) {
  const struct sl_algorithm *a = c->algorithm;
  const struct sl_member *m = c->member;
  const uint32_t expected = member_bytes(m);
  const uint32_t alignment = m->kind == SL_MEMBER_PROPERTY   ? sl_type_bytes(m->type)
                             : m->kind == SL_MEMBER_COMPUTED ? 1 /* any size */
                                                             : 8;
  if (m->args_size != expected)
    return checker_refuse(c, "has %u bytes, %u are expected for its type", m->args_size, expected);
  if (m->args_offset > a->args_size || m->args_size > a->args_size - m->args_offset)
    return checker_refuse(c, "ends at byte %llu of the argument struct, which has %u",
                          (unsigned long long)m->args_offset + m->args_size, a->args_size);
  if (m->args_offset % alignment)
    return checker_refuse(c, "begins at byte %u, which is not aligned to %u", m->args_offset, alignment);
  for (const struct sl_member *other = a->members; other < m; other++)
    if (m->args_offset < other->args_offset + other->args_size && other->args_offset < m->args_offset + m->args_size)
      return checker_refuse(c, "overlaps member %s in the argument struct: bytes %u to %u and %u to %u", other->name,
                            m->args_offset, m->args_offset + m->args_size - 1, other->args_offset,
                            other->args_offset + other->args_size - 1);
  return SL_OK;
}

static int check_input_fields(const struct checker *c) {
  const struct sl_member *m = c->member;
  const char *word;
  size_t length;
  if (!m->fields) return checker_refuse(c, "the list of fields that it reads is NULL");
  for (const char *rest = sl_next_word(m->fields, &word, &length); rest; rest = sl_next_word(rest, &word, &length)) {
    uint32_t i = 0;
    while (i < m->collection->field_count &&
           (strncmp(m->collection->fields[i].name, word, length) || m->collection->fields[i].name[length]))
      i++;
    if (i == m->collection->field_count)
      return checker_refuse(c, "reads field %.*s, which collection %s does not have", (int)length, word,
                            m->collection->name);
  }
  return SL_OK;
}

static int check_partners(const struct checker *c) {
  const struct sl_algorithm *a = c->algorithm;
  const struct sl_member *m = c->member;
  if (m->shares) {
    const int index = sl_member_index(a, m->shares);
    const struct sl_member *partner = index < 0 ? NULL : &a->members[index];
    const int is_operand = partner && partner->kind == SL_MEMBER_FIELD && partner->flags & SL_FLAG_OPERAND;
    if (!partner || !(is_port(partner) || is_operand) || partner >= m)
      return checker_refuse(c, "shares the offsets of %s, which is not an earlier port in the table", m->shares);
    if (!is_operand && sl_offsets_field(partner->collection) < 0)
      return checker_refuse(c, "shares the offsets of %s, but its collection %s has none", m->shares,
                            partner->collection->name);
    if (partner->flags & SL_FLAG_OPTIONAL)
      return checker_refuse(c, "shares the offsets of %s, which is optional", m->shares);
    if (partner->flags & SL_FLAG_LIST)
      return checker_refuse(c, "shares the offsets of %s, which is a list port", m->shares);
  }
  if (m->in_place) {
    const int index = sl_member_index(a, m->in_place);
    if (index < 0 || a->members[index].kind != SL_MEMBER_IN)
      return checker_refuse(c, "is in place of %s, which is no input", m->in_place);
    if (a->members[index].flags & SL_FLAG_LIST)
      return checker_refuse(c, "is in place of %s, which is a list port", m->in_place);
  }
  return SL_OK;
}

/* Otherwise a result would depend on other parts of the graph. */
static int check_automatic(const struct checker *c) {
  const struct sl_member *m = c->member;
  if (!(m->flags & SL_FLAG_AUTO)) return SL_OK;
  if (!(m->flags & SL_FLAG_OPTIONAL)) return checker_refuse(c, "is automatic, but not optional");
  if (c->algorithm->kind != SL_KIND_SINK) return checker_refuse(c, "is automatic, but only inputs of sinks can be");
  if (sl_is_event_list(m->collection))
    return checker_refuse(c, "is automatic, but an event list is connected only by name");
  return SL_OK;
}

static int check_reference(const struct checker *c) {
  const struct sl_member *m = c->member;
  const char *word;
  size_t length;
  if (c->algorithm->kind != SL_KIND_KERNEL) return checker_refuse(c, "only kernels have references to fields");
  if (!m->choices) return checker_refuse(c, "the list of types that the field can have is NULL");
  const int of = m->items_of ? sl_member_index(c->algorithm, m->items_of) : -1;
  if (m->items_of && (of < 0 || c->algorithm->members[of].kind != SL_MEMBER_FIELD || c->algorithm->members[of].flags))
    return checker_refuse(c, "has the items of %s, which is no field reference that a graph must set", m->items_of);
  for (const char *rest = sl_next_word(m->choices, &word, &length); rest; rest = sl_next_word(rest, &word, &length)) {
    uint32_t type = 0;
    while (type < SL_TYPE_bool && (strncmp(sl_type_name(type), word, length) != 0 || sl_type_name(type)[length]))
      type++;
    if (type == SL_TYPE_bool) return checker_refuse(c, "%.*s is no type of a field", (int)length, word);
  }
  return SL_OK;
}

static int check_program(const struct checker *c) {
  const struct sl_member *m = c->member;
  const int32_t p = m->fields ? sl_member_index(c->algorithm, m->fields) : -1;
  const struct sl_member *property = p < 0 ? NULL : &c->algorithm->members[p];
  if (c->algorithm->kind != SL_KIND_KERNEL) return checker_refuse(c, "only kernels have programs");
  if (!property || property->kind != SL_MEMBER_PROPERTY || property->type != SL_TYPE_string)
    return checker_refuse(c, "is compiled from %s, which is no property of type string",
                          m->fields ? m->fields : "NULL");
  return SL_OK;
}

/* 1 if the runtime compiles the string, so that the kernel need not read it. */
static int is_compiled(const struct sl_algorithm *a, const struct sl_member *property) {
  for (uint32_t i = 0; i < a->member_count; i++)
    if (a->members[i].kind == SL_MEMBER_PROGRAM && a->members[i].fields &&
        strcmp(a->members[i].fields, property->name) == 0)
      return 1;
  return 0;
}

/* Members that only `prepare` can write or read. */
static int check_prepared(const struct checker *c) {
  const struct sl_member *m = c->member;
  const int is_string = m->kind == SL_MEMBER_PROPERTY && m->type == SL_TYPE_string;
  if (c->algorithm->prepare) return SL_OK;
  if (m->kind == SL_MEMBER_COMPUTED || m->kind == SL_MEMBER_TABLE)
    return checker_refuse(c, "is written by the function prepare, but the algorithm has none");
  if (is_string && c->algorithm->kind == SL_KIND_KERNEL && !is_compiled(c->algorithm, m))
    return checker_refuse(
        c,
        "a kernel cannot read a string of the host; use an enumeration, SL_ENUM, or compute the values that the "
        "kernel needs in prepare");
  return SL_OK;
}

static int check_member(struct checker *c) {
  const struct sl_member *m = c->member;
  const uint32_t allowed_flags = m->kind == SL_MEMBER_IN ? SL_FLAG_OPTIONAL | SL_FLAG_AUTO | SL_FLAG_LIST
                                 : m->kind == SL_MEMBER_PROPERTY
                                     ? SL_FLAG_BUDGET | SL_FLAG_READ | SL_FLAG_WRITTEN | SL_FLAG_INPUT
                                 : m->kind == SL_MEMBER_SCRATCH ? SL_FLAG_TUNED | SL_FLAG_SHARED
                                 : m->kind == SL_MEMBER_FIELD   ? SL_FLAG_OPTIONAL | SL_FLAG_OPERAND
                                 : m->kind == SL_MEMBER_PROGRAM ? SL_FLAG_CONDITION
                                                                : 0;
  if (!m->doc) return checker_refuse(c, "doc is NULL");
  if ((m->flags & SL_FLAG_INPUT) && (c->algorithm->kind != SL_KIND_SOURCE || m->type > SL_TYPE_f64 || m->count > 0))
    return checker_refuse(c, "a value of the input is a number, and a property of a source");
  if (m->kind > SL_MEMBER_PROGRAM) return checker_refuse(c, "unknown kind %u", m->kind);
  if (m->flags & ~allowed_flags) return checker_refuse(c, "flags %u do not belong to its kind", m->flags);
  if ((m->flags & SL_FLAG_LIST) && (m->flags & SL_FLAG_OPTIONAL))
    return checker_refuse(c, "a list port is not optional: it can be empty");
  if ((is_port(m) || is_open(m)) && check_collection(c, m->collection)) return SL_EPLUGIN;
  if (m->kind == SL_MEMBER_IN && check_automatic(c)) return SL_EPLUGIN;
  if (is_open(m) && check_trait_name(c, m->trait)) return SL_EPLUGIN;
  if ((m->kind == SL_MEMBER_IN || m->kind == SL_MEMBER_OPEN_IN) && check_input_fields(c)) return SL_EPLUGIN;
  if ((m->kind == SL_MEMBER_SCRATCH || m->kind == SL_MEMBER_TABLE) && m->type >= SL_TYPE_bool)
    return checker_refuse(c, "type %u is no type of an element", m->type);
  if ((m->flags & SL_FLAG_TUNED) && (m->flags & SL_FLAG_SHARED))
    return checker_refuse(c, "scratch of the tuned version only, and of the other only");
  if (m->kind == SL_MEMBER_PROPERTY && check_property(c)) return SL_EPLUGIN;
  if (m->kind == SL_MEMBER_FIELD && check_reference(c)) return SL_EPLUGIN;
  if (m->kind == SL_MEMBER_PROGRAM && check_program(c)) return SL_EPLUGIN;
  if (check_prepared(c)) return SL_EPLUGIN;
  return check_place(c);
}

/* -------------------------------------------------------------------------------------------- algorithms */

static uint32_t count_members(const struct sl_algorithm *a, uint32_t kind) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->member_count; i++) count += a->members[i].kind == kind;
  return count;
}

/* Checks the number of members per kind of algorithm. */
static int check_kind_members(struct checker *c) {
  const struct sl_algorithm *a = c->algorithm;
  const uint32_t kind = a->kind;
  const uint32_t events = count_members(a, SL_MEMBER_EVENTS), inputs = count_members(a, SL_MEMBER_IN);
  const uint32_t outputs = count_members(a, SL_MEMBER_OUT), scratch = count_members(a, SL_MEMBER_SCRATCH);
  if (kind == SL_KIND_KERNEL && events != 1)
    return checker_refuse(c, "a kernel has one member SL_EVENTS(), but this one has %u", events);
  if (kind != SL_KIND_KERNEL && (events || scratch))
    return checker_refuse(c, "only kernels have SL_EVENTS() or scratch");
  const uint32_t open_in = count_members(a, SL_MEMBER_OPEN_IN), open_out = count_members(a, SL_MEMBER_OPEN_OUT);
  if ((open_in && kind != SL_KIND_SINK) || (open_out && kind != SL_KIND_SOURCE))
    return checker_refuse(c, "only sources have SL_OPEN_OUT, and only sinks have SL_OPEN_IN");
  if (kind == SL_KIND_SOURCE && inputs) return checker_refuse(c, "a source has no inputs");
  if (kind == SL_KIND_SINK && outputs) return checker_refuse(c, "a sink has no outputs");
  if (kind != SL_KIND_SINK && !outputs && !open_out) return checker_refuse(c, "it has no output");
  return SL_OK;
}

/* Constants have ARRAY fields only, and no other kind writes ARRAY fields. An output with items has offsets unless
 * it shares those of another port. */
static int check_port_shapes(const struct checker *c) {
  const struct sl_member *m = c->member;
  const int is_array = m->collection->fields[0].shape == SL_SHAPE_CODE_ARRAY;
  if (c->algorithm->kind == SL_KIND_CONSTANT && !is_array)
    return checker_refuse(c, "ports of a constant have ARRAY fields only, but collection %s has others",
                          m->collection->name);
  if (sl_is_totals(m->collection) && (m->kind != SL_MEMBER_OUT || c->algorithm->kind != SL_KIND_KERNEL))
    return checker_refuse(c, "only outputs of kernels have TOTAL fields, as collection %s does", m->collection->name);
  if (m->kind != SL_MEMBER_OUT) return SL_OK;
  if (sl_is_totals(m->collection) && (m->shares || m->in_place))
    return checker_refuse(c, "TOTAL fields share no offsets and no memory");
  if (c->algorithm->kind != SL_KIND_CONSTANT && is_array)
    return checker_refuse(c, "only constants write ARRAY fields, but collection %s has some", m->collection->name);
  if (c->algorithm->kind != SL_KIND_KERNEL && sl_is_event_list(m->collection))
    return checker_refuse(c, "only kernels make event lists");
  if (!m->shares && sl_has_items(m->collection) && sl_offsets_field(m->collection) < 0)
    return checker_refuse(c, "collection %s has items, so it needs a field of shape OFFSETS, or SL_SHARES_OFFSETS",
                          m->collection->name);
  return SL_OK;
}

static int check_functions(const struct checker *c) {
  const struct sl_algorithm *a = c->algorithm;
  if (a->prepare && a->kind != SL_KIND_KERNEL) return checker_refuse(c, "only kernels have the function prepare");
  switch (a->kind) {
    case SL_KIND_KERNEL:
      return a->run ? SL_OK : checker_refuse(c, "a kernel needs the function run");
    case SL_KIND_CONSTANT:
      return a->make ? SL_OK : checker_refuse(c, "a constant needs the function make");
    case SL_KIND_SOURCE:
      if (!a->source || !a->source->fill) return checker_refuse(c, "a source needs the function fill");
      return a->source->probe || !a->source->index
                 ? SL_OK
                 : checker_refuse(c, "a source with the function index needs probe, which recognises its files");
    default:
      return a->sink && a->sink->consume ? SL_OK : checker_refuse(c, "a sink needs the function consume");
  }
}

static int check_errors(const struct checker *c) {
  const struct sl_algorithm *a = c->algorithm;
  uint8_t seen[ERRORS_MAX + 1] = {0};
  if (a->error_count > ERRORS_MAX || (a->error_count && !a->errors))
    return checker_refuse(c, "%u event errors%s, at most %d are expected", a->error_count,
                          a->errors ? "" : " and no table of them", ERRORS_MAX);
  for (uint32_t i = 0; i < a->error_count; i++) {
    const struct sl_event_error *e = &a->errors[i];
    if (e->code < 1 || e->code > ERRORS_MAX)
      return checker_refuse(c, "event error %u has code %u, 1 to %d are expected", i, e->code, ERRORS_MAX);
    if (seen[e->code]++) return checker_refuse(c, "two event errors have code %u", e->code);
    if (!e->text || !*e->text) return checker_refuse(c, "event error %u has no text", e->code);
  }
  return SL_OK;
}

static int is_block(uint32_t threads, const char *target) {
  if (threads == 1 && strcmp(target, "cpu") == 0) return 1;
  return threads >= 32 && threads <= BLOCK_THREADS_MAX && threads % 32 == 0;
}

static int check_blocks(const struct checker *c, const char *target) {
  const struct sl_algorithm *a = c->algorithm;
  if (a->block_count > 0 && (a->kind != SL_KIND_KERNEL || !a->blocks || a->block_count > KERNELS_MAX))
    return checker_refuse(c, "%u block sizes of kernels%s, at most %d are expected, of a kernel algorithm",
                          a->block_count, a->blocks ? "" : " and no table of them", KERNELS_MAX);
  if (a->kind != SL_KIND_KERNEL) return SL_OK;
  if (!is_block(a->block_threads, target))
    return checker_refuse(c, "block size %u, a multiple of 32 up to %d is expected", a->block_threads,
                          BLOCK_THREADS_MAX);
  for (uint32_t b = 0; b < a->block_count; b++) {
    const struct sl_kernel_block *block = &a->blocks[b];
    if (!checker_is_identifier(block->kernel) || strcmp(block->kernel, SL_BLOCK_OTHERS) == 0)
      return checker_refuse(c, "block size %u is of \"%s\", which is not a kernel name", b,
                            block->kernel ? block->kernel : "NULL");
    if (!is_block(block->threads, target))
      return checker_refuse(c, "block size %u of kernel %s, a multiple of 32 up to %d is expected", block->threads,
                            block->kernel, BLOCK_THREADS_MAX);
    for (uint32_t i = 0; i < b; i++)
      if (strcmp(a->blocks[i].kernel, block->kernel) == 0)
        return checker_refuse(c, "two block sizes of kernel %s", block->kernel);
  }
  return SL_OK;
}

/* Any algorithm of a family runs nodes of all its algorithms, from contiguous argument structs. */
static int check_family(const struct checker *c, const struct sl_plugin *p) {
  const struct sl_algorithm *a = c->algorithm;
  if (!a->family && !a->run_family) return SL_OK;
  if (a->kind != SL_KIND_KERNEL) return checker_refuse(c, "only kernels can belong to a family");
  if (!a->family || !a->run_family)
    return checker_refuse(c, a->family ? "family %s has no function run_family" : "run_family needs a family name",
                          a->family);
  if (!checker_is_identifier(a->family)) return checker_refuse(c, "the family name \"%s\" is no identifier", a->family);
  for (uint32_t i = 0; p->algorithms[i] != a; i++) {
    const struct sl_algorithm *other = p->algorithms[i];
    if (!other->family || strcmp(other->family, a->family) != 0) continue;
    if (other->run_family != a->run_family)
      return checker_refuse(c, "its run_family differs from that of %s of the same family", other->name);
    if (other->args_size != a->args_size)
      return checker_refuse(c, "arguments of %u bytes, but %s of the same family has %u", a->args_size, other->name,
                            other->args_size);
  }
  return SL_OK;
}

static int check_members(struct checker *c) {
  const struct sl_algorithm *a = c->algorithm;
  if (a->member_count > CHECK_MEMBERS_MAX || !a->members)
    return checker_refuse(c, "%u members%s, at most %d are expected", a->member_count,
                          a->members ? "" : " and no table of them", CHECK_MEMBERS_MAX);
  if (a->kind == SL_KIND_KERNEL && count_members(a, SL_MEMBER_OUT) > CHECK_OUTPUTS_MAX)
    return checker_refuse(c, "%u outputs, at most %d are expected", count_members(a, SL_MEMBER_OUT), CHECK_OUTPUTS_MAX);
  for (uint32_t i = 0; i < a->member_count; i++)
    if (check_name(c, "member", i, a->members[i].name)) return SL_EPLUGIN;
  for (uint32_t i = 0; i < a->member_count; i++)
    if (sl_member_index(a, a->members[i].name) != (int)i)
      return checker_refuse(c, "two members %s", a->members[i].name);
  for (uint32_t i = 0; i < a->member_count; i++) {
    c->member = &a->members[i];
    if (check_member(c)) return SL_EPLUGIN;
  }
  for (uint32_t i = 0; i < a->member_count; i++) {
    c->member = &a->members[i];
    if (is_port(c->member) && check_port_shapes(c)) return SL_EPLUGIN;
    if (c->member->kind == SL_MEMBER_OUT && check_partners(c)) return SL_EPLUGIN;
    if (check_capacities(c)) return SL_EPLUGIN;
  }
  c->member = NULL;
  return SL_OK;
}

static int check_algorithm(struct checker *c, const struct sl_plugin *p) {
  const struct sl_algorithm *a = c->algorithm;
  if (!a->doc) return checker_refuse(c, "doc is NULL");
  if (a->kind > SL_KIND_SINK) return checker_refuse(c, "unknown kind %u", a->kind);
  if (a->args_size > ARGS_BYTES_MAX)
    return checker_refuse(c, "arguments of %u bytes, at most %d are expected", a->args_size, ARGS_BYTES_MAX);
  if (check_functions(c) || check_blocks(c, p->target) || check_errors(c) || check_members(c) || check_family(c, p))
    return SL_EPLUGIN;
  return check_kind_members(c);
}

/* ------------------------------------------------------------------------------------------------ plugin */

static int check_head(const struct checker *c, const struct sl_plugin *p) {
  if (p->magic != SL_PLUGIN_MAGIC)
    return checker_refuse(c, "magic %016llx, %016llx is expected", (unsigned long long)p->magic,
                          (unsigned long long)SL_PLUGIN_MAGIC);
  if (p->abi_version != SL_ABI_VERSION)
    return checker_refuse(c, "ABI version %u, this runtime supports %u", p->abi_version, SL_ABI_VERSION);
  if (p->size != sizeof(*p)) return checker_refuse(c, "descriptor of %u bytes, %zu are expected", p->size, sizeof(*p));
  return SL_OK;
}

static int check_plugin_texts(const struct checker *c, const struct sl_plugin *p) {
  if (!checker_is_identifier(p->name))
    return checker_refuse(c, "the plugin name \"%s\" is no identifier", p->name ? p->name : "NULL");
  if (!p->version || !*p->version) return checker_refuse(c, "the plugin has no version");
  if (!p->doc) return checker_refuse(c, "the doc of the plugin is NULL");
  if (!checker_is_identifier(p->target)) /* any name can be a target, because a backend may be a library */
    return checker_refuse(c, "target \"%s\" is no identifier", p->target ? p->target : "NULL");
  return SL_OK;
}

static int check_former_names(const struct checker *c, const struct sl_plugin *p) {
  if (p->former_count > CHECK_ALGORITHMS_MAX || (p->former_count > 0 && !p->former_names))
    return checker_refuse(c, "the table of former names is missing or too long");
  for (uint32_t i = 0; i < p->former_count; i++) {
    const struct sl_former_name *f = &p->former_names[i];
    if (!f->former || !f->algorithm) return checker_refuse(c, "former name %u: a name is NULL", i);
    if (sl_algorithm_index(p, f->algorithm) < 0)
      return checker_refuse(c, "former name %s refers to algorithm %s, which the plugin does not have", f->former,
                            f->algorithm);
  }
  return SL_OK;
}

static const struct sl_collection *collection_of(const struct sl_algorithm *a, uint32_t member) {
  return is_port(&a->members[member]) ? a->members[member].collection : NULL;
}

/* Each file that includes an event-model header has a copy of its tables; all copies in a plugin must agree. */
static int check_copies(struct checker *c, const struct sl_plugin *p, const struct sl_collection *collection) {
  char difference[256];
  for (uint32_t i = 0; i < p->algorithm_count; i++)
    for (uint32_t j = 0; j < p->algorithms[i]->member_count; j++) {
      const struct sl_collection *other = collection_of(p->algorithms[i], j);
      if (!other || strcmp(other->name, collection->name)) continue;
      if (!sl_collection_compare(collection, other, difference, sizeof(difference))) return SL_OK;
      return checker_refuse(c, "collection %s differs from that of algorithm %s: %s", collection->name,
                            p->algorithms[i]->name, difference);
    }
  return SL_OK;
}

int sl_plugin_check(const struct sl_plugin *plugin, char *reason, size_t reason_size) {
  struct checker c = {reason, reason_size, NULL, NULL};
  if (check_head(&c, plugin) || check_plugin_texts(&c, plugin)) return SL_EPLUGIN;
  if (!plugin->algorithms || plugin->algorithm_count < 1 || plugin->algorithm_count > CHECK_ALGORITHMS_MAX)
    return checker_refuse(&c, "%u algorithms%s, 1 to %d are expected", plugin->algorithm_count,
                          plugin->algorithms ? "" : " and no table of them", CHECK_ALGORITHMS_MAX);
  for (uint32_t i = 0; i < plugin->algorithm_count; i++) {
    const struct sl_algorithm *a = plugin->algorithms[i];
    if (!a) return checker_refuse(&c, "entry %u of the table of algorithms is NULL", i);
    if (check_name(&c, "algorithm", i, a->name)) return SL_EPLUGIN;
    for (uint32_t j = 0; j < i; j++)
      if (strcmp(plugin->algorithms[j]->name, a->name) == 0)
        return checker_refuse(&c, "two algorithms are named %s", a->name);
  }
  if (check_former_names(&c, plugin)) return SL_EPLUGIN;
  for (uint32_t i = 0; i < plugin->algorithm_count; i++) {
    c.algorithm = plugin->algorithms[i];
    if (check_algorithm(&c, plugin)) return SL_EPLUGIN;
    for (uint32_t j = 0; j < c.algorithm->member_count; j++) {
      const struct sl_collection *collection = collection_of(c.algorithm, j);
      if (collection && check_copies(&c, plugin, collection)) return SL_EPLUGIN;
    }
  }
  return SL_OK;
}
