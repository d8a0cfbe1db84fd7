/* thread.c: see thread.h. */
#include "base/thread.h"

#include "base/locale.h"

#include <stddef.h>

static void *run(void *argument) {
  const struct sl_thread *thread = argument;
  SL_IN_C_LOCALE(NULL);
  thread->body(thread->argument);
  return NULL;
}

int sl_thread_start(struct sl_thread *thread, void (*body)(void *argument), void *argument) {
  thread->body = body;
  thread->argument = argument;
  const int error = pthread_create(&thread->id, NULL, run, thread);
  thread->is_started = error == 0;
  return error;
}

void sl_thread_join(struct sl_thread *thread) {
  if (thread->is_started) pthread_join(thread->id, NULL);
  thread->is_started = 0;
}
