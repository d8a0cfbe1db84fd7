/* arena.h: memory for one graph, freed all at once.
 *
 * sl_arena_get never returns NULL: if memory is out, or the graph needs more than the limit (a malicious file), it
 * jumps to `failed`, which sl_graph_read sets before the first call. Therefore the stages of the reader need no checks
 * after allocations and cannot leak. Resources outside of the arena must be reachable from the reader.
 */
#ifndef SL_ARENA_H
#define SL_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum { SL_ARENA_OUT_OF_MEMORY = 1, SL_ARENA_OVER_LIMIT = 2 }; /* values that longjmp passes */

struct sl_arena_chunk;
struct sl_arena {
  struct sl_arena_chunk *chunks;
  char *next; /* unused end of the current chunk */
  size_t left_bytes;
  size_t total_bytes, limit_bytes;
  jmp_buf failed;
};

struct sl_arena *sl_arena_new(size_t limit_bytes); /* NULL if out of memory */
void sl_arena_free(struct sl_arena *arena);        /* NULL: does nothing */

/* Returns zeroed memory, aligned to 16 bytes. */
void *sl_arena_get(struct sl_arena *arena, size_t count, size_t element_bytes);
/* Returns a copy of `bytes` bytes with a terminating zero. */
char *sl_arena_text(struct sl_arena *arena, const char *text, size_t bytes);
char *sl_arena_vformat(struct sl_arena *arena, const char *format, va_list arguments);
char *sl_arena_format(struct sl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
