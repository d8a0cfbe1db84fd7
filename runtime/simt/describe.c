/* describe.c: explains why a block is stuck, for example
 *
 *   kernel count, block 2 of 3: the threads do not meet: threads 0-15 wait at __syncthreads() at count.cu:12;
 *   threads 16-31 returned (simt.seed=1, simt.warp=32)
 */
#include "simt/machine.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_GROUPS = 6, MAX_RANGES = 6 };

struct text {
  char *bytes;
  size_t length, size;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text->bytes + text->length, text->size - text->length, format, arguments);
  va_end(arguments);
  if (length > 0) text->length += (size_t)length;
  if (text->length >= text->size) text->length = text->size - 1;
}

static int same_place(const struct simt_thread *a, const struct simt_thread *b) {
  if (a->state != b->state) return 0;
  return a->state == SIMT_RETURNED || (a->site == b->site && a->collective == b->collective);
}

/* Writes "threads 0-3, 7": the threads at the same site as `like`. */
static void add_threads(struct text *text, const struct simt_machine *m, const struct simt_thread *like) {
  uint32_t ranges = 0, count = 0;
  for (uint32_t i = 0; i < m->threads; i++) count += same_place(&m->thread[i], like) ? 1u : 0u;
  add(text, count > 1 ? "threads " : "thread ");
  for (uint32_t i = 0; i < m->threads;) {
    if (!same_place(&m->thread[i], like)) {
      i++;
      continue;
    }
    const uint32_t first = i;
    while (i < m->threads && same_place(&m->thread[i], like)) i++;
    if (++ranges > MAX_RANGES) continue;
    add(text, ranges > 1 ? ", %u" : "%u", first);
    if (i - first > 1) add(text, "-%u", i - 1);
  }
  if (ranges > MAX_RANGES) add(text, " and more");
}

static void add_group(struct text *text, const struct simt_machine *m, const struct simt_thread *t) {
  add_threads(text, m, t);
  if (t->state == SIMT_RETURNED) {
    add(text, " returned");
    return;
  }
  const struct sl_simt_site *site = t->collective ? t->collective : t->site;
  add(text, " wait at %s at %s:%u", site->what, site->file, site->line);
}

void simt_describe(struct simt_machine *m) {
  struct text text = {m->message, 0, sizeof m->message};
  uint32_t groups = 0;
  add(&text, "kernel %s, block %u of %u: the threads do not meet: ", m->launch->kernel, m->block.block_index.x,
      m->block.grid_dim.x);
  for (uint32_t i = 0; i < m->threads; i++) {
    uint32_t before = 0;
    while (before < i && !same_place(&m->thread[before], &m->thread[i])) before++;
    if (before < i) continue;
    if (++groups > MAX_GROUPS) continue;
    if (groups > 1) add(&text, "; ");
    add_group(&text, m, &m->thread[i]);
  }
  if (groups > MAX_GROUPS) add(&text, "; and %u more groups", groups - MAX_GROUPS);
  add(&text, " (simt.seed=%llu, simt.warp=%u)", (unsigned long long)m->settings.seed, m->settings.warp_size);
}
