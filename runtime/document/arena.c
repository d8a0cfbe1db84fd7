/* arena.c: a list of chunks, each filled from its front. An allocation larger than a chunk gets a chunk of its own. */
#include "document/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 32 * 1024, ALIGNMENT = 16 };

struct sl_arena_chunk {
  struct sl_arena_chunk *next;
  uint64_t padding; /* keeps the memory after the header aligned */
};
_Static_assert(sizeof(struct sl_arena_chunk) % ALIGNMENT == 0, "what follows a chunk's header is aligned");

struct sl_arena *sl_arena_new(size_t limit_bytes) {
  struct sl_arena *arena = calloc(1, sizeof *arena);
  if (arena != NULL) arena->limit_bytes = limit_bytes;
  return arena;
}

void sl_arena_free(struct sl_arena *arena) {
  if (arena == NULL) return;
  for (struct sl_arena_chunk *chunk = arena->chunks; chunk != NULL;) {
    struct sl_arena_chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
  free(arena);
}

static char *add_chunk(struct sl_arena *arena, size_t bytes) {
  if (bytes > arena->limit_bytes - arena->total_bytes) longjmp(arena->failed, SL_ARENA_OVER_LIMIT);
  struct sl_arena_chunk *chunk = calloc(1, sizeof *chunk + bytes);
  if (chunk == NULL) longjmp(arena->failed, SL_ARENA_OUT_OF_MEMORY);
  arena->total_bytes += bytes;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  return (char *)(chunk + 1);
}

void *sl_arena_get(struct sl_arena *arena, size_t count, size_t element_bytes) {
  if (element_bytes != 0 && count > arena->limit_bytes / element_bytes) longjmp(arena->failed, SL_ARENA_OVER_LIMIT);
  const size_t bytes = (count * element_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (bytes > CHUNK_BYTES / 4) return add_chunk(arena, bytes);
  if (bytes > arena->left_bytes) {
    arena->next = add_chunk(arena, CHUNK_BYTES);
    arena->left_bytes = CHUNK_BYTES;
  }
  char *piece = arena->next;
  arena->next += bytes;
  arena->left_bytes -= bytes;
  return piece;
}

char *sl_arena_text(struct sl_arena *arena, const char *text, size_t bytes) {
  char *copy = sl_arena_get(arena, bytes + 1, 1);
  if (bytes > 0) memcpy(copy, text, bytes);
  return copy;
}

char *sl_arena_vformat(struct sl_arena *arena, const char *format, va_list arguments) {
  va_list measured;
  va_copy(measured, arguments);
  const int length = vsnprintf(NULL, 0, format, measured);
  va_end(measured);
  if (length < 0) longjmp(arena->failed, SL_ARENA_OUT_OF_MEMORY);
  char *text = sl_arena_get(arena, (size_t)length + 1, 1);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  return text;
}

char *sl_arena_format(struct sl_arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = sl_arena_vformat(arena, format, arguments);
  va_end(arguments);
  return text;
}
