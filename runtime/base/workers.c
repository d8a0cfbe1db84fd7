/* workers.c: see workers.h. A loop has as many places as further workers can be of use to; a thread that wakes takes
 * one, and all take steps from one counter until there are none. The caller takes the places back that nobody has come
 * for by then, and waits for those who came, so that a thread that wakes late holds nobody up.
 *
 * To wake a thread that sleeps takes long, on a virtual machine above all (50 to 100 us were seen), and loops follow
 * one another closely. So threads look out for the next loop a little while before they sleep, and the caller for the
 * end of those who are still at it: as many of them as whoever starts them knows processors for.
 */
#define _GNU_SOURCE
#include "base/workers.h"

#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { LOOK_OUT_NS = 100000 };

struct worker {
  struct sl_workers *all;
  struct sl_thread thread;
  uint32_t index;
};

struct sl_workers {
  pthread_mutex_t lock; /* of those who sleep, and wake them */
  pthread_cond_t called, finished;
  uint32_t count, started; /* threads: worker 0 is none */
  int is_started, start_error;
  uint32_t watchful; /* workers that look out: the first ones */
  uint32_t asleep;   /* threads, for a loop */
  atomic_int ended;
  atomic_ullong state; /* of the loop: free places, and from bit 32 on the threads that are at it */
  sl_worker_body *body;
  void *work;
  uint32_t steps;
  atomic_uint next;
  struct worker workers[];
};

/* -------------------------------------------------------------------------------------------------- places */

#define A_PLACE  UINT64_C(1)
#define A_THREAD (UINT64_C(1) << 32)

static uint32_t places_of(uint64_t state) { return (uint32_t)state; }
static uint32_t threads_of(uint64_t state) { return (uint32_t)(state >> 32); }

static int has_places(struct sl_workers *w) { return places_of(atomic_load(&w->state)) > 0; }
static int is_left(struct sl_workers *w) { return threads_of(atomic_load(&w->state)) == 0; }
static int is_called(struct sl_workers *w) { return has_places(w) || atomic_load(&w->ended); }

static int take_place(struct sl_workers *w) {
  unsigned long long state = atomic_load(&w->state);
  while (places_of(state) > 0)
    if (atomic_compare_exchange_weak(&w->state, &state, state - A_PLACE + A_THREAD)) return 1;
  return 0;
}

static void leave(struct sl_workers *w) {
  if (threads_of(atomic_fetch_sub(&w->state, A_THREAD)) > 1) return;
  pthread_mutex_lock(&w->lock);
  pthread_cond_signal(&w->finished);
  pthread_mutex_unlock(&w->lock);
}

/* Waits a little while for `is_so`. */
static void look_out(struct sl_workers *w, uint32_t worker, int (*is_so)(struct sl_workers *w)) {
  enum { LOOKS = 32 }; /* from one look at the clock to the next */
  struct timespec begin, now;
  if (worker >= w->watchful) return;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    for (int i = 0; i < LOOKS; i++) {
      if (is_so(w)) return;
#ifdef __x86_64__
      __builtin_ia32_pause();
#endif
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < LOOK_OUT_NS);
}

/* ------------------------------------------------------------------------------------------------- threads */

static void take_steps(struct sl_workers *w, uint32_t worker) {
  for (uint32_t i; (i = atomic_fetch_add(&w->next, 1)) < w->steps;) w->body(w->work, i, worker);
}

static void sleep_until_called(struct sl_workers *w) {
  pthread_mutex_lock(&w->lock);
  w->asleep++;
  while (!is_called(w)) pthread_cond_wait(&w->called, &w->lock);
  w->asleep--;
  pthread_mutex_unlock(&w->lock);
}

static void wait_for_loops(void *argument) {
  const struct worker *self = argument;
  struct sl_workers *w = self->all;
  while (!atomic_load(&w->ended)) {
    look_out(w, self->index, is_called);
    if (!is_called(w)) sleep_until_called(w);
    if (!take_place(w)) continue;
    take_steps(w, self->index);
    leave(w);
  }
}

/* Signals are for the threads that there were before: one of them may wait for a pipe, and has to hear of it. Those of
 * a thread's own doing stay. */
static void block_signals(sigset_t *before) {
  static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
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
    w->start_error = sl_thread_start(&next->thread, wait_for_loops, next);
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
  w->body = body;
  w->work = work;
  w->steps = count;
  atomic_store(&w->next, 0);
  pthread_mutex_lock(&w->lock);
  atomic_store(&w->state, places);
  for (uint32_t i = 0; i < places && i < w->asleep; i++) pthread_cond_signal(&w->called);
  pthread_mutex_unlock(&w->lock);
  take_steps(w, 0);
  atomic_fetch_and(&w->state, ~(A_THREAD - 1));
  look_out(w, 0, is_left);
  if (is_left(w)) return;
  pthread_mutex_lock(&w->lock);
  while (!is_left(w)) pthread_cond_wait(&w->finished, &w->lock);
  pthread_mutex_unlock(&w->lock);
}

uint32_t sl_workers_missing(const struct sl_workers *w, int *error) {
  *error = w->start_error;
  return w->is_started ? w->count - 1 - w->started : 0;
}

struct sl_workers *sl_workers_new(uint32_t count, uint32_t watchful) {
  struct sl_workers *w = calloc(1, sizeof *w + count * sizeof *w->workers);
  if (!w) return NULL;
  w->count = count;
  w->watchful = watchful;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->called, NULL);
  pthread_cond_init(&w->finished, NULL);
  return w;
}

void sl_workers_free(struct sl_workers *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  atomic_store(&w->ended, 1);
  pthread_cond_broadcast(&w->called);
  pthread_mutex_unlock(&w->lock);
  for (uint32_t i = 1; i <= w->started; i++) sl_thread_join(&w->workers[i].thread);
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
