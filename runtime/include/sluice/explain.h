/* explain.h: requirements that decide, and that `sluice explain` shows. A predicate states each requirement once:
 *
 *   static SL_DEVICE uint32_t passes(const struct pulse_args *a, uint32_t event, struct sl_explanation *explanation) {
 *     SL_REQUIRE("pulses", a->pulses.count[event], >=, a->min_pulses);
 *     SL_REQUIRE_THAT("the trigger is internal", a->header.trigger[event] == 0);
 *     return 1;
 *   }
 *
 * In kernels `explanation` is NULL: the predicate returns 0 at the first requirement that is not met, and nothing is
 * recorded. For `sluice explain` the same predicate runs once more, on the host and on target cpu only, with an
 * explanation: it records every requirement and goes on, also after one that is not met. The explained verdict is
 * sl_explained(explanation, value that the predicate returned). Arguments of the macros are evaluated more than once;
 * they have no side effects.
 */
#ifndef SLUICE_EXPLAIN_H
#define SLUICE_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

/* Roles of rows. */
enum {
  SL_ROLE_REQUIREMENT, /* must be met */
  SL_ROLE_EITHER,      /* this requirement, or the next one (SL_ROLE_OR), must be met */
  SL_ROLE_OR,
  SL_ROLE_PART, /* a part of the condition that follows as a requirement */
  SL_ROLE_VALUE /* a value that identifies a candidate, or that the next row is about */
};

/* One row of an explanation. The texts are borrowed until the call returns. */
struct sl_requirement {
  const char *name;       /* of the value, as a user calls it: "chi2 of the vertex" */
  const char *comparison; /* "<", "<=", ">", ">=", "==", "!=", "has"; "": none, the row is a condition or a value */
  const char *limit_name; /* the limit in the source, "a->max_chi2", or in an expression, "2 GeV"; NULL: none */
  double value, limit;    /* of a condition the value is 1 or 0 */
  uint32_t is_met;        /* 1 or 0; 1 for a value */
  uint32_t role;
};

/* 1: the requirement rejects. If none of two alternatives is met, the second one rejects. `before`: the row before; may
 * be NULL for the first row. */
static inline uint32_t sl_requirement_rejects(const struct sl_requirement *before, const struct sl_requirement *r) {
  const uint32_t is_or = r->role == SL_ROLE_OR && before && !before->is_met ? 1u : 0u;
  return !r->is_met && (r->role == SL_ROLE_REQUIREMENT || is_or) ? 1u : 0u;
}

/* Receiver of an explanation, for sl_algorithm.explain. Owned by the runtime; used by one thread. */
struct sl_explanation {
  uint32_t size;     /* sizeof(struct sl_explanation) */
  uint32_t is_unmet; /* 1: a requirement of the candidate, or outside of candidates of the event, was not met */
  void *context;     /* first argument of the functions */
  void (*requirement)(void *context, const struct sl_requirement *r);
  /* Around the requirements of a candidate, with its index in the event. Requirements outside are of the event. */
  void (*begin)(void *context, uint32_t index);
  void (*end)(void *context, uint32_t is_accepted);
};

static inline uint32_t sl_explained(const struct sl_explanation *e, uint32_t returned) {
  return returned && !e->is_unmet ? 1u : 0u;
}

/* Begin and end the requirements of the candidate `index` of the event. sl_explain_end returns the verdict on the
 * candidate, from the value that its predicate returned; `event_is_unmet`, which sl_explain_begin returned, says
 * whether a requirement of the event was not met before. */
static inline uint32_t sl_explain_begin(struct sl_explanation *e, uint32_t index) {
  const uint32_t event_is_unmet = e->is_unmet;
  e->begin(e->context, index);
  e->is_unmet = 0;
  return event_is_unmet;
}
static inline uint32_t sl_explain_end(struct sl_explanation *e, uint32_t event_is_unmet, uint32_t returned) {
  const uint32_t is_accepted = sl_explained(e, returned);
  e->end(e->context, is_accepted);
  e->is_unmet = event_is_unmet;
  return is_accepted;
}

/* Records a requirement; returns 1, so that the predicate goes on. */
static inline uint32_t sl_explain_(struct sl_explanation *e, const char *name, double value, const char *comparison,
                                   double limit, const char *limit_name, uint32_t is_met) {
  struct sl_requirement r = {name, comparison, limit_name, value, limit, is_met, SL_ROLE_REQUIREMENT};
  e->requirement(e->context, &r);
  e->is_unmet |= is_met ? 0u : 1u;
  return 1;
}

/* Records two requirements; one of them must be met. */
static inline uint32_t sl_explain_either_(struct sl_explanation *e, struct sl_requirement first,
                                          struct sl_requirement second) {
  first.role = SL_ROLE_EITHER;
  second.role = SL_ROLE_OR;
  e->requirement(e->context, &first);
  e->requirement(e->context, &second);
  e->is_unmet |= first.is_met || second.is_met ? 0u : 1u;
  return 1;
}

/* Records a value that no requirement compares, such as the index of a child. */
static inline void sl_explain_value_(struct sl_explanation *e, const char *name, double value) {
  struct sl_requirement r = {name, "", NULL, value, 0, 1, SL_ROLE_VALUE};
  e->requirement(e->context, &r);
}

#ifdef SL_TARGET_CPU
#define SL_MEETS_(name_, value_, comparison_, limit_)                                                       \
  (explanation ? sl_explain_(explanation, name_, (double)(value_), #comparison_, (double)(limit_), #limit_, \
                             (value_)comparison_(limit_) ? 1u : 0u)                                         \
               : ((value_)comparison_(limit_) ? 1u : 0u))
#define SL_HOLDS_(name_, condition_)                                                                        \
  (explanation ? sl_explain_(explanation, name_, (condition_) ? 1 : 0, "", 1, NULL, (condition_) ? 1u : 0u) \
               : ((condition_) ? 1u : 0u))
#define SL_ROW_(name_, value_, comparison_, limit_)                                                            \
  (struct sl_requirement) {                                                                                    \
    name_, #comparison_, #limit_, (double)(value_), (double)(limit_), (value_)comparison_(limit_) ? 1u : 0u, 0 \
  }
#define SL_MEETS_EITHER_(name_, value_, comparison_, limit_, name2_, value2_, comparison2_, limit2_) \
  (explanation ? sl_explain_either_(explanation, SL_ROW_(name_, value_, comparison_, limit_),        \
                                    SL_ROW_(name2_, value2_, comparison2_, limit2_))                 \
               : ((value_)comparison_(limit_) || (value2_)comparison2_(limit2_) ? 1u : 0u))
#define SL_EXPLAIN_VALUE(name_, value_)                                       \
  do {                                                                        \
    if (explanation) sl_explain_value_(explanation, name_, (double)(value_)); \
  } while (0)
/* The function that explains an algorithm: see sl_algorithm.explain. */
#define SL_EXPLAIN(function) .explain = function
#else
#define SL_MEETS_(name_, value_, comparison_, limit_) ((void)explanation, (value_)comparison_(limit_))
#define SL_HOLDS_(name_, condition_)                  ((void)explanation, (condition_))
#define SL_MEETS_EITHER_(name_, value_, comparison_, limit_, name2_, value2_, comparison2_, limit2_) \
  ((void)explanation, (value_)comparison_(limit_) || (value2_)comparison2_(limit2_))
#define SL_EXPLAIN_VALUE(name_, value_) ((void)explanation)
#define SL_EXPLAIN(function)            .explain = NULL
#endif

/* Ends the predicate with 0 unless `value comparison limit`: SL_REQUIRE("pt", a->candidates.pt[i], >=, a->min_pt).
 * `comparison` is <, <=, >, >=, == or !=. A limit that is a property, a->NAME, is shown with its name and unit. */
#define SL_REQUIRE(name_, value_, comparison_, limit_)            \
  do {                                                            \
    if (!SL_MEETS_(name_, value_, comparison_, limit_)) return 0; \
  } while (0)
/* Ends the predicate with 0 unless the condition holds. */
#define SL_REQUIRE_THAT(name_, condition_)       \
  do {                                           \
    if (!SL_HOLDS_(name_, condition_)) return 0; \
  } while (0)
/* As SL_REQUIRE_THAT, but ends the predicate also in an explanation: what follows is not valid without it. */
#define SL_REQUIRE_FIRST(name_, condition_)                       \
  do {                                                            \
    if (!SL_HOLDS_(name_, condition_) || !(condition_)) return 0; \
  } while (0)
/* Ends the predicate with 0 unless one of two requirements is met. */
#define SL_REQUIRE_EITHER(name_, value_, comparison_, limit_, name2_, value2_, comparison2_, limit2_)            \
  do {                                                                                                           \
    if (!SL_MEETS_EITHER_(name_, value_, comparison_, limit_, name2_, value2_, comparison2_, limit2_)) return 0; \
  } while (0)

#endif
