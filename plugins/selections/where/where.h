/* where.h: lines without code. The requirements are an expression in the graph, where: "pt > 2 GeV and chi2 < 20"
 * (docs/expressions.md). It is compiled once (where_compile.c); the kernels interpret the program for each candidate
 * (sluice/expression_machine.h). Masses are operations of this plugin. */
#ifndef SELECTIONS_WHERE_H
#define SELECTIONS_WHERE_H

#include <sluice/expression.h>
#include <sluice/math.h>

/* Numbers of the links of a pair of particles, or of vertices: its children. */
enum { WHERE_FIRST, WHERE_SECOND };

/* A decay into two bodies: their momenta and 1 - cos of their angle. An item is 0 for the candidate, or the number of a
 * link plus 1. Without the optional input with the values of `first` the next decay stands for this one. */
struct where_decay {
  uint32_t first_p, second_p, opening; /* offsets of the pointers to the values in the arguments */
  uint32_t first, second, own;         /* the items that have these values */
};

/* The table of a line begins with the children of the candidates; the program follows. */
enum { WHERE_LINKS_MAX = 8, WHERE_DECAYS_MAX = 4 };
struct where_children {
  struct sl_expression_link links[WHERE_LINKS_MAX];
  struct where_decay decays[WHERE_DECAYS_MAX];
};
enum { WHERE_PROGRAM = sizeof(struct where_children) / sizeof(uint64_t) }; /* its place in the table, in words */

struct where_size {
  uint32_t words, leading; /* of a program: see struct sl_expression_program */
};

/* A mass of a decay; the first decay is that of the candidate.
 * MASS: the bodies have the masses of both arguments. With more arguments the first body is the next decay with the
 * mass of all arguments but the last. MASS_DIFFERENCE: MASS less the mass of the first body. MASS_OF_BOTH: the bodies
 * are the next two decays, with two arguments each. WHERE_CALL: `call` of the function. */
enum { WHERE_MASS, WHERE_MASS_DIFFERENCE, WHERE_MASS_OF_BOTH };
enum { WHERE_ARGUMENTS_SHIFT = 4, WHERE_KIND_SHIFT = 8 };
#define WHERE_CALL(kind, decay, arguments) ((kind) << WHERE_KIND_SHIFT | (arguments) << WHERE_ARGUMENTS_SHIFT | (decay))

/* Names that an expression may use: `prefix` followed by a field of the collection with one value per item (or per
 * event, for SL_EXPRESSION_OF_EVENT). Without a collection: the name `prefix`, a count. */
struct where_scope {
  const char *prefix;
  const struct sl_collection *collection;
  uint32_t args_offset;  /* offset of the port in the arguments */
  uint32_t operand;      /* SL_EXPRESSION_OF_..., SL_EXPRESSION_COUNT */
  uint32_t link;         /* SL_EXPRESSION_OF_LINK: its number */
  uint32_t bound_offset; /* offset of the bound of the optional input */
  const char *port;      /* name of the optional input; NULL: always available */
};
/* A function that an expression may use. */
struct where_function {
  struct sl_function function;
  uint32_t call;         /* WHERE_CALL */
  uint32_t args_offset;  /* as of a scope */
  uint32_t bound_offset; /* as of a scope */
  const char *port;      /* as of a scope */
};
struct where_language {
  const struct where_scope *scopes;
  size_t scope_count;
  const struct where_function *functions;
  size_t function_count;
  const struct sl_expression_link *links;
  size_t link_count;
  const struct where_decay *decays;
  size_t decay_count;
};
#define WHERE_LINK(type, indices_, of) \
  { (uint32_t) offsetof(type, indices_), (uint32_t)offsetof(type, of.offsets) }
/* The items of the link `through` have the indices. */
#define WHERE_LINK_THROUGH(type, through, indices_, of) \
  { (uint32_t) offsetof(type, indices_) | ((through) + 1u) << 16, (uint32_t)offsetof(type, of.offsets) }
/* Items of `of` that belong to the candidates, one to one. */
#define WHERE_LINK_TO_SAME(type, of) \
  { (uint32_t) offsetof(type, candidates.offsets) << 16, (uint32_t)offsetof(type, of.offsets) }
#define WHERE_DECAY(type, first_p_, second_p_, opening_, first_, second_, own_)                                   \
  {                                                                                                               \
    (uint32_t) offsetof(type, first_p_), (uint32_t)offsetof(type, second_p_), (uint32_t)offsetof(type, opening_), \
        first_, second_, own_                                                                                     \
  }

#ifdef __cplusplus
extern "C" {
#endif
/* Compiles an expression: see sl_expression_compile. `args`: arguments of a check, which show the connected inputs;
 * NULL: all inputs count as connected. */
int where_compile(const char *text, const void *args, const struct where_language *language,
                  struct sl_expression_program *program, struct sl_expression_fault *fault);
/* An SL_CHECK: reports errors and warnings of a property. `format`: "NAME+%u: %s" with the name of the property. */
int where_check(const struct sl_services *s, const char *format, const char *text, const void *args,
                const struct where_language *language);
/* An SL_PREPARE: fills the table `table`; *size: the size of its program. For explanations the table also has, after
 * the program, the number of comparisons and the bytes of the expression, each in 32 bits of a word; two words for each
 * comparison: its instruction, and the ends of its operands in 16 bits each; the bytes of the expression. */
int where_prepare(const struct sl_services *s, const char *table, const char *text,
                  const struct where_language *language, struct where_size *size);
/* The children in the table. */
struct where_children where_children_of(const struct where_language *language);
#ifdef __cplusplus
}
#endif

#endif
