/* arena.h: memory for one graph, given back all at once.
 *
 * sl_arena_get never returns NULL: when memory is out, or the graph needs more than the limit (a hostile file), it
 * jumps to `failed`, which sl_graph_read sets before the first call. So the reader's stages need no check after each
 * piece of memory, and none can leak. Whatever lies outside of the arena meanwhile must be reachable from the reader.
 */
#ifndef SL_ARENA_H
#define SL_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum { SL_ARENA_OUT_OF_MEMORY = 1, SL_ARENA_OVER_LIMIT = 2 }; /* what the jump brings */

struct sl_arena_chunk;
struct sl_arena {
  struct sl_arena_chunk *chunks;
  char *next; /* the unused end of the chunk in use */
  size_t left_bytes;
  size_t total_bytes, limit_bytes;
  jmp_buf failed;
};

struct sl_arena *sl_arena_new(size_t limit_bytes); /* NULL when memory is out */
void sl_arena_free(struct sl_arena *arena);        /* NULL is fine */

/* Zeroed, aligned to 16 bytes. */
void *sl_arena_get(struct sl_arena *arena, size_t count, size_t element_bytes);
/* A copy of `bytes` bytes, ended with a 0. */
char *sl_arena_text(struct sl_arena *arena, const char *text, size_t bytes);
char *sl_arena_vformat(struct sl_arena *arena, const char *format, va_list arguments);
char *sl_arena_format(struct sl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
