/* summary_file.h: the JSON of a run, as `sluice run --json` wrote it, or anything else that a user gives for it. */
#ifndef SL_SUMMARY_FILE_H
#define SL_SUMMARY_FILE_H

#include <stddef.h>
#include <yaml.h> /* JSON is YAML */

struct summary {
  const char *path;
  yaml_document_t document;
  int is_open;
};

/* CLI_OK, or CLI_WRONG after a message if it is not the summary of a run. Zero-initialised before; summary_close in
 * both cases. */
int summary_read(struct summary *s, const char *path);
void summary_close(struct summary *s);

/* Values by number and by name. NULL where there is none, also of NULL. */
yaml_node_t *summary_at(struct summary *s, int index);
yaml_node_t *summary_root(struct summary *s);
yaml_node_t *summary_member(struct summary *s, const yaml_node_t *map, const char *key);
const char *summary_text(const yaml_node_t *node);
double summary_number(const yaml_node_t *node); /* NAN if it is none */
/* Lists; the entry of a list of maps whose `key` is `value`. */
size_t summary_length(const yaml_node_t *list);
yaml_node_t *summary_item(struct summary *s, const yaml_node_t *list, size_t i);
yaml_node_t *summary_find(struct summary *s, const yaml_node_t *list, const char *key, const char *value);

/* compare_results.c: prints what checks and sinks report and differs, by size, or with `all` as it stands in the files;
 * CLI_OK, or CLI_FAILED if there is no memory. */
int cli_compare_results(struct summary *a, struct summary *b, int all);
/* Does a check or sink, or an output of totals, report in both? */
int cli_results_in_common(struct summary *a, struct summary *b);

#endif
