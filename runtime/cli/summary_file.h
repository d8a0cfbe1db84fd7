/* summary_file.h: reads the JSON of a run, written by `sluice run --json`, from a file that may be anything else. */
#ifndef SL_SUMMARY_FILE_H
#define SL_SUMMARY_FILE_H

#include <stddef.h>
#include <yaml.h> /* JSON is YAML */

struct summary {
  const char *path;
  yaml_document_t document;
  int is_open;
};

/* `s` is zeroed before. CLI_WRONG after an error if the file is not the summary of a run; summary_close in any case. */
int summary_read(struct summary *s, const char *path);
void summary_close(struct summary *s);

/* Values by index and by name. NULL if there is none, or the argument is NULL. */
yaml_node_t *summary_at(struct summary *s, int index);
yaml_node_t *summary_root(struct summary *s);
yaml_node_t *summary_member(struct summary *s, const yaml_node_t *map, const char *key);
const char *summary_text(const yaml_node_t *node);
double summary_number(const yaml_node_t *node); /* NAN if the node is not a number */
/* Lists. summary_find: the entry of a list of maps with `key` equal to `value`. */
size_t summary_length(const yaml_node_t *list);
yaml_node_t *summary_item(struct summary *s, const yaml_node_t *list, size_t i);
yaml_node_t *summary_find(struct summary *s, const yaml_node_t *list, const char *key, const char *value);

/* compare_results.c: prints the values that differ in the reports of checks and sinks, by size, or with `all` in the
 * order of the files. CLI_FAILED if memory is out. */
int cli_compare_results(struct summary *a, struct summary *b, int all);
/* Does a check or sink, or an output of totals, report in both? */
int cli_results_in_common(struct summary *a, struct summary *b);

#endif
