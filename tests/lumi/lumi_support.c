/* lumi_support.c: see lumi_support.h. */
#include "lumi_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct place *lumi_table(void) {
  static struct place table[TABLE_ROWS];
  static int is_read;
  if (is_read) return table;
  FILE *file = fopen(SCHEMA_TABLE, "r");
  char line[256], part[8];
  if (!file || !fgets(line, sizeof line, file)) fail_msg("%s cannot be read", SCHEMA_TABLE);
  for (uint32_t i = 0; i < TABLE_ROWS; i++) {
    struct place *p = &table[i];
    if (!fgets(line, sizeof line, file) || sscanf(line, "%7[^,],%39[^,],%u,%u,%u,%u,%lf,%lf", part, p->name, &p->max,
                                                  &p->size_bits, &p->word, &p->bit, &p->shift, &p->scale) != 8)
      fail_msg("row %u of %s is not a row of the table", i, SCHEMA_TABLE);
    p->is_extra = strcmp(part, "full") == 0;
  }
  if (fgets(line, sizeof line, file)) fail_msg("%s has more rows", SCHEMA_TABLE);
  fclose(file);
  is_read = 1;
  return table;
}

const struct place *lumi_place(const char *name) {
  const struct place *table = lumi_table();
  for (uint32_t i = 0; i < TABLE_ROWS; i++)
    if (strcmp(table[i].name, name) == 0) return &table[i];
  fail_msg("there is no counter %s", name);
  return NULL;
}

uint32_t lumi_all_ones(const char *name) { return (uint32_t)((1ull << lumi_place(name)->size_bits) - 1); }

uint32_t lumi_bits(const uint32_t *words, const char *name) {
  const struct place *p = lumi_place(name);
  return words[p->word] >> p->bit & lumi_all_ones(name);
}

struct sl_test *lumi_schema;

int lumi_schema_set_up(void **state) {
  (void)state;
  lumi_schema = sl_test_new(LUMI_PLUGIN, "schema");
  return sl_test_run(lumi_schema);
}

int lumi_schema_tear_down(void **state) {
  (void)state;
  sl_test_free(lumi_schema);
  return 0;
}

uint32_t lumi_key(uint32_t kind) { return ((const uint32_t *)sl_test_output(lumi_schema, "schema", "key"))[kind]; }

void lumi_give_schema(struct sl_test *t) {
  for (uint32_t f = 0; f < lumi_schema_collection.field_count; f++) {
    const char *field = lumi_schema_collection.fields[f].name;
    sl_test_input(t, "schema", field, sl_test_output(lumi_schema, "schema", field),
                  sl_test_output_count(lumi_schema, "schema", field));
  }
}
