/* memory.h: how much memory this process can still allocate: limited by the machine's available memory, its control
 * groups (v2 and v1), and its own limits (ulimit -v and -d). */
#ifndef SL_MEMORY_H
#define SL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct sl_memory_limit {
  uint64_t bytes;        /* UINT64_MAX: no known limit */
  uint64_t thread_bytes; /* bytes that each further thread uses: its stack and, of address space, its heap */
  const char *why;       /* the limit that applies, for a message: "MemAvailable"; "" if none */
};

/* Returns the smallest of these limits. `root` is prepended to the paths under /proc and /sys: "" except in tests. */
struct sl_memory_limit sl_memory_available(const char *root);

/* Formats a size for a message: "1.3 GB", "280 MB". */
void sl_memory_text(uint64_t bytes, char *text, size_t size);

#endif
