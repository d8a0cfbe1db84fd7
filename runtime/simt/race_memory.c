/* race_memory.c: shadows of memory, and the memory of the current node; see race.h. Shadows are mapped, so that only
 * the used parts cost memory. */
#define _GNU_SOURCE 1 /* for dl_iterate_phdr */
#include "simt/race.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------- shadows */

static void *map(uint64_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void *memory, uint64_t bytes) {
  if (memory) munmap(memory, bytes);
}

static uint64_t cell_bytes(uint64_t bytes) { return (bytes / RACE_WORD + 1) * sizeof(struct race_cell); }

static void close_shadow(struct race_shadow *s) {
  unmap(s->cells, cell_bytes(s->bytes));
  unmap(s->written, s->bytes / 8 + 1);
  free(s);
}

static struct race_shadow *open_shadow(struct race_device *d, char *memory, uint64_t bytes, int is_static) {
  struct race_shadow *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  *s = (struct race_shadow){memory, bytes, map(cell_bytes(bytes)), map(bytes / 8 + 1), is_static, NULL};
  if (!s->cells || !s->written) {
    close_shadow(s);
    return NULL;
  }
  pthread_mutex_lock(&d->lock);
  s->next = d->shadows;
  d->shadows = s;
  pthread_mutex_unlock(&d->lock);
  return s;
}

struct race_shadow *race_shadow_open(struct race_device *d, char *memory, uint64_t bytes) {
  return open_shadow(d, memory, bytes, 1);
}

void *race_allocate(struct race_device *d, uint64_t bytes) {
  char *memory = map(bytes + 1);
  if (memory && open_shadow(d, memory, bytes, 0)) return memory;
  unmap(memory, bytes + 1);
  return NULL;
}

void race_release(struct race_device *d, void *memory, uint64_t bytes) {
  pthread_mutex_lock(&d->lock);
  struct race_shadow **at = &d->shadows, *s = NULL;
  while (*at && (*at)->memory != memory) at = &(*at)->next;
  if (*at) {
    s = *at;
    *at = s->next;
  }
  pthread_mutex_unlock(&d->lock);
  if (s && !s->is_static) unmap(memory, bytes + 1);
  if (s) close_shadow(s);
}

struct race_shadow *race_shadow_of(struct race_device *d, const void *memory) {
  pthread_mutex_lock(&d->lock);
  struct race_shadow *s = d->shadows;
  while (s && (uintptr_t)((const char *)memory - s->memory) >= s->bytes) s = s->next;
  pthread_mutex_unlock(&d->lock);
  return s;
}

struct race_shadow *race_shadow_in_block(const struct race *r, const void *memory, uint64_t bytes) {
  if (r->shared && (uintptr_t)((const char *)memory - r->shared->memory) < r->shared->bytes) return r->shared;
  if (!r->dynamic) return NULL;
  const uintptr_t first = (uintptr_t)((const char *)memory - r->dynamic->memory);
  return first < r->dynamic->bytes && bytes <= r->dynamic->bytes - first ? r->dynamic : NULL;
}

struct race_shadow *race_shadow_at(struct race *r, const void *memory) {
  struct race_shadow *of_block = race_shadow_in_block(r, memory, 1);
  if (of_block) return of_block;
  const struct race_range *range = race_range_at(r, (uintptr_t)memory);
  return range && (uintptr_t)memory < range->end ? range->shadow : NULL;
}

void race_mark(struct race_shadow *s, uint64_t first, uint64_t bytes, int is_written) {
  uint64_t i = first, end = first + bytes;
  for (; i < end && i % 8; i++)
    s->written[i / 8] = (unsigned char)((s->written[i / 8] & ~(1u << i % 8)) | (is_written ? 1u << i % 8 : 0));
  memset(s->written + i / 8, is_written ? 0xFF : 0, (i < end ? end - i : 0) / 8);
  for (i = i < end ? end - (end - i) % 8 : end; i < end; i++)
    s->written[i / 8] = (unsigned char)((s->written[i / 8] & ~(1u << i % 8)) | (is_written ? 1u << i % 8 : 0));
}

void race_mark_unused(struct race_shadow *s) {
  memset(s->written, 0, s->bytes / 8 + 1);
  memset((void *)s->cells, 0, cell_bytes(s->bytes));
}

/* --------------------------------------------------------------------------------------------------- plugins */

static void add_segment(struct race_image *image, uintptr_t begin, uint64_t bytes) {
  if (image->count == RACE_SEGMENTS) return;
  image->begin[image->count] = begin;
  image->end[image->count++] = begin + bytes;
}

static int find_image(struct dl_phdr_info *info, size_t size, void *context) {
  struct race_image *image = context;
  const uintptr_t of = (uintptr_t)image->of;
  int is_this = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    is_this |= p->p_type == PT_LOAD && of - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
  }
  for (int i = 0; is_this && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    const int is_constant = (p->p_type == PT_LOAD && !(p->p_flags & PF_W)) || p->p_type == PT_GNU_RELRO;
    if (is_constant) add_segment(image, info->dlpi_addr + p->p_vaddr, p->p_memsz);
  }
  return is_this;
}

struct race_shadow *race_shadow_shared(struct race *r, char *begin, char *end) {
  if (r->image.of != begin) {
    r->image = (struct race_image){.of = begin};
    dl_iterate_phdr(find_image, &r->image);
  }
  if (r->shared && r->shared->memory == begin) return r->shared;
  struct race_shadow *s = race_shadow_of(r->device, begin);
  return s ? s : open_shadow(r->device, begin, (uint64_t)(end - begin), 1);
}

int race_is_constant(const struct race *r, const void *memory, uint32_t kind) {
  if (kind & SL_RACE_WRITE) return 0;
  for (uint32_t i = 0; i < r->image.count; i++)
    if ((uintptr_t)memory >= r->image.begin[i] && (uintptr_t)memory < r->image.end[i]) return 1;
  return 0;
}

/* ------------------------------------------------------------------------------------------------- the node */

static int by_address(const void *a, const void *b) {
  const struct race_range *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return x->end < y->end ? -1 : x->end > y->end;
}

int race_begin(struct race *r, const struct sl_race_node *node) {
  r->node = node;
  r->node_number++;
  r->range_count = 0;
  if (!node) return SL_OK;
  if (node->memory_count > r->range_capacity) {
    struct race_range *larger = realloc(r->ranges, node->memory_count * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    r->ranges = larger;
    r->range_capacity = node->memory_count;
  }
  for (uint32_t i = 0; i < node->memory_count; i++) {
    const struct sl_race_memory *m = &node->memory[i];
    const uintptr_t begin = (uintptr_t)m->memory;
    r->ranges[r->range_count++] =
        (struct race_range){begin, begin + m->bytes, m->rights, m->tag, race_shadow_of(r->device, m->memory)};
  }
  qsort(r->ranges, r->range_count, sizeof *r->ranges, by_address);
  return SL_OK;
}

const struct race_range *race_range_at(const struct race *r, uintptr_t address) {
  uint32_t first = 0, end = r->range_count;
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (r->ranges[middle].begin <= address)
      first = middle + 1;
    else
      end = middle;
  }
  return first > 0 ? &r->ranges[first - 1] : NULL;
}
