/* yaml_tree.h: one YAML document as a tree of values with places. */
#ifndef SL_YAML_TREE_H
#define SL_YAML_TREE_H

#include "graph/reader.h"

enum { SL_TREE_SCALAR = 1, SL_TREE_LIST = 2, SL_TREE_MAP = 4 };

/* An item of a list (key NULL) or an entry of a map. */
struct sl_entry {
  const char *key;
  struct sl_mark mark;
  struct sl_tree *value; /* NULL: removed by a null, or refused; stages skip it */
  struct sl_entry *next;
  uint32_t refused;   /* the value was wrong, with a message: whoever misses it says nothing more */
  uint32_t inherited; /* belongs to an algorithm that a later `use` replaced; see merge.c */
  uint32_t unasked;   /* such a value that nobody asked for: no note where it is dropped; see input.c */
  uint32_t number;    /* for the user of the tree */
};

struct sl_tree {
  uint32_t kind;
  uint32_t quoted;     /* a scalar in quotes or a block: a string, whatever it looks like */
  struct sl_mark mark; /* where the value was written: of ${seed} alone, that of the parameter */
  struct sl_mark use;  /* of such a value: where ${seed} stands */
  const char *text;    /* SCALAR */
  uint32_t begins; /* a scalar that stands in one line as it is: characters from the mark to its text, and 1; else 0 */
  const char *parameters; /* where those came from that were put into a scalar: ", ${seed} of a.yaml:3"; NULL: none, or
                             nobody wants to know */
  struct sl_entry *first, *last;
  uint32_t count;
  uint32_t index_size; /* of a map's hash index; a power of two */
  struct sl_entry **index;
};

/* The tree of `text`, or NULL with the error reported. What is wrong with single values (duplicate keys, tags) is
 * reported too, and the tree lacks them. */
struct sl_tree *sl_tree_read(struct sl_reader *r, struct sl_text *text);
/* Ends a parse that a jump of the arena interrupted. */
void sl_yaml_close(struct sl_reader *r);

struct sl_tree *sl_tree_new(struct sl_reader *r, uint32_t kind, struct sl_mark mark);
struct sl_tree *sl_tree_scalar(struct sl_reader *r, const char *text, uint32_t quoted, struct sl_mark mark);
struct sl_tree *sl_tree_copy(struct sl_reader *r, const struct sl_tree *tree);

/* The entry of that key, or NULL. */
struct sl_entry *sl_tree_find(const struct sl_tree *map, const char *key);
/* Adds at the end. A map's key must be new. */
struct sl_entry *sl_tree_add(struct sl_reader *r, struct sl_tree *tree, const char *key, struct sl_mark mark,
                             struct sl_tree *value);
/* The value of that key, or NULL: also for `map` NULL and for values that were removed. */
struct sl_tree *sl_tree_get(const struct sl_tree *map, const char *key);

/* Takes away a value that was reported as wrong. */
void sl_tree_refuse(struct sl_entry *entry);
/* Was the key there, with a value that was refused? */
int sl_tree_was_refused(const struct sl_tree *map, const char *key);

/* A plain scalar that says null. */
int sl_tree_is_null(const struct sl_tree *tree);
/* "a map", "a list", "a value" */
const char *sl_tree_kind_text(uint32_t kind);

#endif
