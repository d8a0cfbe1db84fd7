/* memory.h: how much memory this process may still take, as the system has it: what is available on the machine, the
 * limits of its control groups (v2 and v1), and its own limits (ulimit -v and -d). */
#ifndef SL_MEMORY_H
#define SL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct sl_room {
  uint64_t bytes;        /* UINT64_MAX: nobody knows of a limit */
  uint64_t thread_bytes; /* that each thread more takes of it: for its stack and, of an address space, its heap */
  const char *why;       /* what limits it, for a message: "MemAvailable"; "" where nothing does */
};

/* The least that any of them leaves. `root` comes before the paths under /proc and /sys: "" but in tests. */
struct sl_room sl_memory_room(const char *root);

/* "1.3 GB", "280 MB", for a message. */
void sl_memory_text(uint64_t bytes, char *text, size_t size);

#endif
