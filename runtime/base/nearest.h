/* nearest.h: "did you mean": finds the valid name nearest to a mistyped one. Also used by the command. */
#ifndef SL_NEAREST_H
#define SL_NEAREST_H

/* Finds the candidate nearest to `word` in edit distance, or NULL if none is close enough to suggest. */
struct sl_nearest {
  const char *word, *best;
  unsigned distance;
};
void sl_nearest_begin(struct sl_nearest *n, const char *word);
void sl_nearest_offer(struct sl_nearest *n, const char *candidate);
const char *sl_nearest_result(const struct sl_nearest *n);

#endif
