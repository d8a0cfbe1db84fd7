/* texts.c: see texts.h. */
#include "serve/texts.h"

#include "base/clock.h"

#include <stdlib.h>

void sl_texts_open(struct sl_texts *t) { pthread_mutex_init(&t->lock, NULL); }

/* With the lock held. Returns the text if it is to be freed. */
static struct sl_page_text *leave(struct sl_page_text *text) { return text && --text->users == 0 ? text : NULL; }

static void free_text(struct sl_page_text *text) {
  if (text) free(text->data);
  free(text);
}

void sl_texts_close(struct sl_texts *t) {
  for (uint32_t i = 0; i < SL_TEXTS; i++) free_text(leave(t->at[i]));
  pthread_mutex_destroy(&t->lock);
}

void sl_texts_put(struct sl_texts *t, uint32_t kind, char *data, size_t bytes) {
  struct sl_page_text *text = malloc(sizeof *text);
  if (!text) {
    free(data);
    return;
  }
  pthread_mutex_lock(&t->lock);
  struct sl_page_text *before = t->at[kind];
  *text = (struct sl_page_text){data, bytes, sl_now_ns(), before ? before->serial + 1 : 1, 1};
  t->at[kind] = text;
  before = leave(before);
  pthread_mutex_unlock(&t->lock);
  free_text(before);
}

void sl_texts_remove(struct sl_texts *t, uint32_t kind) {
  pthread_mutex_lock(&t->lock);
  struct sl_page_text *before = leave(t->at[kind]);
  t->at[kind] = NULL;
  pthread_mutex_unlock(&t->lock);
  free_text(before);
}

struct sl_page_text *sl_texts_get(struct sl_texts *t, uint32_t kind) {
  pthread_mutex_lock(&t->lock);
  struct sl_page_text *text = t->at[kind];
  if (text) text->users++;
  pthread_mutex_unlock(&t->lock);
  return text;
}

void sl_text_release(struct sl_texts *t, struct sl_page_text *text) {
  pthread_mutex_lock(&t->lock);
  text = leave(text);
  pthread_mutex_unlock(&t->lock);
  free_text(text);
}
