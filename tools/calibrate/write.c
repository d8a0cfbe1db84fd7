/* write.c: see write.h. */
#include "write.h"

#include "calibration/read.h"

#include <string.h>

static void put_note(FILE *file, const struct derivation *d, const char *name) {
  for (uint32_t i = 0; i < d->note_count; i++)
    if (strcmp(d->notes[i].name, name) == 0) fprintf(file, "# %s\n", d->notes[i].text);
}

static void put_values(FILE *file, const struct derivation *d, const char *name, const double *at, uint32_t count) {
  put_note(file, d, name);
  fprintf(file, "value %s", name);
  for (uint32_t i = 0; i < count; i++) fprintf(file, " %.10g", at[i]);
  fprintf(file, "\n");
}

static void put_polynomial(FILE *file, const struct derivation *d, const struct calibration_entry *e, uint32_t index,
                           const struct calibration_polynomial *p) {
  char name[CALIBRATION_NAME_BYTES];
  uint32_t variables = 1;
  for (const char *c = e->variables; *c; c++) variables += *c == ' ';
  snprintf(name, sizeof name, e->count > 1 ? "%s.%u" : "%s", e->name, index);
  put_note(file, d, name);
  fprintf(file, "polynomial %s %s\n", name, e->variables);
  for (uint32_t i = 0; i < p->count; i++) {
    fprintf(file, "term %.10g", p->terms[i].coefficient);
    for (uint32_t k = 0; k < variables; k++) fprintf(file, " %u", p->terms[i].power[k]);
    fprintf(file, "\n");
  }
}

static void put_table(FILE *file, const struct derivation *d, const struct calibration_entry *e,
                      const struct calibration_table *t) {
  const char *names = e->variables;
  uint32_t total = 1;
  put_note(file, d, e->name);
  fprintf(file, "table %s", e->name);
  for (uint32_t k = 0; *names; k++) {
    const int length = (int)strcspn(names, " ");
    const struct calibration_axis *axis = &t->axes[k];
    fprintf(file, " %.*s %.10g %.10g %u", length, names, axis->low, axis->high, axis->count);
    total *= axis->count;
    names += length + (names[length] == ' ');
  }
  fprintf(file, "\n");
  for (uint32_t i = 0; i < total; i++) {
    const uint32_t column = i % t->axes[0].count;
    fprintf(file, "%s%.6g%s", column == 0 ? "row " : " ", t->at[i], column + 1 == t->axes[0].count ? "\n" : "");
  }
}

void calibration_write(FILE *file, const struct derivation *d) {
  fprintf(file, "calibration %d %s\n", CALIBRATION_FORMAT, d->c->name);
  for (uint32_t i = 0; i < CALIBRATION_ENTRY_COUNT; i++) {
    const struct calibration_entry *e = &calibration_entries[i];
    const void *at = (const char *)d->c + e->offset;
    if (e->kind == CALIBRATION_VALUE) put_values(file, d, e->name, (const double *)at, e->count);
    for (uint32_t k = 0; k < e->count && e->kind == CALIBRATION_POLYNOMIAL; k++)
      put_polynomial(file, d, e, k, (const struct calibration_polynomial *)at + k);
    if (e->kind == CALIBRATION_TABLE) put_table(file, d, e, (const struct calibration_table *)at);
  }
}
