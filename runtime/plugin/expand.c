/* expand.c: see expand.h. The structs of the ports follow the own arguments of the algorithm; those of one open port
 * form an array. After them each budget has an offset, which only capacities read.
 */
#include "plugin/expand.h"

#include "plugin/registry.h"
#include "plugin/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 8 };

static int is_open(const struct sl_member *m) { return m->kind == SL_MEMBER_OPEN_IN || m->kind == SL_MEMBER_OPEN_OUT; }

/* The i-th collection with a trait in the tables of a plugin, counted with repetitions; NULL after the last. */
static const struct sl_collection *trait_collection(const struct sl_plugin *plugin, uint32_t index) {
  for (uint32_t i = 0; i < plugin->algorithm_count; i++)
    for (uint32_t j = 0; j < plugin->algorithms[i]->member_count; j++) {
      const struct sl_collection *c = plugin->algorithms[i]->members[j].collection;
      if (c && c->trait && index-- == 0) return c;
    }
  return NULL;
}

/* ------------------------------------------------------------------------------------------------ checking */

static int check_layout(const struct sl_member *open, const struct sl_collection *c, char *reason, size_t size) {
  struct sl_collection as_base = *c;
  char difference[256];
  as_base.name = open->collection->name;
  as_base.trait = open->collection->trait;
  if (!sl_collection_compare(&as_base, open->collection, difference, sizeof difference)) return SL_OK;
  snprintf(reason, size, "collection %s has the trait %s, but not the fields of %s: %s", c->name, open->trait,
           open->collection->name, difference);
  return SL_EPLUGIN;
}

static int check_names(const struct sl_plugin *plugin, const struct sl_algorithm *a, const struct sl_collection *c,
                       char *reason, size_t size) {
  for (uint32_t i = 0; i < c->trait->member_count || i == 0; i++) {
    const char *name = i == 0 ? c->trait->port : c->trait->members[i].name;
    if (sl_member_index(a, name) < 0) continue;
    snprintf(reason, size, "collection %s has the trait %s with the name %s, which %s.%s uses for a member", c->name,
             c->trait->name, name, plugin->name, a->name);
    return SL_EPLUGIN;
  }
  return SL_OK;
}

static int check_against(const struct sl_collection *c, const struct sl_plugin *plugin, char *reason, size_t size) {
  for (uint32_t i = 0; i < plugin->algorithm_count; i++)
    for (uint32_t j = 0; j < plugin->algorithms[i]->member_count; j++) {
      const struct sl_algorithm *a = plugin->algorithms[i];
      const struct sl_member *open = &a->members[j];
      if (!is_open(open) || strcmp(open->trait, c->trait->name) != 0) continue;
      if (check_layout(open, c, reason, size) || check_names(plugin, a, c, reason, size)) return SL_EPLUGIN;
      if (open->kind == SL_MEMBER_OPEN_IN || c->trait->member_count > 0) continue;
      snprintf(reason, size, "collection %s has the trait %s without capacities of an output, which %s.%s needs",
               c->name, c->trait->name, plugin->name, a->name);
      return SL_EPLUGIN;
    }
  return SL_OK;
}

int sl_open_ports_check(const struct sl_plugin *collections, const struct sl_plugin *ports, char *reason, size_t size) {
  const struct sl_collection *c, *other;
  for (uint32_t i = 0; (c = trait_collection(collections, i)); i++) {
    if (check_against(c, ports, reason, size)) return SL_EPLUGIN;
    for (uint32_t j = 0; (other = trait_collection(ports, j)); j++) {
      const int is_same_port =
          strcmp(c->trait->name, other->trait->name) == 0 && strcmp(c->trait->port, other->trait->port) == 0;
      if (!is_same_port || strcmp(c->name, other->name) == 0) continue;
      snprintf(reason, size, "two collections with the trait %s use the port %s: %s of %s and %s of %s", c->trait->name,
               c->trait->port, c->name, collections->name, other->name, ports->name);
      return SL_EPLUGIN;
    }
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- traits */

static int compare(const struct sl_collection *a, const struct sl_collection *b) {
  const int order = strcmp(a->trait->name, b->trait->name);
  return order ? order : strcmp(a->trait->port, b->trait->port);
}

static int insert(struct sl_traits *traits, const struct sl_collection *c) {
  uint32_t place = 0;
  while (place < traits->count && compare(traits->collections[place], c) < 0) place++;
  if (place < traits->count && compare(traits->collections[place], c) == 0) return SL_OK;
  const struct sl_collection **larger =
      realloc(traits->collections, (traits->count + 1) * sizeof(const struct sl_collection *));
  if (!larger) return SL_ENOMEM;
  memmove(larger + place + 1, larger + place, (traits->count - place) * sizeof *larger);
  larger[place] = c;
  traits->collections = larger;
  traits->count++;
  return SL_OK;
}

int sl_traits_add(struct sl_traits *traits, const struct sl_plugin *plugin) {
  const struct sl_collection *c;
  int status = SL_OK;
  for (uint32_t i = 0; status == SL_OK && (c = trait_collection(plugin, i)); i++) status = insert(traits, c);
  return status;
}

void sl_traits_free(struct sl_traits *traits) {
  free(traits->collections);
  *traits = (struct sl_traits){0};
}

/* ----------------------------------------------------------------------------------------------- expanding */

static uint32_t aligned(uint32_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static uint32_t open_count(const struct sl_algorithm *a) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->member_count; i++) count += is_open(&a->members[i]);
  return count;
}

int sl_has_open_ports(const struct sl_plugin *plugin) {
  for (uint32_t i = 0; i < plugin->algorithm_count; i++)
    if (open_count(plugin->algorithms[i]) > 0) return 1;
  return 0;
}

static int takes(const struct sl_member *open, const struct sl_collection *c) {
  return strcmp(open->trait, c->trait->name) == 0;
}

/* Number of members that replace an open port, including itself. */
static uint32_t members_of(const struct sl_member *open, const struct sl_traits *traits) {
  uint32_t count = 1;
  for (uint32_t i = 0; i < traits->count; i++)
    if (takes(open, traits->collections[i]))
      count += open->kind == SL_MEMBER_OPEN_IN ? 1 : traits->collections[i]->trait->member_count;
  return count;
}

static struct sl_member port_of(const struct sl_member *open, const struct sl_collection *c) {
  struct sl_member port = {
      .name = c->trait->port, .kind = SL_MEMBER_IN, .flags = SL_FLAG_OPTIONAL | SL_FLAG_AUTO, .fields = open->fields};
  if (open->kind == SL_MEMBER_OPEN_OUT) port = c->trait->members[0];
  port.doc = c->doc;
  port.collection = c;
  port.flags |= SL_FLAG_OPENED;
  port.args_size = sl_collection_bytes(c);
  return port;
}

/* Writes an open port and its replacement; returns the next free member of the table. `end` is the end of the
 * arguments. */
static struct sl_member *open_port(const struct sl_member *from, const struct sl_traits *traits, struct sl_member *to,
                                   uint32_t *end) {
  struct sl_member *open = to++;
  *open = *from;
  open->collection = NULL;
  for (uint32_t i = 0; i < traits->count; i++) {
    if (!takes(from, traits->collections[i])) continue;
    *to = port_of(from, traits->collections[i]);
    to->args_offset = *end;
    *end += to++->args_size;
    open->count++;
  }
  for (uint32_t i = 0; from->kind == SL_MEMBER_OPEN_OUT && i < traits->count; i++) {
    const struct sl_trait *trait = traits->collections[i]->trait;
    for (uint32_t m = 1; takes(from, traits->collections[i]) && m < trait->member_count; m++) {
      *to = trait->members[m];
      to->flags |= SL_FLAG_OPENED;
      to++->args_offset = *end;
      *end += ALIGNMENT;
    }
  }
  return to;
}

static struct sl_member *expand_algorithm(const struct sl_algorithm *from, const struct sl_traits *traits,
                                          struct sl_algorithm *to, struct sl_member *members) {
  uint32_t end = aligned(from->args_size);
  *to = *from;
  to->members = members;
  for (uint32_t i = 0; i < from->member_count; i++) {
    if (is_open(&from->members[i]))
      members = open_port(&from->members[i], traits, members, &end);
    else
      *members++ = from->members[i];
  }
  to->member_count = (uint32_t)(members - to->members);
  to->args_size = end;
  return members;
}

struct sl_plugin *sl_plugin_expand(const struct sl_plugin *plugin, const struct sl_traits *traits) {
  size_t algorithms = 0, members = 0;
  for (uint32_t i = 0; i < plugin->algorithm_count; i++) {
    const struct sl_algorithm *a = plugin->algorithms[i];
    if (open_count(a) == 0) continue;
    algorithms++;
    for (uint32_t m = 0; m < a->member_count; m++)
      members += is_open(&a->members[m]) ? members_of(&a->members[m], traits) : 1;
  }
  const size_t table_bytes = plugin->algorithm_count * sizeof(const struct sl_algorithm *);
  struct sl_plugin *copy = malloc(sizeof *copy + table_bytes + algorithms * sizeof(struct sl_algorithm) +
                                  members * sizeof(struct sl_member));
  if (!copy) return NULL;
  const struct sl_algorithm **table = (const struct sl_algorithm **)(copy + 1);
  struct sl_algorithm *next = (struct sl_algorithm *)(table + plugin->algorithm_count);
  struct sl_member *next_member = (struct sl_member *)(next + algorithms);
  *copy = *plugin;
  copy->algorithms = table;
  for (uint32_t i = 0; i < plugin->algorithm_count; i++) {
    table[i] = plugin->algorithms[i];
    if (open_count(table[i]) == 0) continue;
    next_member = expand_algorithm(table[i], traits, next, next_member);
    table[i] = next++;
  }
  return copy;
}

/* Layout of any BASE_ports. */
struct open_ports {
  void *at;
  const struct sl_member *ports;
  uint32_t count, reserved;
};

void sl_open_ports_fill(const struct sl_algorithm *algorithm, void *args) {
  for (uint32_t i = 0; i < algorithm->member_count; i++) {
    const struct sl_member *open = &algorithm->members[i];
    if (!is_open(open)) continue;
    struct open_ports filled = {NULL, open + 1, open->count, 0};
    if (open->count > 0) filled.at = (char *)args + open[1].args_offset;
    memcpy((char *)args + open->args_offset, &filled, sizeof filled);
  }
}
