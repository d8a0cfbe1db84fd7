/* simt_race.h: how a plugin built for race detection (`--device simt --race`, docs/testing.md) reports each memory
 * access to the emulator.
 *
 * The kernels are compiled with -fsanitize=thread, so that the compiler calls a function before each access. These
 * functions are defined here instead of in the sanitizer's library: with SL_RACE_HOOKS defined, this header is a source
 * file of the plugin, compiled without the sanitizer. The linker redirects memcpy, memmove and memset here, too.
 */
#ifndef SLUICE_SIMT_RACE_H
#define SLUICE_SIMT_RACE_H

#include <sluice/simt_abi.h>

enum { SL_RACE_READ = 1, SL_RACE_WRITE = 2, SL_RACE_ATOMIC = 4 };

/* `return_address`: where the access is in the code of the kernel. */
struct sl_race_api {
  uint32_t size, version; /* SL_SIMT_VERSION */
  void (*access)(const struct sl_race_api *race, const void *return_address, const void *memory, uint64_t bytes,
                 uint32_t kind);
  void (*copy)(const struct sl_race_api *race, const void *return_address, void *to, const void *from, uint64_t bytes);
};

/* The struct that sl_launch.backend points to if the emulator detects races. */
struct sl_race_stream {
  struct sl_simt_stream simt;
  const struct sl_race_api *race;
};

SL_STATIC_ASSERT(sizeof(struct sl_race_api) == 24, "frozen by SL_SIMT_VERSION");
SL_STATIC_ASSERT(sizeof(struct sl_race_stream) == 56, "frozen by SL_SIMT_VERSION");

#ifndef __cplusplus /* the rest is for kernels, which are C on this target */
/* Set by SL_LAUNCH while a kernel runs. */
extern _Thread_local const struct sl_race_api *sl_race __attribute__((visibility("hidden")));

void *__wrap_memcpy(void *to, const void *from, unsigned long bytes) __attribute__((visibility("hidden")));
void *__wrap_memmove(void *to, const void *from, unsigned long bytes) __attribute__((visibility("hidden")));
void *__wrap_memset(void *to, int value, unsigned long bytes) __attribute__((visibility("hidden")));

#if defined(SL_RACE_HOOKS)

_Thread_local const struct sl_race_api *sl_race;

#define SL_HOOK_ __attribute__((visibility("hidden")))
#define SL_REPORT_(memory, bytes, kind) \
  if (sl_race) sl_race->access(sl_race, __builtin_return_address(0), memory, bytes, kind)

/* The functions that the compiler calls, by their fixed names. */
#define SL_HOOK_ACCESS_(name, bytes, kind) \
  SL_HOOK_ void name(const void *memory);  \
  SL_HOOK_ void name(const void *memory) { SL_REPORT_(memory, bytes, kind); }
#define SL_HOOK_RANGE_(name, kind)                             \
  SL_HOOK_ void name(const void *memory, unsigned long bytes); \
  SL_HOOK_ void name(const void *memory, unsigned long bytes) { SL_REPORT_(memory, bytes, kind); }
#define SL_HOOK_NOTHING_(name) \
  SL_HOOK_ void name(void);    \
  SL_HOOK_ void name(void) {}
#define SL_HOOKS_OF_SIZE_(bytes)                                                 \
  SL_HOOK_ACCESS_(__tsan_read##bytes, bytes, SL_RACE_READ)                       \
  SL_HOOK_ACCESS_(__tsan_write##bytes, bytes, SL_RACE_WRITE)                     \
  SL_HOOK_ACCESS_(__tsan_unaligned_read##bytes, bytes, SL_RACE_READ)             \
  SL_HOOK_ACCESS_(__tsan_unaligned_write##bytes, bytes, SL_RACE_WRITE)           \
  SL_HOOK_ACCESS_(__tsan_volatile_read##bytes, bytes, SL_RACE_READ)              \
  SL_HOOK_ACCESS_(__tsan_volatile_write##bytes, bytes, SL_RACE_WRITE)            \
  SL_HOOK_ACCESS_(__tsan_read_write##bytes, bytes, SL_RACE_READ | SL_RACE_WRITE) \
  SL_HOOK_ACCESS_(__tsan_unaligned_read_write##bytes, bytes, SL_RACE_READ | SL_RACE_WRITE)
SL_HOOKS_OF_SIZE_(1)
SL_HOOKS_OF_SIZE_(2)
SL_HOOKS_OF_SIZE_(4)
SL_HOOKS_OF_SIZE_(8)
SL_HOOKS_OF_SIZE_(16)
SL_HOOK_RANGE_(__tsan_read_range, SL_RACE_READ)
SL_HOOK_RANGE_(__tsan_write_range, SL_RACE_WRITE)
SL_HOOK_NOTHING_(__tsan_init)
SL_HOOK_NOTHING_(__tsan_func_exit)
SL_HOOK_ void __tsan_func_entry(const void *caller);
SL_HOOK_ void __tsan_func_entry(const void *caller) { (void)caller; }

/* Atomics as kernel_simt.h uses them. Only one thread runs at a time, so that plain accesses are enough. */
#define SL_HOOK_ATOMIC_(bits)                                                                          \
  SL_HOOK_ uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order);     \
  SL_HOOK_ uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order) {    \
    (void)order;                                                                                       \
    SL_REPORT_((const void *)(uintptr_t)p, bits / 8, SL_RACE_READ | SL_RACE_ATOMIC);                   \
    return *p;                                                                                         \
  }                                                                                                    \
  SL_HOOK_ void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int order);  \
  SL_HOOK_ void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int order) { \
    (void)order;                                                                                       \
    SL_REPORT_((const void *)(uintptr_t)p, bits / 8, SL_RACE_WRITE | SL_RACE_ATOMIC);                  \
    *p = v;                                                                                            \
  }
SL_HOOK_ATOMIC_(32)
SL_HOOK_ATOMIC_(64)

/* gcc calls the C library's functions, which the linker's --wrap redirects here; clang calls the sanitizer's. */
#define SL_HOOK_COPY_(name, real)                                                      \
  void *real(void *to, const void *from, unsigned long bytes);                         \
  SL_HOOK_ void *name(void *to, const void *from, unsigned long bytes);                \
  SL_HOOK_ void *name(void *to, const void *from, unsigned long bytes) {               \
    if (sl_race) sl_race->copy(sl_race, __builtin_return_address(0), to, from, bytes); \
    return real(to, from, bytes);                                                      \
  }
#define SL_HOOK_SET_(name, real)                                  \
  void *real(void *to, int value, unsigned long bytes);           \
  SL_HOOK_ void *name(void *to, int value, unsigned long bytes);  \
  SL_HOOK_ void *name(void *to, int value, unsigned long bytes) { \
    SL_REPORT_(to, bytes, SL_RACE_WRITE);                         \
    return real(to, value, bytes);                                \
  }
SL_HOOK_COPY_(__wrap_memcpy, __real_memcpy)
SL_HOOK_COPY_(__wrap_memmove, __real_memmove)
SL_HOOK_SET_(__wrap_memset, __real_memset)
SL_HOOK_COPY_(__tsan_memcpy, __real_memcpy)
SL_HOOK_COPY_(__tsan_memmove, __real_memmove)
SL_HOOK_SET_(__tsan_memset, __real_memset)

#endif
#endif
#endif
