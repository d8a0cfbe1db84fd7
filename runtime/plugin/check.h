/* check.h: what the files of the descriptor's lint share. */
#ifndef SL_CHECK_H
#define SL_CHECK_H

#include <sluice/plugin.h>

/* The most algorithms of a plugin, and members of an algorithm. */
enum {
  CHECK_ALGORITHMS_MAX = 1024,
  CHECK_MEMBERS_MAX = 256,
  CHECK_OUTPUTS_MAX = 50
}; /* the last as event errors have bits for */

/* Where the lint stands; `algorithm` and `member` are NULL outside of one. */
struct checker {
  char *reason;
  size_t reason_size;
  const struct sl_algorithm *algorithm;
  const struct sl_member *member;
};

/* Writes "algorithm A: member M: text" to the reason; returns SL_EPLUGIN. */
int checker_refuse(const struct checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Letters, digits and _, the first no digit. */
int checker_is_identifier(const char *name);

/* A property: unit, type, range and default. */
int check_property(const struct checker *c);

/* The trait of a collection that has one: names, and that its members are a port and the budgets of that. */
int check_trait(const struct checker *c, const struct sl_collection *collection);
/* PLUGIN.NAME */
int check_trait_name(const struct checker *c, const char *name);

/* The capacities of the member: there where needed, and their terms name what exists. Everything else about the members
 * has been checked before. */
int check_capacities(const struct checker *c);

#endif
