/* input_file.c: see input_file.h.
 *
 * The signal handler finds the mappings in a global table, the only global state of this plugin. It reads the table
 * without a lock; so an entry is filled before its `begin` is set, and `begin` is cleared first. */
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

/* Each source maps one file at a time. */
enum { MAPPINGS_MAX = 64, NOT_REGISTERED = MAPPINGS_MAX };

static struct mapping {
  _Atomic uintptr_t begin; /* 0: free */
  _Atomic uintptr_t end;
  atomic_uint is_lost;
} mappings[MAPPINGS_MAX];

static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t mapping_count;
static uintptr_t page_bytes;
static struct sigaction action_before;

/* Replaces the page at `address` and all later pages of its mapping with zeros. Returns 0 if the address is in no
 * mapping of this table. */
static int replace_lost_pages(uintptr_t address) {
  for (uint32_t i = 0; i < MAPPINGS_MAX; i++) {
    const uintptr_t begin = atomic_load(&mappings[i].begin), end = atomic_load(&mappings[i].end);
    if (begin == 0 || address < begin || address >= end) continue;
    const uintptr_t page = address & ~(page_bytes - 1);
    void *const target = (void *)page; /* NOLINT(performance-no-int-to-ptr): the address is a number here */
    if (mmap(target, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
      return 0;
    atomic_store(&mappings[i].is_lost, 1);
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
    sigaction(number, &action_before, NULL); /* repeats the instruction with the previous action */
}

/* SA_ONSTACK: uses the alternate stack of the thread if there is one; threads of the emulator have small stacks. */
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

/* Returns a free entry of the table, or NOT_REGISTERED if there is none. */
static uint32_t find_free_entry(void) {
  uint32_t index = 0;
  while (index < MAPPINGS_MAX && atomic_load(&mappings[index].begin) != 0) index++;
  return index;
}

static uint32_t register_mapping(const void *data, uint64_t bytes) {
  pthread_mutex_lock(&mappings_lock);
  uint32_t index = find_free_entry();
  if (index != NOT_REGISTERED && mapping_count == 0 && handler_install() != 0) index = NOT_REGISTERED;
  if (index != NOT_REGISTERED) {
    mapping_count++;
    atomic_store(&mappings[index].is_lost, 0);
    /* Rounded up to the end of the last page. */
    atomic_store(&mappings[index].end, ((uintptr_t)data + bytes + page_bytes - 1) & ~(page_bytes - 1));
    atomic_store(&mappings[index].begin, (uintptr_t)data);
  }
  pthread_mutex_unlock(&mappings_lock);
  return index;
}

static void unregister_mapping(uint32_t index) {
  pthread_mutex_lock(&mappings_lock);
  atomic_store(&mappings[index].begin, 0);
  if (--mapping_count == 0) handler_remove();
  pthread_mutex_unlock(&mappings_lock);
}

/* ----------------------------------------------------------------------------------------------------- files */

static int fail(struct input_file *f, char *reason, uint32_t reason_size, const char *text) {
  snprintf(reason, reason_size, "%s", text);
  input_file_close(f);
  return SL_EIO;
}

/* Returns why a file of this kind cannot be read, or NULL. */
static const char *unreadable_kind(mode_t mode) {
  if (S_ISREG(mode)) return NULL;
  return S_ISDIR(mode) ? strerror(EISDIR) : "is neither a regular file nor a pipe";
}

int input_file_open(struct input_file *f, const char *path, char *reason, uint32_t reason_size) {
  *f = (struct input_file){.descriptor = -1, .mapping_index = NOT_REGISTERED};
  /* O_NONBLOCK: opening a pipe without a writer does not block. */
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
  f->mapping_index = register_mapping(data, f->mapped_bytes);
  if (f->mapping_index == NOT_REGISTERED)
    return fail(f, reason, reason_size, "too many input files are open at the same time");
  /* Failure costs only speed. */
  (void)madvise(data, (size_t)status.st_size, MADV_SEQUENTIAL);
  return SL_OK;
}

enum { POPULATE_BYTES = 1 << 20 }; /* bytes per worker step; a multiple of every page size */

struct populate_work {
  const uint8_t *data;
  uint64_t begin, end;
};

/* Failure costs only speed; unreadable pages are detected when they are accessed. */
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
  return atomic_load(&mappings[f->mapping_index].is_lost) != 0;
}

void input_file_close(struct input_file *f) {
  if (f->mapping_index != NOT_REGISTERED) unregister_mapping(f->mapping_index);
  if (f->is_stream) {
    input_stream_close(f);
  } else {
    if (f->data) munmap((void *)f->data, (size_t)f->mapped_bytes);
    if (f->descriptor >= 0) close(f->descriptor);
  }
  *f = (struct input_file){.descriptor = -1, .mapping_index = NOT_REGISTERED};
}
