/* input_file.c: see input_file.h.
 *
 * The mappings that the handler looks after stand in a table. It is global, as signal handlers are, and the only thing
 * in this plugin that is: the handler reads it without a lock, so that a place is filled before its `begin` and cleared
 * after it.
 */
#include "input_file.h"

#include "input_stream.h"

#include <sluice/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ lost pages */

/* A source has one file mapped at a time. */
enum { WATCHES = 64, NOT_WATCHED = WATCHES };

static struct watch {
  _Atomic uintptr_t begin; /* 0: free */
  _Atomic uintptr_t end;
  atomic_uint is_lost;
} watches[WATCHES];

static pthread_mutex_t watches_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t watch_count;
static uintptr_t page_bytes;
static struct sigaction action_before;

/* Puts zeros in the place of a page and all that follow it in the mapping; 0 if there is no such mapping. */
static int replace_lost_pages(uintptr_t address) {
  for (uint32_t i = 0; i < WATCHES; i++) {
    const uintptr_t begin = atomic_load(&watches[i].begin), end = atomic_load(&watches[i].end);
    if (begin == 0 || address < begin || address >= end) continue;
    const uintptr_t page = address & ~(page_bytes - 1);
    void *const place = (void *)page; /* NOLINT(performance-no-int-to-ptr): the address is a number here */
    if (mmap(place, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
      return 0;
    atomic_store(&watches[i].is_lost, 1);
    return 1;
  }
  return 0;
}

static void on_bus_error(int number, siginfo_t *about, void *context) {
  const int error = errno;
  const int is_ours = about->si_code > 0 && replace_lost_pages((uintptr_t)about->si_addr);
  errno = error;
  if (is_ours) return;
  if (action_before.sa_flags & SA_SIGINFO)
    action_before.sa_sigaction(number, about, context);
  else if (action_before.sa_handler != SIG_DFL && action_before.sa_handler != SIG_IGN)
    action_before.sa_handler(number);
  else
    sigaction(number, &action_before, NULL); /* the instruction runs again, and the signal does what it did before */
}

/* On the stack of whoever handled it before, if on another: the emulator's threads have small ones. */
static int handler_install(void) {
  page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigemptyset(&action.sa_mask);
  return sigaction(SIGBUS, &action, &action_before);
}

static void handler_remove(void) {
  struct sigaction now;
  if (sigaction(SIGBUS, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_bus_error)
    (void)sigaction(SIGBUS, &action_before, NULL);
}

/* A free place in the table, NOT_WATCHED if there is none. */
static uint32_t find_place(void) {
  uint32_t place = 0;
  while (place < WATCHES && atomic_load(&watches[place].begin) != 0) place++;
  return place;
}

static uint32_t watch_begin(const void *data, uint64_t bytes) {
  pthread_mutex_lock(&watches_lock);
  uint32_t place = find_place();
  if (place != NOT_WATCHED && watch_count == 0 && handler_install() != 0) place = NOT_WATCHED;
  if (place != NOT_WATCHED) {
    watch_count++;
    atomic_store(&watches[place].is_lost, 0);
    /* To the end of the last page. */
    atomic_store(&watches[place].end, ((uintptr_t)data + bytes + page_bytes - 1) & ~(page_bytes - 1));
    atomic_store(&watches[place].begin, (uintptr_t)data);
  }
  pthread_mutex_unlock(&watches_lock);
  return place;
}

static void watch_end(uint32_t place) {
  pthread_mutex_lock(&watches_lock);
  atomic_store(&watches[place].begin, 0);
  if (--watch_count == 0) handler_remove();
  pthread_mutex_unlock(&watches_lock);
}

/* ----------------------------------------------------------------------------------------------------- files */

static int fail(struct input_file *f, char *reason, uint32_t reason_size, const char *text) {
  snprintf(reason, reason_size, "%s", text);
  input_file_close(f);
  return SL_EIO;
}

/* What is wrong with a file of that kind; NULL: nothing. */
static const char *unreadable_kind(mode_t mode) {
  if (S_ISREG(mode)) return NULL;
  return S_ISDIR(mode) ? strerror(EISDIR) : "is no regular file and no pipe, as events are read from";
}

int input_file_open(struct input_file *f, const char *path, char *reason, uint32_t reason_size) {
  *f = (struct input_file){.descriptor = -1, .watch = NOT_WATCHED};
  /* Not to hang on a pipe that has no writer. */
  f->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (f->descriptor < 0) return fail(f, reason, reason_size, strerror(errno));
  struct stat status;
  if (fstat(f->descriptor, &status) != 0) return fail(f, reason, reason_size, strerror(errno));
  if (S_ISFIFO(status.st_mode)) {
    const int error = input_stream_open(f, f->descriptor, reason, reason_size);
    if (error) input_file_close(f);
    return error;
  }
  const char *kind = unreadable_kind(status.st_mode);
  if (kind) return fail(f, reason, reason_size, kind);
  if (status.st_size == 0) return SL_OK;
  void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, f->descriptor, 0);
  if (data == MAP_FAILED) return fail(f, reason, reason_size, strerror(errno));
  f->data = (const uint8_t *)data;
  f->size = f->mapped_bytes = (uint64_t)status.st_size;
  f->watch = watch_begin(data, f->mapped_bytes);
  if (f->watch == NOT_WATCHED) return fail(f, reason, reason_size, "more input files than can be open at a time");
  /* Only advice: a refusal costs speed, nothing else. */
  (void)madvise(data, (size_t)status.st_size, MADV_SEQUENTIAL);
  return SL_OK;
}

enum { POPULATE_BYTES = 1 << 20 }; /* by a worker at a time, a multiple of any page's size */

struct populate_work {
  const uint8_t *data;
  uint64_t begin, end;
};

/* Only advice, too: pages that cannot be had are found out when they are touched. */
static void populate_pages(void *work_, uint32_t index, uint32_t worker) {
  const struct populate_work *work = (const struct populate_work *)work_;
  const uint64_t begin = work->begin + (uint64_t)index * POPULATE_BYTES, left = work->end - begin;
  (void)worker;
#ifdef MADV_POPULATE_READ
  (void)madvise((void *)(uintptr_t)(work->data + begin), left < POPULATE_BYTES ? left : POPULATE_BYTES,
                MADV_POPULATE_READ);
#else
  (void)left;
#endif
}

void input_file_populate(struct input_file *f, const struct sl_services *s, uint64_t begin, uint64_t bytes) {
  if (!f->data || f->is_stream) return;
  const uint64_t end = bytes < f->mapped_bytes - begin ? begin + bytes : f->mapped_bytes;
  if (end <= f->populated_bytes) return;
  begin -= begin % POPULATE_BYTES;
  struct populate_work work = {f->data, begin < f->populated_bytes ? f->populated_bytes : begin, end};
  const uint64_t steps = (end - work.begin + POPULATE_BYTES - 1) / POPULATE_BYTES;
  f->populated_bytes = work.begin + steps * POPULATE_BYTES;
  s->in_parallel(s->context, (uint32_t)steps, populate_pages, &work);
}

int input_file_recheck(struct input_file *f) {
  struct stat status;
  if (!f->data || f->is_stream) return 0;
  if (fstat(f->descriptor, &status) == 0 && (uint64_t)status.st_size < f->size) {
    f->size = (uint64_t)status.st_size;
    return 1;
  }
  return atomic_load(&watches[f->watch].is_lost) != 0;
}

void input_file_close(struct input_file *f) {
  if (f->watch != NOT_WATCHED) watch_end(f->watch);
  if (f->is_stream) {
    input_stream_close(f);
  } else {
    if (f->data) munmap((void *)f->data, (size_t)f->mapped_bytes);
    if (f->descriptor >= 0) close(f->descriptor);
  }
  *f = (struct input_file){.descriptor = -1, .watch = NOT_WATCHED};
}
