/* workers.c: see workers.h. A loop has as many openings as it can use further workers. A thread that wakes up takes an
 * opening, and all threads take iterations from one counter. When the counter is exhausted, the caller withdraws the
 * remaining openings and waits only for the threads that joined, so that a thread that wakes late delays no loop.
 *
 * Waking a thread takes long (50 to 100 us were measured on a virtual machine), and loops follow each other closely.
 * Therefore threads spin for the next loop for a short time before they sleep, and the caller spins for the end of the
 * loop. Only the first `watchful` workers spin; the caller chooses their number by the number of processors.
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

enum { SPIN_NS = 100000 };

struct worker {
  struct sl_workers *all;
  struct sl_thread thread;
  uint32_t index;
};

struct sl_workers {
  pthread_mutex_t lock; /* protects `sleeping` and the conditions */
  pthread_cond_t work_available, finished;
  uint32_t count, started; /* number of threads; worker 0 has none */
  int is_started, start_error;
  uint32_t watchful; /* number of workers that spin: the first ones */
  uint32_t sleeping; /* number of threads waiting for a loop */
  atomic_int ended;
  atomic_ullong state; /* of the loop: openings in the low 32 bits, joined threads in the high bits */
  sl_worker_body *body;
  void *work;
  uint32_t steps;
  atomic_uint next;
  struct worker workers[];
};

/* -------------------------------------------------------------------------------------------------- places */

#define ONE_OPENING UINT64_C(1)
#define ONE_THREAD  (UINT64_C(1) << 32)

static uint32_t openings_of(uint64_t state) { return (uint32_t)state; }
static uint32_t threads_of(uint64_t state) { return (uint32_t)(state >> 32); }

static int has_openings(struct sl_workers *w) { return openings_of(atomic_load(&w->state)) > 0; }
static int has_ended_loop(struct sl_workers *w) { return threads_of(atomic_load(&w->state)) == 0; }
static int has_work(struct sl_workers *w) { return has_openings(w) || atomic_load(&w->ended); }

static int join_loop(struct sl_workers *w) {
  unsigned long long state = atomic_load(&w->state);
  while (openings_of(state) > 0)
    if (atomic_compare_exchange_weak(&w->state, &state, state - ONE_OPENING + ONE_THREAD)) return 1;
  return 0;
}

static void leave_loop(struct sl_workers *w) {
  if (threads_of(atomic_fetch_sub(&w->state, ONE_THREAD)) > 1) return;
  pthread_mutex_lock(&w->lock);
  pthread_cond_signal(&w->finished);
  pthread_mutex_unlock(&w->lock);
}

/* Spins for up to SPIN_NS until `condition` holds. */
static void spin_until(struct sl_workers *w, uint32_t worker, int (*condition)(struct sl_workers *w)) {
  enum { SPINS_PER_CLOCK = 32 }; /* between two reads of the clock */
  struct timespec begin, now;
  if (worker >= w->watchful) return;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    for (int i = 0; i < SPINS_PER_CLOCK; i++) {
      if (condition(w)) return;
#ifdef __x86_64__
      __builtin_ia32_pause();
#endif
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < SPIN_NS);
}

/* ------------------------------------------------------------------------------------------------- threads */

static void take_steps(struct sl_workers *w, uint32_t worker) {
  for (uint32_t i; (i = atomic_fetch_add(&w->next, 1)) < w->steps;) w->body(w->work, i, worker);
}

static void sleep_until_work(struct sl_workers *w) {
  pthread_mutex_lock(&w->lock);
  w->sleeping++;
  while (!has_work(w)) pthread_cond_wait(&w->work_available, &w->lock);
  w->sleeping--;
  pthread_mutex_unlock(&w->lock);
}

static void wait_for_loops(void *argument) {
  const struct worker *self = argument;
  struct sl_workers *w = self->all;
  while (!atomic_load(&w->ended)) {
    spin_until(w, self->index, has_work);
    if (!has_work(w)) sleep_until_work(w);
    if (!join_loop(w)) continue;
    take_steps(w, self->index);
    leave_loop(w);
  }
}

/* Signals are left to the threads that existed before, because one of them may be waiting for a pipe and must be
 * interrupted. Signals caused by the thread itself are not blocked. */
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
  const uint32_t openings = count == 0 ? 0 : count - 1 < w->started ? count - 1 : w->started;
  if (openings == 0) {
    for (uint32_t i = 0; i < count; i++) body(work, i, 0);
    return;
  }
  w->body = body;
  w->work = work;
  w->steps = count;
  atomic_store(&w->next, 0);
  pthread_mutex_lock(&w->lock);
  atomic_store(&w->state, openings);
  for (uint32_t i = 0; i < openings && i < w->sleeping; i++) pthread_cond_signal(&w->work_available);
  pthread_mutex_unlock(&w->lock);
  take_steps(w, 0);
  atomic_fetch_and(&w->state, ~(ONE_THREAD - 1));
  spin_until(w, 0, has_ended_loop);
  if (has_ended_loop(w)) return;
  pthread_mutex_lock(&w->lock);
  while (!has_ended_loop(w)) pthread_cond_wait(&w->finished, &w->lock);
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
  pthread_cond_init(&w->work_available, NULL);
  pthread_cond_init(&w->finished, NULL);
  return w;
}

void sl_workers_free(struct sl_workers *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  atomic_store(&w->ended, 1);
  pthread_cond_broadcast(&w->work_available);
  pthread_mutex_unlock(&w->lock);
  for (uint32_t i = 1; i <= w->started; i++) sl_thread_join(&w->workers[i].thread);
  pthread_cond_destroy(&w->work_available);
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
