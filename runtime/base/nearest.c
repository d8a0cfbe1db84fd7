/* nearest.c: see nearest.h. */
#include "base/nearest.h"

#include <string.h>

/* Longer names are not compared: such names are not typed by hand, and the rows below stay small. */
enum { NEAREST_LENGTH_MAX = 127 };

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

/* Optimal string alignment: insertions, deletions, replacements, and swaps of neighbours, each with cost 1. Three rows
 * are enough, because a swap refers to the row before the previous one. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
  unsigned rows[3][NEAREST_LENGTH_MAX + 1];
  unsigned *before = rows[0], *previous = rows[1], *current = rows[2];
  for (size_t j = 0; j <= b_length; j++) previous[j] = (unsigned)j;
  for (size_t i = 1; i <= a_length; i++) {
    current[0] = (unsigned)i;
    for (size_t j = 1; j <= b_length; j++) {
      const unsigned replaced = previous[j - 1] + (a[i - 1] != b[j - 1]);
      current[j] = smaller(replaced, smaller(previous[j], current[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = smaller(current[j], before[j - 2] + 1);
    }
    unsigned *recycled = before;
    before = previous;
    previous = current;
    current = recycled;
  }
  return previous[b_length];
}

void sl_nearest_begin(struct sl_nearest *n, const char *word) { *n = (struct sl_nearest){word, NULL, ~0u}; }

void sl_nearest_offer(struct sl_nearest *n, const char *candidate) {
  if (!n->word || !candidate) return;
  const size_t word_length = strlen(n->word), length = strlen(candidate);
  if (word_length > NEAREST_LENGTH_MAX || length > NEAREST_LENGTH_MAX) return;
  const unsigned distance = edit_distance(n->word, word_length, candidate, length);
  if (distance < n->distance) {
    n->distance = distance;
    n->best = candidate;
  }
}

/* Close enough: at most a third of the word's characters, rounded up, are wrong; single letters never match. */
const char *sl_nearest_result(const struct sl_nearest *n) {
  if (!n->best) return NULL;
  const size_t length = strlen(n->word);
  return n->distance < length && n->distance <= (length + 2) / 3 ? n->best : NULL;
}
