/* read.c: reads calibrations. Statements after `polynomial` and `table` are their terms and rows. */
#include "calibration/read.h"

#include "geometry/files.h"
#include "geometry/statements.h"
#include "lhcb_calibration_text.h"
#include "nominal_calibration_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct calibration_entry calibration_entries[] = {
#define ENTRY_(member, name) {name, "", offsetof(struct calibration, member), CALIBRATION_VALUE, 1},
    CALIBRATION_VALUES(ENTRY_)
#undef ENTRY_
#define ENTRY_(member, name, count) {name, "", offsetof(struct calibration, member), CALIBRATION_VALUE, count},
        CALIBRATION_LISTS(ENTRY_)
#undef ENTRY_
#define ENTRY_(member, name, count, variables) \
  {name, variables, offsetof(struct calibration, member), CALIBRATION_POLYNOMIAL, count},
            CALIBRATION_POLYNOMIALS(ENTRY_)
#undef ENTRY_
#define ENTRY_(member, name, axes) {name, axes, offsetof(struct calibration, member), CALIBRATION_TABLE, 1},
                CALIBRATION_TABLES(ENTRY_)
#undef ENTRY_
};

struct reader {
  struct calibration c;
  uint32_t seen[CALIBRATION_ENTRY_COUNT];    /* bit mask of the polynomials of an entry */
  struct calibration_polynomial *polynomial; /* the polynomial that is read now */
  struct calibration_table *table;           /* the table that is read now */
  uint32_t variables, filled, expected;
};

/* The entry with the next word as its name, and the index of a polynomial of several. NULL after the reason if there is
 * none. */
static const struct calibration_entry *find(struct statement *s, uint32_t kind, uint32_t *index) {
  char word[STATEMENT_WORD_BYTES] = "";
  statement_word(s, word, sizeof word);
  for (uint32_t i = 0; i < CALIBRATION_ENTRY_COUNT; i++) {
    const struct calibration_entry *e = &calibration_entries[i];
    const size_t length = strlen(e->name);
    if (e->kind != kind || strncmp(word, e->name, length) != 0) continue;
    const int is_one_of_several = kind == CALIBRATION_POLYNOMIAL && e->count > 1;
    *index = 0;
    if (!is_one_of_several && word[length] == '\0') return e;
    if (!is_one_of_several || word[length] != '.') continue;
    const char *digits = word + length + 1;
    if (digits[0] < '0' || digits[0] > '9' || strlen(digits) > 2 || (digits[0] == '0' && digits[1])) continue;
    *index = (uint32_t)(digits[0] - '0');
    if (digits[1]) *index = digits[1] >= '0' && digits[1] <= '9' ? *index * 10 + (uint32_t)(digits[1] - '0') : e->count;
    if (*index < e->count) return e;
  }
  statement_refuse(s, "there is no %s \"%s\"", s->keyword, word);
  return NULL;
}

/* Reads the next variable, which must be the first of `names`, and advances `names`. */
static int expect_name(struct statement *s, const char **names) {
  char word[STATEMENT_WORD_BYTES] = "";
  const size_t length = strcspn(*names, " ");
  statement_word(s, word, sizeof word);
  if (strlen(word) != length || strncmp(word, *names, length) != 0)
    return statement_refuse(s, "expected the variable %.*s, found \"%s\"", (int)length, *names, word);
  *names += length + ((*names)[length] == ' ');
  return 1;
}

static int number(struct statement *s, const char *what, double *value) {
  return statement_f64(s, what, -HUGE_VAL, HUGE_VAL, value);
}

/* ------------------------------------------------------------------------------------------------ statements */

/* Returns 1 if the polynomial or table that was begun is complete, else 0 after the reason. */
static int is_complete(struct statement *s, const struct reader *r) {
  if (r->polynomial && r->polynomial->count == 0) return statement_refuse(s, "a polynomial without terms");
  if (r->table && r->filled < r->expected)
    return statement_refuse(s, "a table has %u of %u entries", r->filled, r->expected);
  return 1;
}

/* Reads the name of an entry that was not read before. Returns its location in the struct, or NULL after the reason. */
static void *begin(struct statement *s, struct reader *r, uint32_t kind, const struct calibration_entry **entry) {
  static const size_t sizes[] = {0, sizeof(struct calibration_polynomial), 0};
  uint32_t index = 0;
  if (r->c.name[0] == '\0') {
    statement_refuse(s, "expected \"calibration\", found \"%s\"", s->keyword);
    return NULL;
  }
  if (!is_complete(s, r)) return NULL;
  r->polynomial = NULL;
  r->table = NULL;
  const struct calibration_entry *e = *entry = find(s, kind, &index);
  if (!e) return NULL;
  uint32_t *seen = &r->seen[e - calibration_entries];
  if (*seen >> index & 1) {
    statement_refuse(s, "%s a second time", e->name);
    return NULL;
  }
  *seen |= 1u << index;
  return (char *)&r->c + e->offset + sizes[kind] * index;
}

/* calibration FORMAT NAME */
static int read_head(struct statement *s, void *into, uint32_t unused) {
  struct reader *r = (struct reader *)into;
  uint32_t format = 0;
  (void)unused;
  if (!statement_u32(s, "format", 0, 999, &format)) return 0;
  if (format != CALIBRATION_FORMAT) return statement_refuse(s, "format %u, expected %d", format, CALIBRATION_FORMAT);
  return statement_word(s, r->c.name, sizeof r->c.name) ? 1 : statement_refuse(s, "a name is missing");
}

/* value NAME NUMBER... */
static int read_value(struct statement *s, void *into, uint32_t unused) {
  const struct calibration_entry *e = NULL;
  double *at = (double *)begin(s, (struct reader *)into, CALIBRATION_VALUE, &e);
  (void)unused;
  for (uint32_t i = 0; at && i < e->count; i++)
    if (!number(s, e->name, &at[i])) return 0;
  return at != NULL;
}

/* polynomial NAME VARIABLE... */
static int begin_polynomial(struct statement *s, void *into, uint32_t unused) {
  struct reader *r = (struct reader *)into;
  const struct calibration_entry *e = NULL;
  (void)unused;
  r->polynomial = (struct calibration_polynomial *)begin(s, r, CALIBRATION_POLYNOMIAL, &e);
  if (!r->polynomial) return 0;
  r->variables = 0;
  for (const char *names = e->variables; *names != '\0'; r->variables++)
    if (!expect_name(s, &names)) return 0;
  return 1;
}

/* term COEFFICIENT POWER..., a power for each variable */
static int read_term(struct statement *s, void *into, uint32_t unused) {
  struct reader *r = (struct reader *)into;
  (void)unused;
  if (!r->polynomial) return statement_refuse(s, "a term without a polynomial");
  if (r->polynomial->count == CALIBRATION_TERMS) return statement_refuse(s, "more than %d terms", CALIBRATION_TERMS);
  struct calibration_term *term = &r->polynomial->terms[r->polynomial->count++];
  if (!number(s, "a coefficient", &term->coefficient)) return 0;
  for (uint32_t k = 0; k < r->variables; k++) {
    uint32_t power = 0;
    if (!statement_u32(s, "a power", 0, 15, &power)) return 0;
    term->power[k] = (uint8_t)power;
  }
  return 1;
}

/* table NAME, and for each axis: NAME LOW HIGH ENTRIES */
static int begin_table(struct statement *s, void *into, uint32_t unused) {
  struct reader *r = (struct reader *)into;
  const struct calibration_entry *e = NULL;
  uint32_t k = 0;
  (void)unused;
  r->table = (struct calibration_table *)begin(s, r, CALIBRATION_TABLE, &e);
  if (!r->table) return 0;
  r->filled = 0;
  r->expected = 1;
  for (const char *names = e->variables; *names != '\0'; k++) {
    struct calibration_axis *axis = &r->table->axes[k];
    if (!expect_name(s, &names) || !number(s, "an axis", &axis->low) || !number(s, "an axis", &axis->high) ||
        !statement_u32(s, "entries", 0, 999, &axis->count))
      return 0;
    if (axis->count == 0 || (axis->count > 1 && axis->high <= axis->low))
      return statement_refuse(s, "an axis without room");
    r->expected *= axis->count;
    if (r->expected > CALIBRATION_ENTRIES) return statement_refuse(s, "more than %d entries", CALIBRATION_ENTRIES);
  }
  for (; k < CALIBRATION_AXES; k++) r->table->axes[k].count = 1;
  return 1;
}

/* row NUMBER..., one for each entry of the first axis */
static int read_row(struct statement *s, void *into, uint32_t unused) {
  struct reader *r = (struct reader *)into;
  (void)unused;
  if (!r->table || r->filled == r->expected) return statement_refuse(s, "a row without a table, or one too many");
  for (uint32_t i = 0; i < r->table->axes[0].count; i++)
    if (!number(s, "an entry", &r->table->at[r->filled++])) return 0;
  return 1;
}

static const struct statement_kind kinds[] = {{"calibration", .read = read_head},
                                              {"value", .repeats = 1, .read = read_value},
                                              {"polynomial", .repeats = 1, .read = begin_polynomial},
                                              {"term", .repeats = 1, .read = read_term},
                                              {"table", .repeats = 1, .read = begin_table},
                                              {"row", .repeats = 1, .read = read_row}};

static int complete(struct statement *s, void *into) {
  const struct reader *r = (const struct reader *)into;
  if (!is_complete(s, r)) return 0;
  for (uint32_t i = 0; i < CALIBRATION_ENTRY_COUNT; i++)
    if (r->seen[i] !=
        (calibration_entries[i].kind == CALIBRATION_POLYNOMIAL ? (1u << calibration_entries[i].count) - 1 : 1))
      return statement_refuse(s, "%s is missing", calibration_entries[i].name);
  return 1;
}

#define FORMAT(name_, text_) \
  { name_, text_, kinds, sizeof kinds / sizeof kinds[0], sizeof(struct reader), complete }
static const struct statement_format nominal = FORMAT("nominal.calibration", nominal_calibration_text);
static const struct statement_format lhcb = FORMAT("lhcb.calibration", lhcb_calibration_text);

uint32_t calibration_read(const char *text, size_t bytes, struct calibration *c, char *reason, size_t reason_size) {
  struct statement s = {.reason = reason, .reason_size = reason_size};
  struct reader *r = (struct reader *)malloc(sizeof *r);
  if (!r) return statement_refuse(&s, "no memory"), 1;
  const uint32_t line = statements_read(&nominal, text, bytes, r, reason, reason_size);
  *c = r->c;
  free(r);
  return line;
}

int calibration_load_path(const struct sl_services *s, const char *path, struct calibration *c) {
  const int is_folder = geometry_is_folder(path);
  struct reader *r = (struct reader *)malloc(sizeof *r);
  const int status = r ? statements_load(is_folder ? &lhcb : &nominal, s, is_folder ? NULL : path, r) : SL_ENOMEM;
  if (status == SL_OK) *c = r->c;
  free(r);
  return status;
}
