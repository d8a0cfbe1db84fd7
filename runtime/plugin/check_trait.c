/* check_trait.c: checks of traits. The members of a trait become members of algorithms of other plugins, so they must
 * be valid in any of them: a port, and budgets with its name as prefix, which its capacities name.
 */
#include "plugin/check.h"

#include <string.h>

enum { TRAIT_MEMBERS_MAX = 16 };

int check_trait_name(const struct checker *c, const char *name) {
  char part[64];
  const char *dot = name ? strchr(name, '.') : NULL;
  if (dot && (size_t)(dot - name) < sizeof part) {
    memcpy(part, name, (size_t)(dot - name));
    part[dot - name] = '\0';
    if (checker_is_identifier(part) && checker_is_identifier(dot + 1)) return SL_OK;
  }
  return checker_refuse(c, "the trait's name, \"%s\", is not PLUGIN.NAME", name ? name : "NULL");
}

/* 1 if the member is the port or a budget of it. */
static int check_kind(const struct checker *c, const struct sl_collection *collection, uint32_t index) {
  const struct sl_trait *trait = collection->trait;
  const struct sl_member *m = &trait->members[index];
  const size_t length = strlen(trait->port);
  if (!checker_is_identifier(m->name) || !m->doc)
    return checker_refuse(c, "collection %s: member %u of its trait has no name or no doc", collection->name, index);
  if (index == 0 && (m->kind != SL_MEMBER_OUT || m->flags || m->shares || m->in_place || strcmp(m->name, trait->port)))
    return checker_refuse(c, "collection %s: the first member of its trait is not SL_TRAIT_OUT(%s, ...)",
                          collection->name, trait->port);
  if (index > 0 && (m->kind != SL_MEMBER_PROPERTY || m->flags != SL_FLAG_BUDGET || m->type != SL_TYPE_u32 ||
                    strncmp(m->name, trait->port, length) != 0 || m->name[length] != '_'))
    return checker_refuse(c, "collection %s: member %s of its trait is not SL_TRAIT_BUDGET(%s_..., ...)",
                          collection->name, m->name, trait->port);
  for (uint32_t i = 0; i < index; i++)
    if (strcmp(trait->members[i].name, m->name) == 0)
      return checker_refuse(c, "collection %s: two members of its trait are named %s", collection->name, m->name);
  return SL_OK;
}

int check_trait(const struct checker *c, const struct sl_collection *collection) {
  const struct sl_trait *trait = collection->trait;
  struct sl_member members[TRAIT_MEMBERS_MAX];
  if (check_trait_name(c, trait->name)) return SL_EPLUGIN;
  if (!checker_is_identifier(trait->port))
    return checker_refuse(c, "collection %s: the port of its trait is no identifier", collection->name);
  if (trait->member_count > TRAIT_MEMBERS_MAX || (trait->member_count && !trait->members))
    return checker_refuse(c, "collection %s: its trait has %u members%s, at most %d are expected", collection->name,
                          trait->member_count, trait->members ? "" : " and no table of them", TRAIT_MEMBERS_MAX);
  if (trait->data_bytes && !trait->data)
    return checker_refuse(c, "collection %s: the data of its trait is NULL", collection->name);
  for (uint32_t i = 0; i < trait->member_count; i++) {
    if (check_kind(c, collection, i)) return SL_EPLUGIN;
    members[i] = trait->members[i];
  }
  /* Capacities and budgets are checked as in an algorithm with only these members. */
  struct sl_algorithm alone = {.name = "", .members = members, .member_count = trait->member_count};
  if (trait->member_count) members[0].collection = collection;
  if (c->algorithm) alone.name = c->algorithm->name;
  struct checker inner = {c->reason, c->reason_size, &alone, NULL};
  for (uint32_t i = 0; i < trait->member_count; i++) {
    inner.member = &members[i];
    if (i == 0 ? check_capacities(&inner) : check_property(&inner)) return SL_EPLUGIN;
  }
  return SL_OK;
}
