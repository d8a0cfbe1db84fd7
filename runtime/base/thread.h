/* thread.h: threads of the library, which run in the C locale (base/locale.h). No other file starts threads. */
#ifndef SL_THREAD_H
#define SL_THREAD_H

#include <pthread.h>

struct sl_thread {
  pthread_t id;
  void (*body)(void *argument);
  void *argument;
  int is_started;
};

/* Starts `body`; the struct must not move until sl_thread_join. Returns 0 or an errno. */
int sl_thread_start(struct sl_thread *thread, void (*body)(void *argument), void *argument);
/* Waits for the end of the thread, if it was started. */
void sl_thread_join(struct sl_thread *thread);

#endif
