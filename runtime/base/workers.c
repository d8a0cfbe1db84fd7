/* workers.c: see workers.h. A loop has as many places as further workers can be of use to; a thread that wakes takes
 * one, and all take steps from one counter until there are none. The caller takes the places back that nobody has come
 * for by then, and waits for those who came, so that a thread that wakes late holds nobody up.
 */
#define _GNU_SOURCE
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

struct worker {
  struct sl_workers *all;
  pthread_t thread;
  uint32_t index;
};

struct sl_workers {
  pthread_mutex_t lock;
  pthread_cond_t called, finished;
  uint32_t count, started; /* threads: worker 0 is none */
  int is_started, start_error, ended;
  uint32_t places, busy; /* of the loop: free ones; threads that are at it */
  sl_worker_body *body;
  void *work;
  uint32_t steps;
  atomic_uint next;
  struct worker workers[];
};

static void take_steps(struct sl_workers *w, uint32_t worker) {
  for (uint32_t i; (i = atomic_fetch_add(&w->next, 1)) < w->steps;) w->body(w->work, i, worker);
}

static void *wait_for_loops(void *argument) {
  const struct worker *self = argument;
  struct sl_workers *w = self->all;
  pthread_mutex_lock(&w->lock);
  while (!w->ended) {
    if (w->places == 0) {
      pthread_cond_wait(&w->called, &w->lock);
      continue;
    }
    w->places--;
    w->busy++;
    pthread_mutex_unlock(&w->lock);
    take_steps(w, self->index);
    pthread_mutex_lock(&w->lock);
    if (--w->busy == 0) pthread_cond_signal(&w->finished);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* Signals are for the threads that there were before: one of them may wait for a pipe, and has to hear of it. Those of
 * a thread's own doing stay. */
static void block_signals(sigset_t *before) {
  static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
  sigset_t blocked;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&blocked, own[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, before);
}

static void start_threads(struct sl_workers *w) {
  sigset_t before;
  w->is_started = 1;
  block_signals(&before);
  while (w->started + 1 < w->count && w->start_error == 0) {
    struct worker *next = &w->workers[w->started + 1];
    *next = (struct worker){.all = w, .index = w->started + 1};
    w->start_error = pthread_create(&next->thread, NULL, wait_for_loops, next);
    w->started += w->start_error == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sl_workers_run(struct sl_workers *w, uint32_t count, sl_worker_body *body, void *work) {
  if (count > 1 && !w->is_started) start_threads(w);
  const uint32_t places = count == 0 ? 0 : count - 1 < w->started ? count - 1 : w->started;
  if (places == 0) {
    for (uint32_t i = 0; i < count; i++) body(work, i, 0);
    return;
  }
  pthread_mutex_lock(&w->lock);
  w->body = body;
  w->work = work;
  w->steps = count;
  atomic_store(&w->next, 0);
  w->places = places;
  pthread_mutex_unlock(&w->lock);
  for (uint32_t i = 0; i < places; i++) pthread_cond_signal(&w->called);
  take_steps(w, 0);
  pthread_mutex_lock(&w->lock);
  w->places = 0;
  while (w->busy > 0) pthread_cond_wait(&w->finished, &w->lock);
  pthread_mutex_unlock(&w->lock);
}

uint32_t sl_workers_missing(const struct sl_workers *w, int *error) {
  *error = w->start_error;
  return w->is_started ? w->count - 1 - w->started : 0;
}

struct sl_workers *sl_workers_new(uint32_t count) {
  struct sl_workers *w = calloc(1, sizeof *w + count * sizeof *w->workers);
  if (!w) return NULL;
  w->count = count;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->called, NULL);
  pthread_cond_init(&w->finished, NULL);
  return w;
}

void sl_workers_free(struct sl_workers *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->ended = 1;
  pthread_cond_broadcast(&w->called);
  pthread_mutex_unlock(&w->lock);
  for (uint32_t i = 1; i <= w->started; i++) pthread_join(w->workers[i].thread, NULL);
  pthread_cond_destroy(&w->called);
  pthread_cond_destroy(&w->finished);
  pthread_mutex_destroy(&w->lock);
  free(w);
}

uint32_t sl_processors(void) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return 1;
  const int count = CPU_COUNT(&usable);
  return count > 0 ? (uint32_t)count : 1;
}
