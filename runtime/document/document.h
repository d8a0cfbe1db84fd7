/* document.h: documents of a graph: trees of YAML values (yaml_tree.h), which are checked and merged into one tree
 * `root` that has all sections. All errors are reported; wrong values are removed. */
#ifndef SL_DOCUMENT_H
#define SL_DOCUMENT_H

#include "document/yaml_tree.h"

/* shape.c: refuses unknown keys and wrong kinds of values, and removes them from the tree. */
void sl_shape_check(struct sl_reader *r, struct sl_tree *document);
int sl_is_name(const char *text); /* [A-Za-z_][A-Za-z0-9_]* */

/* load.c: reads the graph's file and its includes, and merges each into `root` in order. */
void sl_load(struct sl_reader *r, struct sl_tree *root);
/* Returns the document of a single file, or NULL with the error reported. */
struct sl_tree *sl_load_document(struct sl_reader *r, const char *path);

/* merge.c */
struct sl_tree *sl_merge_root(struct sl_reader *r); /* returns a document with empty sections */
void sl_merge(struct sl_reader *r, struct sl_tree *root, const struct sl_tree *document);
/* Returns the map of a node's block sizes by kernel; creates it if necessary. An earlier number for all kernels stays
 * valid for the kernels that the map does not name: it is stored under SL_BLOCK_ALL, which cannot be the name of a
 * kernel. */
#define SL_BLOCK_ALL "(all)"
struct sl_tree *sl_block_map(struct sl_reader *r, struct sl_tree *node, struct sl_mark mark);

/* overrides.c: applies --use; then, after the source was chosen, --set. */
void sl_apply_uses(struct sl_reader *r, struct sl_tree *root);
void sl_apply_sets(struct sl_reader *r, struct sl_tree *root);
void sl_change_use(struct sl_reader *r, struct sl_tree *root, const char *node, struct sl_tree *use);

#endif
