/* yaml_tree.h: a YAML document as a tree of values with locations. */
#ifndef SL_YAML_TREE_H
#define SL_YAML_TREE_H

#include "document/reader.h"

enum { SL_TREE_SCALAR = 1, SL_TREE_LIST = 2, SL_TREE_MAP = 4 };

/* An item of a list (key NULL) or an entry of a map. */
struct sl_entry {
  const char *key;
  struct sl_mark mark;
  struct sl_tree *value; /* NULL: removed by a null, or refused; stages skip it */
  struct sl_entry *next;
  uint32_t refused;   /* 1: the value was wrong and reported, so that its absence must not be reported again */
  uint32_t inherited; /* 1: set for an algorithm that a later `use` replaced; see merge.c */
  uint32_t is_silent; /* 1: inherited, and not set by the user: dropped without a note; see input.c */
  uint32_t number;    /* for the caller */
};

struct sl_tree {
  uint32_t kind;
  uint32_t quoted;     /* 1: a quoted or block scalar: always a string */
  struct sl_mark mark; /* location of the value; for a value that is one ${seed} only: of the parameter's value */
  struct sl_mark use;  /* location of ${seed}, for a value with parameters */
  const char *text;    /* SCALAR */
  uint32_t begins; /* for a scalar written on one line without escapes: 1 + number of characters from the mark to its
                    * text; else 0 */
  uint32_t conditions;    /* number of ${conditions} in a scalar; `text` then is the strings between them, each with its
                           * terminating zero */
  const char *parameters; /* origins of the parameters in a scalar: ", ${seed} of a.yaml:3"; NULL: none, or not
                           * requested */
  struct sl_entry *first, *last;
  uint32_t count;
  uint32_t index_size; /* size of a map's hash index, a power of two */
  struct sl_entry **index;
};

/* Returns the tree of `text`, or NULL with the error reported. Wrong single values (duplicate keys, tags) are reported
 * and omitted. */
struct sl_tree *sl_tree_read(struct sl_reader *r, struct sl_text *text);
/* Frees the parser after the arena's jump interrupted it. */
void sl_yaml_close(struct sl_reader *r);

struct sl_tree *sl_tree_new(struct sl_reader *r, uint32_t kind, struct sl_mark mark);
struct sl_tree *sl_tree_scalar(struct sl_reader *r, const char *text, uint32_t quoted, struct sl_mark mark);
struct sl_tree *sl_tree_copy(struct sl_reader *r, const struct sl_tree *tree);

/* Returns the entry with this key, or NULL. */
struct sl_entry *sl_tree_find(const struct sl_tree *map, const char *key);
/* Adds an entry at the end. The key must not be in the map. */
struct sl_entry *sl_tree_add(struct sl_reader *r, struct sl_tree *tree, const char *key, struct sl_mark mark,
                             struct sl_tree *value);
/* Returns the value of this key, or NULL; NULL also for `map` NULL and for removed values. */
struct sl_tree *sl_tree_get(const struct sl_tree *map, const char *key);

/* Removes a value that was reported as wrong. */
void sl_tree_refuse(struct sl_entry *entry);
/* Returns 1 if the key is present and its value was refused. */
int sl_tree_was_refused(const struct sl_tree *map, const char *key);

/* Returns 1 for a plain scalar that means null. */
int sl_tree_is_null(const struct sl_tree *tree);
/* Returns 1 if the value is `all`. */
int sl_tree_is_all(const struct sl_tree *tree);
/* Returns "a map", "a list" or "a single value". */
const char *sl_tree_kind_text(uint32_t kind);

#endif
