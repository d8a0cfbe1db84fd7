/* document.h: reads a file with one JSON or YAML document, which may be anything else. */
#ifndef SL_DOCUMENT_H
#define SL_DOCUMENT_H

#include <stddef.h>
#include <stdint.h>
#include <yaml.h> /* JSON is YAML */

struct sl_document {
  const char *path; /* borrowed */
  yaml_document_t document;
  int is_open;
  uint32_t line; /* of the error; 0: the error has no location */
};

/* Returns SL_OK; or SL_EIO if the file cannot be read or SL_EFORMAT if it does not hold one document in which each
 * value has one parent, with the reason. Call sl_document_close in any case. */
int sl_document_read(struct sl_document *d, const char *path, char *reason, size_t reason_size);
/* The same for a text. `name`: its name in messages. */
int sl_document_read_text(struct sl_document *d, const char *name, const char *text, size_t bytes, char *reason,
                          size_t reason_size);
void sl_document_close(struct sl_document *d);

/* Values by index and by name. NULL if there is none, or the argument is NULL. */
yaml_node_t *sl_document_at(struct sl_document *d, int index);
yaml_node_t *sl_document_root(struct sl_document *d);
yaml_node_t *sl_document_member(struct sl_document *d, const yaml_node_t *map, const char *key);
/* Member i of a map, from 0, and its key, NULL if that is no text. NULL after the last one, or if it is no map. */
yaml_node_t *sl_document_member_at(struct sl_document *d, const yaml_node_t *map, size_t i, const char **key);
const char *sl_document_text(const yaml_node_t *node);
double sl_document_number(const yaml_node_t *node); /* NAN if the node is not a number */
/* Lists. sl_document_find: the entry of a list of maps with `key` equal to `value`. */
size_t sl_document_length(const yaml_node_t *list);
yaml_node_t *sl_document_item(struct sl_document *d, const yaml_node_t *list, size_t i);
yaml_node_t *sl_document_find(struct sl_document *d, const yaml_node_t *list, const char *key, const char *value);

#endif
