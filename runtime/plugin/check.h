/* check.h: shared parts of the descriptor checks. */
#ifndef SL_CHECK_H
#define SL_CHECK_H

#include <sluice/plugin.h>

/* Maximum number of algorithms of a plugin, and of members of an algorithm. */
enum {
  CHECK_ALGORITHMS_MAX = 1024,
  CHECK_MEMBERS_MAX = 256,
  CHECK_OUTPUTS_MAX = 50
}; /* limited by the bits of event errors */

/* Position of the check; `algorithm` and `member` are NULL outside of one. */
struct checker {
  char *reason;
  size_t reason_size;
  const struct sl_algorithm *algorithm;
  const struct sl_member *member;
};

/* Writes "algorithm A: member M: text" to the reason; returns SL_EPLUGIN. */
int checker_refuse(const struct checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 1 for letters, digits and _, not beginning with a digit. */
int checker_is_identifier(const char *name);

/* Checks a property: unit, type, range and default. */
int check_property(const struct checker *c);

/* Checks the trait of a collection: names, and that its members are a port and the budgets of this port. */
int check_trait(const struct checker *c, const struct sl_collection *collection);
/* Checks that the name is PLUGIN.NAME. */
int check_trait_name(const struct checker *c, const char *name);

/* Checks the capacities of the member: present where needed, with terms that name existing members. All other
 * properties of members must have been checked before. */
int check_capacities(const struct checker *c);

#endif
