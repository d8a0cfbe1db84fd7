/* mdf_ahead.c: see mdf_ahead.h. Workers take records from a shared counter, so long records delay no other worker.
 * Records with a checksum go through the hasher of the worker, which is fast only with many records at a time. */
#include "mdf_ahead.h"

#include <stdlib.h>

/* IN_PROGRESS: records that a worker hashes at a time, a few more than lanes. SHARE: records that justify another
 * worker. */
enum { IN_PROGRESS = MDF_HASH_LANES + 4, SHARE = 8 };

int mdf_ahead_open(struct mdf_ahead *a, uint32_t worker_count, const struct mdf_inspector *inspector) {
  *a = (struct mdf_ahead){.worker_count = worker_count, .inspector = *inspector};
  a->capacity = a->limit = MDF_WINDOW_RECORDS * worker_count;
  a->records = (struct mdf_ahead_record *)calloc(a->capacity, sizeof *a->records);
  a->workers = (struct mdf_ahead_worker *)calloc(worker_count, sizeof *a->workers);
  return a->records && a->workers ? SL_OK : SL_ENOMEM;
}

void mdf_ahead_close(struct mdf_ahead *a) {
  for (uint32_t i = 0; a->workers && i < a->worker_count; i++) mdf_decompressor_free(&a->workers[i].decompressor);
  free(a->records);
  free(a->workers);
  free(a->bodies);
  *a = (struct mdf_ahead){0};
}

/* ------------------------------------------------------------------------------------------------ by workers */

static void find_body(struct mdf_ahead *a, struct mdf_ahead_worker *w, struct mdf_ahead_record *r) {
  struct mdf_stream_event *event = &r->event;
  const uint8_t *body = a->data + event->record.offset + event->record.header_bytes;
  event->record.fault = r->body_fault;
  if (r->body_fault.kind != MDF_FAULT_NONE) return;
  if (event->record.compression == 0) {
    event->body = body;
    event->body_bytes = event->record.bytes - event->record.header_bytes;
    return;
  }
  uint8_t *out = a->bodies + r->bytes_before;
  if (!a->bodies)
    event->record.fault = (struct mdf_fault){MDF_FAULT_MEMORY, 0, 0, r->block.uncompressed_bytes, 0, 0};
  else if (mdf_block_decompress(&w->decompressor, &r->block, body, out, &event->record.fault) == 0)
    event->body = out;
  event->body_bytes = event->body ? r->block.uncompressed_bytes : 0;
}

static void finish_record(struct mdf_ahead *a, struct mdf_ahead_worker *w, struct mdf_ahead_record *r) {
  const struct mdf_record *record = &r->event.record;
  r->is_damaged = record->fault.kind == MDF_FAULT_CHECKSUM ||
                  (r->is_walked && !mdf_contents_verify(a->data + record->offset, record));
  if (r->event.record.fault.kind == MDF_FAULT_NONE) find_body(a, w, r);
  if (r->event.body && a->inspector.inspect) a->inspector.inspect(a->inspector.context, &r->event, r->bytes_before);
}

static void finish_hashed(struct mdf_ahead *a, struct mdf_ahead_worker *w, uint32_t index) {
  struct mdf_ahead_record *r = &a->records[index];
  struct mdf_record *record = &r->event.record;
  uint32_t hash = 0;
  (void)mdf_hasher_take(&w->hasher, index, &hash);
  if (hash != record->checksum) record->fault = (struct mdf_fault){MDF_FAULT_CHECKSUM, 0, 0, record->checksum, hash, 0};
  finish_record(a, w, r);
}

/* Returns the next unclaimed record, or a->count if there is none. */
static uint32_t claim(struct mdf_ahead *a) {
  const uint32_t index = __atomic_fetch_add(&a->claimed, 1, __ATOMIC_RELAXED);
  return index < a->count ? index : a->count;
}

static void take_share(void *work, uint32_t index, uint32_t worker) {
  struct mdf_ahead *a = (struct mdf_ahead *)work;
  struct mdf_ahead_worker *w = &a->workers[worker];
  uint32_t hashed[IN_PROGRESS], first = 0, count = 0, next = 0;
  (void)index;
  mdf_hasher_reset(&w->hasher);
  for (;;) {
    while (count < IN_PROGRESS && next < a->count && (next = claim(a)) < a->count) {
      struct mdf_ahead_record *r = &a->records[next];
      const struct mdf_record *record = &r->event.record;
      if (r->is_hashed) {
        hashed[(first + count++) % IN_PROGRESS] = next;
        mdf_hasher_push(&w->hasher, next, a->data + record->offset + MDF_HASHED_FROM, record->bytes - MDF_HASHED_FROM);
      } else {
        finish_record(a, w, r);
      }
    }
    if (count == 0) return;
    finish_hashed(a, w, hashed[first]);
    first = (first + 1) % IN_PROGRESS;
    count--;
  }
}

/* -------------------------------------------------------------------------------------------------- windows */

static int has_compressed(const struct mdf_ahead *a) {
  for (uint32_t i = 0; i < a->count; i++)
    if (a->records[i].block.uncompressed_bytes != 0) return 1;
  return 0;
}

int mdf_ahead_work(struct mdf_ahead *a, const struct sl_services *s, const uint8_t *data, uint64_t bytes) {
  if (bytes > a->bodies_bytes && has_compressed(a)) {
    free(a->bodies);
    a->bodies = (uint8_t *)malloc(bytes);
    a->bodies_bytes = a->bodies ? bytes : 0;
  }
  if (a->inspector.begin && a->inspector.begin(a->inspector.context, a->count, bytes) < 0) return SL_ENOMEM;
  const uint32_t shares = (a->count + SHARE - 1) / SHARE;
  a->data = data;
  a->claimed = 0;
  s->in_parallel(s->context, shares < a->worker_count ? shares : a->worker_count, take_share, a);
  return SL_OK;
}
