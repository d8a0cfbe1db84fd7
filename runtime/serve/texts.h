/* texts.h: texts that the run publishes and HTTP requests read. A text is never changed; a newer one takes its place.
 */
#ifndef SL_SERVE_TEXTS_H
#define SL_SERVE_TEXTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Its users count. */
struct sl_page_text {
  char *data; /* owned */
  size_t bytes;
  uint64_t made_ns;
  uint64_t serial; /* of its kind */
  uint32_t users;
};

enum {
  SL_TEXT_STATUS,
  SL_TEXT_HISTOGRAMS,
  SL_TEXT_REFERENCE,
  SL_TEXT_METRICS,
  SL_TEXT_CONFIG,
  SL_TEXT_GRAPH, /* the drawing, made of the next text when it is asked for */
  SL_TEXT_DOT,
  SL_TEXTS
};

struct sl_texts {
  pthread_mutex_t lock;
  struct sl_page_text *at[SL_TEXTS];
};

void sl_texts_open(struct sl_texts *t);
void sl_texts_close(struct sl_texts *t);
/* Publishes a text, which it takes. Out of memory: the text before stays. */
void sl_texts_put(struct sl_texts *t, uint32_t kind, char *data, size_t bytes);
void sl_texts_remove(struct sl_texts *t, uint32_t kind);
/* Returns the newest text, or NULL if there is none; to be released. */
struct sl_page_text *sl_texts_get(struct sl_texts *t, uint32_t kind);
void sl_text_release(struct sl_texts *t, struct sl_page_text *text);

#endif
