/* check_capacity.c: checks of capacities. Items and subitems of outputs and elements of scratch are computed in table
 * order, so a term must name an earlier port (budgets may stand anywhere; subitems of a port may refer to its own items
 * and earlier groups). This also excludes circular capacities.
 */
#include "plugin/check.h"
#include "plugin/tables.h"

#include <stdio.h>
#include <string.h>

static int is_port(const struct sl_member *m) { return m->kind == SL_MEMBER_IN || m->kind == SL_MEMBER_OUT; }

static int check_budget(const struct checker *c, const struct sl_member *named, const char *name, const char *what) {
  if (named && sl_is_budget(named)) return SL_OK;
  return checker_refuse(c, "%s: %s is no SL_BUDGET property", what, name);
}

static int check_counted(const struct checker *c, const struct sl_member *named, const char *name, const char *what) {
  if (named && named->kind == SL_MEMBER_PROPERTY && !(named->flags & SL_FLAG_BUDGET) && named->type == SL_TYPE_u32 &&
      named->count == 0)
    return SL_OK;
  return checker_refuse(c, "%s: %s is no SL_U32 property", what, name);
}

/* Checks that a term of bound `of` of the member names something countable. */
static int check_term(const struct checker *c, const struct sl_term *term, const char *what, uint32_t of) {
  if (term->kind > SL_TERM_DIMENSION) return checker_refuse(c, "%s: unknown kind of term %u", what, term->kind);
  if (term->kind == SL_TERM_NONE || term->kind == SL_TERM_CONSTANT) return SL_OK;
  if (term->divide < 1) return checker_refuse(c, "%s: division by 0", what);
  if (term->kind == SL_TERM_EVENTS) return SL_OK;
  if (!term->of) return checker_refuse(c, "%s: a term names nothing", what);

  uint32_t bound;
  const int index = sl_term_member(c->algorithm, term, &bound);
  const struct sl_member *named = index < 0 ? NULL : &c->algorithm->members[index];
  if (term->kind == SL_TERM_BUDGET) return check_budget(c, named, term->of, what);
  if (term->kind == SL_TERM_PROPERTY) return check_counted(c, named, term->of, what);
  if (!named || !is_port(named)) return checker_refuse(c, "%s: %s is no port", what, term->of);
  const int counts_entries = term->kind == SL_TERM_ENTRIES || term->kind == SL_TERM_EVENT_ENTRIES;
  if (counts_entries && !(named->flags & SL_FLAG_LIST))
    return checker_refuse(c, "%s: %s is no list port (SL_LIST_IN)", what, term->of);
  if (term->kind == SL_TERM_ITEMS && !sl_has_items(named->collection) && sl_offsets_field(named->collection) < 0)
    return checker_refuse(c, "%s: port %s has no items", what, term->of);
  if (term->kind == SL_TERM_SUBITEMS && sl_bound_count(named->collection) == 1)
    return checker_refuse(c, "%s: port %s has no subitems", what, term->of);
  if (term->kind == SL_TERM_SUBITEMS && bound == 0)
    return checker_refuse(c, "%s: %s is not a group of subitems of the port (PORT.FIELD)", what, term->of);
  if (term->kind == SL_TERM_DIMENSION && bound == UINT32_MAX)
    return checker_refuse(c, "%s: %s is no dimension of a port (PORT.NAME)", what, term->of);
  if (term->kind == SL_TERM_DIMENSION && named <= c->member) return SL_OK;
  if (term->kind != SL_TERM_DIMENSION && (named < c->member || (named == c->member && bound < of))) return SL_OK;
  return checker_refuse(c, "%s: port %s is not earlier in the table", what, term->of);
}

/* Checks the capacity of bound `of`. */
static int check_capacity(const struct checker *c, const struct sl_capacity *capacity, uint32_t of, int needed) {
  char what[128] = "items", name[112];
  if (c->member->kind == SL_MEMBER_SCRATCH) snprintf(what, sizeof what, "elements");
  if (of > 0) sl_bound_name(c->member, of, name, sizeof name);
  if (of > 0) snprintf(what, sizeof what, strchr(name, '.') ? "subitems of %s" : "subitems", name);
  if (capacity->combine > SL_COMBINE_PRODUCT)
    return checker_refuse(c, "%s: unknown combination %u", what, capacity->combine);
  if (capacity->terms[0].kind == SL_TERM_NONE && needed)
    return checker_refuse(c, "the capacity for its %s is missing", what);
  for (int i = 0; i < SL_TERMS_MAX; i++) {
    if (i > 0 && capacity->terms[i - 1].kind == SL_TERM_NONE && capacity->terms[i].kind != SL_TERM_NONE)
      return checker_refuse(c, "%s: term %d is not used, but term %d is", what, i, i + 1);
    if (check_term(c, &capacity->terms[i], what, of)) return SL_EPLUGIN;
  }
  return SL_OK;
}

/* The number of totals must not depend on the slice size. */
static int check_totals(const struct checker *c) {
  for (int i = 0; i < SL_TERMS_MAX; i++) {
    const uint32_t kind = c->member->capacity.terms[i].kind;
    if (kind != SL_TERM_NONE && kind != SL_TERM_CONSTANT && kind != SL_TERM_ENTRIES && kind != SL_TERM_PROPERTY &&
        kind != SL_TERM_DIMENSION)
      return checker_refuse(c,
                            "items: TOTAL fields are counted by SL_CONSTANT_TERM, SL_ENTRIES_TERM, "
                            "SL_PROPERTY_TERM or SL_DIMENSION_TERM");
  }
  return SL_OK;
}

/* Sizes of dimensions are computed before capacities, from properties and from dimensions of inputs. */
static int check_sizes(const struct checker *c) {
  const struct sl_member *m = c->member;
  for (uint32_t d = 0; d < SL_DIMENSIONS_MAX; d++) {
    const struct sl_term *term = &m->dimensions[d];
    char what[128];
    if (d >= m->collection->dimension_count) {
      if (term->kind == SL_TERM_NONE) continue;
      return checker_refuse(c, "sizes of %u dimensions are expected, more are given", m->collection->dimension_count);
    }
    snprintf(what, sizeof what, "dimension %s", m->collection->dimensions[d].name);
    if (term->kind == SL_TERM_NONE) return checker_refuse(c, "the size of its %s is missing (SL_DIMENSIONS)", what);
    if (term->kind != SL_TERM_CONSTANT && term->kind != SL_TERM_PROPERTY && term->kind != SL_TERM_DIMENSION)
      return checker_refuse(
          c, "%s: a size is SL_CONSTANT_TERM, SL_PROPERTY_TERM, SL_DIMENSION_TERM or SL_DIMENSION_SCALED", what);
    if (check_term(c, term, what, 0)) return SL_EPLUGIN;
    uint32_t index;
    const int of = term->kind == SL_TERM_DIMENSION ? sl_term_member(c->algorithm, term, &index) : -1;
    if (of >= 0 && c->algorithm->members[of].kind != SL_MEMBER_IN)
      return checker_refuse(c, "%s: %s is no dimension of an input", what, term->of);
  }
  return SL_OK;
}

/* Names of entries come from an earlier list port. */
static int check_names(const struct checker *c) {
  static const char *const taken[] = {"output", "field", "value"}; /* other labels of the metrics */
  const struct sl_names *names = &c->member->names;
  const struct sl_collection *collection = c->member->collection;
  if (names->kind == SL_NAMES_NONE) return SL_OK;
  if (names->kind > SL_NAMES_OF_INDICES) return checker_refuse(c, "names: unknown kind %u", names->kind);
  const int port = names->port ? sl_member_index(c->algorithm, names->port) : -1;
  if (port < 0 || c->algorithm->members[port].kind != SL_MEMBER_IN ||
      !(c->algorithm->members[port].flags & SL_FLAG_LIST))
    return checker_refuse(c, "names: %s is no list port", names->port ? names->port : "NULL");
  if (!checker_is_identifier(names->label)) return checker_refuse(c, "names: the label is no identifier");
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
    if (strcmp(names->label, taken[i]) == 0)
      return checker_refuse(c, "names: the label is `%s`, which already has a meaning in results", names->label);
  if (names->kind == SL_NAMES_OF_ENTRIES) {
    const struct sl_term *terms = c->member->capacity.terms;
    const int is_count = terms[0].kind == SL_TERM_ENTRIES && terms[1].kind == SL_TERM_NONE && terms[0].multiply == 1 &&
                         terms[0].divide == 1 && terms[0].add == 0 && terms[0].of &&
                         strcmp(terms[0].of, names->port) == 0;
    return sl_is_totals(collection) && is_count
               ? SL_OK
               : checker_refuse(c, "names: totals with the capacity SL_ONE(SL_ENTRIES_TERM(%s)) are expected",
                                names->port);
  }
  for (uint32_t f = 0; names->field && f < collection->field_count; f++)
    if (strcmp(collection->fields[f].name, names->field) == 0 && collection->fields[f].type == SL_TYPE_u32 &&
        collection->fields[f].shape == SL_SHAPE_CODE_PER_ITEM && collection->fields[f].width == 1)
      return SL_OK;
  return checker_refuse(c, "names: collection %s has no u32 field %s with one value per item", collection->name,
                        names->field ? names->field : "NULL");
}

static int is_member(const struct checker *c, const char *name, uint32_t kind, uint32_t type) {
  const int m = name ? sl_member_index(c->algorithm, name) : -1;
  if (m < 0 || c->algorithm->members[m].kind != kind) return 0;
  return kind == SL_MEMBER_FIELD || (c->algorithm->members[m].type == type && c->algorithm->members[m].count == 0);
}

static int is_bins_term(const struct sl_term *term, const char *bins) {
  return term->kind == SL_TERM_PROPERTY && term->multiply == 1 && term->divide == 1 && term->add == SL_AXIS_BESIDE &&
         strcmp(term->of, bins) == 0;
}

/* The bins of a histogram (SL_HISTOGRAM): the members that its axes name, and the number of entries. */
static int check_histogram(const struct checker *c) {
  const struct sl_member *m = c->member;
  const struct sl_collection *collection = m->collection;
  const struct sl_axis_members *axes = m->axes;
  const uint32_t count = axes[1].field ? 2 : 1;
  if (!axes[0].field) return axes[1].field || m->title ? checker_refuse(c, "histogram: it has no first axis") : SL_OK;
  for (uint32_t a = 0; a < count; a++) {
    if (!is_member(c, axes[a].field, SL_MEMBER_FIELD, 0) ||
        c->algorithm->members[sl_member_index(c->algorithm, axes[a].field)].flags)
      return checker_refuse(c, "histogram: %s is no field reference that a graph must set", axes[a].field);
    if (!is_member(c, axes[a].bins, SL_MEMBER_PROPERTY, SL_TYPE_u32))
      return checker_refuse(c, "histogram: %s is no property of type u32", axes[a].bins ? axes[a].bins : "NULL");
    const char *const limits[] = {axes[a].lower, axes[a].upper};
    for (int i = 0; i < 2; i++)
      if (!is_member(c, limits[i], SL_MEMBER_PROPERTY, SL_TYPE_f64))
        return checker_refuse(c, "histogram: %s is no property of type f64", limits[i] ? limits[i] : "NULL");
  }
  if (m->title && !is_member(c, m->title, SL_MEMBER_PROPERTY, SL_TYPE_string))
    return checker_refuse(c, "histogram: %s is no property of type string", m->title);
  const int is_counts = sl_is_totals(collection) && collection->field_count == 1 && collection->fields[0].width == 1 &&
                        collection->fields[0].type != SL_TYPE_i64;
  if (!is_counts) return checker_refuse(c, "histogram: totals with one field, of type u32 or u64, are expected");
  const struct sl_term *terms = m->capacity.terms;
  const int is_sized = (count == 1 || m->capacity.combine == SL_COMBINE_PRODUCT) &&
                       is_bins_term(&terms[0], axes[0].bins) && (count == 1 || is_bins_term(&terms[1], axes[1].bins)) &&
                       terms[count].kind == SL_TERM_NONE;
  return is_sized ? SL_OK : checker_refuse(c, "histogram: its capacity is not that of SL_HISTOGRAM");
}

int check_capacities(const struct checker *c) {
  const struct sl_member *m = c->member;
  if (m->kind == SL_MEMBER_SCRATCH) return check_capacity(c, &m->capacity, 0, 1);
  if (m->kind != SL_MEMBER_OUT) return SL_OK;
  if (check_sizes(c)) return SL_EPLUGIN;
  const int is_totals = sl_is_totals(m->collection);
  if (check_capacity(c, &m->capacity, 0, is_totals || (sl_has_items(m->collection) && !m->shares))) return SL_EPLUGIN;
  if (is_totals && check_totals(c)) return SL_EPLUGIN;
  if (check_names(c) || check_histogram(c)) return SL_EPLUGIN;
  const uint32_t bounds = sl_bound_count(m->collection);
  for (uint32_t b = 1; b < bounds; b++)
    if (check_capacity(c, &m->sub_capacities[b - 1], b, 1)) return SL_EPLUGIN;
  for (uint32_t g = bounds - 1; g < SL_GROUPS_MAX; g++)
    if (m->sub_capacities[g].terms[0].kind != SL_TERM_NONE)
      return checker_refuse(c, "%u capacities for subitems are expected, more are given", bounds - 1);
  return SL_OK;
}
