/* settings.c: see settings.h. The whole text of a graph has one setting per line and an indentation of two blanks per
 * level. Each line becomes a path and a value; both lists are sorted by path and compared. */
#include "base/settings.h"

#include <sluice/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 8 };

struct setting {
  char *path;
  const char *value; /* in the text */
  size_t length;
};
struct settings {
  struct setting *at;
  size_t count, capacity;
};

static int compare(const void *a, const void *b) {
  return strcmp(((const struct setting *)a)->path, ((const struct setting *)b)->path);
}

static int add(struct settings *s, const struct setting *setting) {
  if (!setting->path) return SL_ENOMEM;
  if (s->count == s->capacity) {
    const size_t capacity = s->capacity ? 2 * s->capacity : 256;
    struct setting *grown = realloc(s->at, capacity * sizeof *grown);
    if (!grown) return SL_ENOMEM;
    s->at = grown;
    s->capacity = capacity;
  }
  s->at[s->count++] = *setting;
  return SL_OK;
}

struct key {
  const char *text;
  size_t length;
};

/* "NODE.PROPERTY" from the keys of all levels; `nodes` and `set` are left out. */
static char *join(const struct key *keys, size_t count) {
  size_t bytes = 1, used = 0;
  for (size_t i = 0; i < count; i++) bytes += keys[i].length + 1;
  char *path = malloc(bytes);
  for (size_t i = 0; path && i < count; i++) {
    const int is_nodes = i == 0 && keys[i].length == 5 && memcmp(keys[i].text, "nodes", 5) == 0;
    const int is_set = i == 2 && keys[i].length == 3 && memcmp(keys[i].text, "set", 3) == 0;
    if (((is_nodes || is_set) && count > i + 1) || keys[i].length == 0) continue;
    if (used > 0) path[used++] = '.';
    memcpy(path + used, keys[i].text, keys[i].length);
    used += keys[i].length;
  }
  if (path) path[used] = '\0';
  return path;
}

static int read_settings(struct settings *s, const char *text) {
  struct key keys[LEVELS] = {0};
  int status = SL_OK;
  while (*text && status == SL_OK) {
    const size_t length = strcspn(text, "\n"), blanks = strspn(text, " ");
    const char *key = text + blanks, *end = text + length;
    const char *colon = blanks < length ? memchr(key, ':', length - blanks) : NULL;
    const size_t level = blanks / 2;
    if (level < LEVELS && blanks < length) {
      keys[level] = (struct key){key, colon ? (size_t)(colon - key) : (size_t)(end - key)};
      const char *value = colon ? colon + 1 : end;
      while (value < end && *value == ' ') value++;
      const struct setting setting = {value < end || !colon ? join(keys, level + 1) : NULL, value,
                                      (size_t)(end - value)};
      if (value < end || !colon) status = add(s, &setting);
      if (status < 0) free(setting.path);
    }
    text = *end ? end + 1 : end;
  }
  if (s->count > 0) qsort(s->at, s->count, sizeof *s->at, compare);
  return status;
}

static void close_settings(struct settings *s) {
  for (size_t i = 0; i < s->count; i++) free(s->at[i].path);
  free(s->at);
}

static int add_difference(struct sl_differences *d, const struct setting *before, const struct setting *now) {
  struct sl_difference *grown = realloc(d->at, (d->count + 1) * sizeof *grown);
  if (!grown) return SL_ENOMEM;
  d->at = grown;
  struct sl_difference *difference = &d->at[d->count++];
  *difference = (struct sl_difference){.setting = strdup((before ? before : now)->path),
                                       .before = before ? strndup(before->value, before->length) : NULL,
                                       .now = now ? strndup(now->value, now->length) : NULL};
  const int is_whole = difference->setting && (!before || difference->before) && (!now || difference->now);
  return is_whole ? SL_OK : SL_ENOMEM;
}

/* Returns 1 if there is a setting of the same node as that of `path`. */
static int has_node(const struct settings *s, const char *path) {
  const size_t length = strcspn(path, ".") + 1;
  size_t low = 0, high = s->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (strncmp(s->at[middle].path, path, length) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->count && strncmp(s->at[low].path, path, length) == 0;
}

/* A node that one text lacks is one difference, its algorithm. */
static int is_of_missing_node(const struct settings *other, const char *path) {
  const char *dot = strchr(path, '.');
  return dot && strcmp(dot, ".use") != 0 && !has_node(other, path);
}

static int is_equal(const struct setting *a, const struct setting *b) {
  return a->length == b->length && memcmp(a->value, b->value, a->length) == 0;
}

/* Adds a setting that only one text has; `others`: the settings of the other one. */
static int add_one(struct sl_differences *d, const struct setting *setting, int is_new, const struct settings *others) {
  if (is_of_missing_node(others, setting->path)) return SL_OK;
  return add_difference(d, is_new ? NULL : setting, is_new ? setting : NULL);
}

/* Walks both sorted lists. */
static int merge(const struct settings *before, const struct settings *now, struct sl_differences *d) {
  size_t b = 0, n = 0;
  int status = SL_OK;
  while (b < before->count && n < now->count && status == SL_OK) {
    const struct setting *one = &before->at[b], *other = &now->at[n];
    const int order = compare(one, other);
    if (order < 0) status = add_one(d, one, 0, now);
    if (order > 0) status = add_one(d, other, 1, before);
    if (order == 0 && !is_equal(one, other)) status = add_difference(d, one, other);
    b += order <= 0;
    n += order >= 0;
  }
  for (; b < before->count && status == SL_OK; b++) status = add_one(d, &before->at[b], 0, now);
  for (; n < now->count && status == SL_OK; n++) status = add_one(d, &now->at[n], 1, before);
  return status;
}

int sl_settings_compare(const char *before, const char *now, struct sl_differences *differences) {
  struct settings all[2] = {{0}, {0}};
  *differences = (struct sl_differences){0};
  int status = read_settings(&all[0], before);
  if (status == SL_OK) status = read_settings(&all[1], now);
  if (status == SL_OK) status = merge(&all[0], &all[1], differences);
  close_settings(&all[0]);
  close_settings(&all[1]);
  return status;
}

void sl_differences_close(struct sl_differences *d) {
  for (uint32_t i = 0; i < d->count; i++) {
    free(d->at[i].setting);
    free(d->at[i].before);
    free(d->at[i].now);
  }
  free(d->at);
  *d = (struct sl_differences){0};
}
