/* where.h: lines without code. The requirements are an expression in the graph, where: "pt > 2 GeV and chi2 < 20"
 * (docs/expressions.md). It is compiled once (where_compile.c); the kernels interpret the program for each candidate
 * (sluice/expression_machine.h). The function `mass` of pairs is an operation of this plugin. */
#ifndef SELECTIONS_WHERE_H
#define SELECTIONS_WHERE_H

#include <sluice/expression.h>
#include <sluice/math.h>

/* Numbers of the links of a pair of particles: its children. */
enum { WHERE_FIRST, WHERE_SECOND, WHERE_LINKS };

/* Names that an expression may use: `prefix` followed by a field of the collection with one value per item (or per
 * event, for SL_EXPRESSION_OF_EVENT). Without a collection: the name `prefix`, a count. */
struct where_scope {
  const char *prefix;
  const struct sl_collection *collection;
  uint32_t args_offset;  /* offset of the port in the arguments */
  uint32_t operand;      /* SL_EXPRESSION_OF_..., SL_EXPRESSION_COUNT */
  uint32_t link;         /* SL_EXPRESSION_OF_LINK: WHERE_FIRST, WHERE_SECOND */
  uint32_t bound_offset; /* count: offset of the bound of the optional input */
  const char *port;      /* count: name of the optional input; NULL: always available */
};
struct where_language {
  const struct where_scope *scopes;
  uint32_t scope_count;
  uint32_t has_masses; /* candidates have children */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Compiles an expression: see sl_expression_compile. `args`: arguments of a check, which show the connected inputs;
 * NULL: all inputs count as connected. */
int where_compile(const char *text, const void *args, const struct where_language *language,
                  struct sl_expression_program *program, struct sl_expression_fault *fault);
/* An SL_CHECK: reports errors and warnings of the property `where`. */
int where_check(const struct sl_services *s, const char *text, const void *args, const struct where_language *language);
/* An SL_PREPARE: fills the table `program`; *count: number of words of the program. For explanations the table also
 * has, after the program, the number of comparisons and the bytes of the expression, each in 32 bits of a word; two
 * words for each comparison: its instruction, and the ends of its operands in 16 bits each; the bytes of the
 * expression. */
int where_prepare(const struct sl_services *s, const char *text, const struct where_language *language,
                  uint32_t *count);
#ifdef __cplusplus
}
#endif

#endif
