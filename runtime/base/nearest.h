/* nearest.h: "did you mean": the right name that is nearest to a mistyped one. The command has it too. */
#ifndef SL_NEAREST_H
#define SL_NEAREST_H

/* The candidate nearest to `word` in edit distance, or NULL if none is near enough to suggest. */
struct sl_nearest {
  const char *word, *best;
  unsigned distance;
};
void sl_nearest_begin(struct sl_nearest *n, const char *word);
void sl_nearest_offer(struct sl_nearest *n, const char *candidate);
const char *sl_nearest_result(const struct sl_nearest *n);

#endif
