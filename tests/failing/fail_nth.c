/* fail_nth.c: preloaded into a command; makes the Nth call of a kind fail, to simulate a failing system.
 *
 *   SLUICE_FAIL=KIND:N          the Nth call of that kind fails
 *   SLUICE_FAIL=KIND:N+         that call and all later ones fail
 *   SLUICE_FAIL_COUNT=FILE      writes the number of calls of each kind, one line each
 *   SLUICE_FAIL_FILES=FOLDER    files under /proc and /sys are opened below this folder instead
 *
 * Allocations and thread creation are interposed as functions. System calls are caught by a seccomp filter, so
 * that calls of the C library, the loader and other libraries count too: the filter raises a signal, and the handler
 * counts the call and fails it, or repeats it from the one address that the filter permits. Children share the
 * counters. Writing to standard error never fails, so that messages stay visible.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "registers of system calls are known for x86-64 only"
#endif

enum { NOTHING_FAILED = 77 };

enum { ALLOCATION, THREAD, OPEN, READ, PREAD, WRITE, PWRITE, SYNC, RENAME, CLOSE, MAP, KINDS };
static const char *const kinds[KINDS] = {"allocation", "thread", "open",   "read",  "pread", "write",
                                         "pwrite",     "sync",   "rename", "close", "mmap"};

struct counters {
  atomic_uint_fast64_t calls[KINDS];
};
static struct counters *counters; /* NULL: calls are not counted yet */
static int failing = KINDS, for_ever;
static uint64_t failing_call;
static const char *files_folder;
static pid_t first_process;

/* Counts a call; returns 1 if it must fail. */
static int fails(int kind) {
  if (!counters) return 0;
  const uint64_t call = atomic_fetch_add(&counters->calls[kind], 1) + 1;
  return kind == failing && (call == failing_call || (for_ever && call > failing_call));
}

/* ------------------------------------------------------------------------------------------- allocations */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

#pragma GCC visibility push(default)

static int no_memory(void) {
  if (!fails(ALLOCATION)) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t bytes) { return no_memory() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return no_memory() ? NULL : __libc_calloc(count, bytes); }
void *realloc(void *memory, size_t bytes) { return no_memory() ? NULL : __libc_realloc(memory, bytes); }
void *memalign(size_t alignment, size_t bytes) { return no_memory() ? NULL : __libc_memalign(alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
void *reallocarray(void *memory, size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(memory, all);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  void *found = memalign(alignment, bytes);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!create) *(void **)(void *)&create = dlsym(RTLD_NEXT, "pthread_create");
  return fails(THREAD) ? EAGAIN : create(thread, attributes, body, argument);
}

#pragma GCC visibility pop

/* ----------------------------------------------------------------------------------------------- system calls */

long let_through(long number, long a, long b, long c, long d, long e, long f);
extern const char let_through_from[];
__asm__(
    ".text\n"
    ".globl let_through\n.hidden let_through\n.type let_through, @function\n"
    "let_through:\n"
    "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n  mov %r8, %r10\n  mov %r9, %r8\n"
    "  mov 8(%rsp), %r9\n"
    "  syscall\n"
    ".globl let_through_from\n.hidden let_through_from\n"
    "let_through_from:\n"
    "  ret\n"
    ".size let_through, .-let_through\n");

static const struct call {
  int number, kind, error;
} calls[] = {
    {SYS_open, OPEN, EMFILE},     {SYS_openat, OPEN, EMFILE},     {SYS_creat, OPEN, EMFILE},
    {SYS_read, READ, EIO},        {SYS_readv, READ, EIO},         {SYS_getdents64, READ, EIO},
    {SYS_pread64, PREAD, EIO},    {SYS_preadv, PREAD, EIO},       {SYS_write, WRITE, ENOSPC},
    {SYS_writev, WRITE, ENOSPC},  {SYS_pwrite64, PWRITE, ENOSPC}, {SYS_pwritev, PWRITE, ENOSPC},
    {SYS_ftruncate, PWRITE, EIO}, {SYS_fsync, SYNC, EIO},         {SYS_fdatasync, SYNC, EIO},
    {SYS_rename, RENAME, EACCES}, {SYS_renameat, RENAME, EACCES}, {SYS_renameat2, RENAME, EACCES},
    {SYS_close, CLOSE, EIO},      {SYS_mmap, MAP, ENOMEM},
};
enum { CALL_COUNT = sizeof calls / sizeof *calls };

/* Opens /proc/... and /sys/... below the folder instead, if the file exists there. */
static long open_elsewhere(long number, const greg_t *r) {
  const char *path = (const char *)r[number == SYS_openat ? REG_RSI : REG_RDI];
  char other[512];
  const int is_systems = files_folder && path && (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0);
  if (!is_systems || snprintf(other, sizeof other, "%s%s", files_folder, path) >= (int)sizeof other) return -ENOSYS;
  const long flags = number == SYS_openat ? r[REG_RDX] : r[REG_RSI];
  return let_through(SYS_openat, AT_FDCWD, (long)other, flags, 0, 0, 0);
}

static void on_call(int signal_number, siginfo_t *about, void *context) {
  (void)signal_number;
  const int saved = errno;
  greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
  const struct call *call = calls;
  while (call < calls + CALL_COUNT && call->number != about->si_syscall) call++;
  const int is_told = call->kind == WRITE && r[REG_RDI] == STDERR_FILENO;
  long result = -ENOSYS;
  if (call->kind == OPEN) result = open_elsewhere(call->number, r);
  if (!is_told && fails(call->kind)) {
    if (call->kind == CLOSE)
      let_through(SYS_close, r[REG_RDI], 0, 0, 0, 0, 0); /* a failed close still closes the file */
    result = -call->error;
  } else if (result == -ENOSYS) {
    result = let_through(about->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
  }
  r[REG_RAX] = result;
  errno = saved;
}

static int catch_calls(void) {
  struct sock_filter filter[CALL_COUNT + 10];
  unsigned n = 0;
  const uint64_t from = (uint64_t)(uintptr_t)let_through_from;
  const unsigned ip = offsetof(struct seccomp_data, instruction_pointer);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ip);
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)from, 0, 3);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ip + 4);
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(from >> 32), 0, 1);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < CALL_COUNT; i++)
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number,
                                               (uint8_t)(CALL_COUNT - i), 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const struct sock_fprog program = {(unsigned short)n, filter};
  struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
  return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ------------------------------------------------------------------------------------------- start and end */

static void read_wish(const char *text) {
  const char *colon = text ? strchr(text, ':') : NULL;
  if (!colon) return;
  for (failing = 0; failing < KINDS; failing++)
    if (strlen(kinds[failing]) == (size_t)(colon - text) && strncmp(kinds[failing], text, (size_t)(colon - text)) == 0)
      break;
  char *end;
  failing_call = strtoull(colon + 1, &end, 10);
  for_ever = *end == '+';
}

__attribute__((constructor)) static void begin(void) {
  first_process = getpid();
  read_wish(getenv("SLUICE_FAIL"));
  files_folder = getenv("SLUICE_FAIL_FILES");
  void *shared = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || !catch_calls()) _exit(NOTHING_FAILED);
  counters = shared;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("SLUICE_FAIL_COUNT");
  if (!path || getpid() != first_process) return;
  const long file = let_through(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_TRUNC, 0644, 0, 0);
  for (int kind = 0; kind < KINDS && file >= 0; kind++) {
    char line[64];
    const int bytes =
        snprintf(line, sizeof line, "%s %llu\n", kinds[kind], (unsigned long long)atomic_load(&counters->calls[kind]));
    let_through(SYS_write, file, (long)line, bytes, 0, 0, 0);
  }
}
