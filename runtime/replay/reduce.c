/* reduce.c: the smallest case that still fails: first the fewest events, then for each input the fewest items, then the
 * fewest subitems. Per axis, chunks of half of the remaining entries are left out, then of a quarter, and so on down to
 * single entries, which are tried until none can be left out. A candidate counts if its result is of the same kind as
 * that of the whole case: it differs, or it fails with the same text except for numbers.
 *
 * Items are removed only if there is a reference that can be run, or if the failure is no difference: the outputs in
 * the case are those of all items.
 */
#include "replay/replay.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reduction {
  struct replay_job *job;
  int kind;
  char text[sizeof((struct sl_child *)0)->text]; /* of the failure, without digits */
  int64_t runs;
};

static void copy_without_digits(const char *from, char *to) {
  for (; *from; from++)
    if (!isdigit((unsigned char)*from)) *to++ = *from;
  *to = '\0';
}

/* 1 if the reference has the same outputs on both targets. They differ if items refer to items that were removed. */
static int is_consistent(const struct reduction *r) {
  struct sl_replay_options options = sl_replay_options_default();
  struct replay_job job = *r->job;
  if (!job.twin || !replay_cut_has_fewer_items(job.cut)) return 1;
  options.seconds = job.options->seconds;
  job.options = &options;
  job.tested = job.twin;
  return replay_job_run(&job) == REPLAY_EQUAL;
}

/* Runs the case with the entries that the cut has now. */
static int still_fails(struct reduction *r) {
  char text[sizeof r->text];
  r->runs++;
  if (replay_job_run(r->job) != r->kind) return 0;
  if (r->kind != REPLAY_FAILS || r->job->reference) return is_consistent(r);
  copy_without_digits(r->job->result->log.text, text);
  return strcmp(text, r->text) == 0;
}

static uint32_t remaining(const struct replay_axis *axis) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < axis->count; i++) count += axis->keep[i];
  return count;
}

/* Tries to remove the next `length` remaining entries from *at on. Returns 1 if they are removed; *at is then, and
 * otherwise too, the entry after them. */
static int try_chunk(struct reduction *r, struct replay_axis *axis, uint32_t *at, uint32_t length, uint32_t *chunk) {
  uint32_t count = 0;
  for (; *at < axis->count && count < length; (*at)++)
    if (axis->keep[*at]) {
      axis->keep[*at] = 0;
      chunk[count++] = *at;
    }
  if (count == 0 || still_fails(r)) return count > 0;
  for (uint32_t i = 0; i < count; i++) axis->keep[chunk[i]] = 1;
  return 0;
}

static int reduce_axis(struct reduction *r, struct replay_axis *axis) {
  uint32_t *chunk = calloc(axis->count + 1u, sizeof *chunk), length = (remaining(axis) + 1) / 2;
  if (!chunk) return SL_ENOMEM;
  int has_removed = 1;
  while (remaining(axis) > 0 && (length > 1 || has_removed)) {
    has_removed = 0;
    for (uint32_t at = 0; at < axis->count;) has_removed |= try_chunk(r, axis, &at, length, chunk);
    const uint32_t left = remaining(axis);
    length = length > 1 ? (length + 1) / 2 : 1;
    if (length > left && left > 0) length = left;
  }
  free(chunk);
  return SL_OK;
}

int64_t replay_reduce(struct replay_job *job, int kind, struct replay_cut *cut, FILE *file) {
  struct reduction r = {.job = job, .kind = kind};
  const int may_remove_items = job->reference || kind == REPLAY_FAILS;
  copy_without_digits(job->result->log.text, r.text);
  job->cut = cut;
  for (uint32_t a = 0; a < cut->axis_count; a++) {
    struct replay_axis *axis = &cut->axes[a];
    const uint32_t before = remaining(axis);
    char name[256];
    if (a > 0 && !may_remove_items) continue;
    const int status = reduce_axis(&r, axis);
    if (status < 0) return status;
    replay_axis_name(job->c, axis, name, sizeof name);
    fprintf(file, "  %-32s %u of %u\n", name, remaining(axis), before);
    fflush(file);
  }
  return r.runs;
}
