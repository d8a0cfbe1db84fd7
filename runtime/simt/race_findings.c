/* race_findings.c: the text of findings; see race.h. For example
 *
 *   kernel count, thread 5 of block 2 writes kept.count[3] at count.cu:41, which thread 4 of the block read at
 *   count.cu:38: no barrier is between them
 */
#include "simt/race.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 320, NULL_BYTES = 4096 };

static int is_same(const struct race *r, const struct race_finding *f, const struct race_event *e, uint32_t other) {
  if (f->kind != e->kind) return 0;
  if (f->kind == RACE_SCANNED) return r->node && strcmp(f->node, r->node->name) == 0;
  return (f->location == e->location && f->other == other) || (f->location == other && f->other == e->location);
}

static const char *verb_now(uint32_t access) {
  if (access & SL_RACE_ATOMIC) return "atomically updates";
  return access & SL_RACE_WRITE ? "writes" : "reads";
}

static const char *verb_before(uint32_t access) {
  if (access & SL_RACE_ATOMIC) return "atomically updated";
  return access & SL_RACE_WRITE ? "wrote" : "read";
}

/* Returns the range that contains the address or, between two ranges, the nearer one. */
static const struct race_range *nearest(const struct race *r, uintptr_t address) {
  const struct race_range *below = race_range_at(r, address);
  const struct race_range *end = r->ranges + r->range_count;
  const struct race_range *above = below ? below + 1 : r->ranges;
  if (above >= end || (below && address < below->end)) return below;
  if (!below) return above;
  return address - below->end < above->begin - address ? below : above;
}

static void name_shared(const struct race *r, const struct race_event *e, char *text, size_t size) {
  char variable[NAME_BYTES / 2];
  uint64_t at, bytes;
  if (!race_variable(r->device->lines, e->memory, variable, sizeof variable, &at, &bytes))
    snprintf(text, size, "shared memory");
  else if (at == 0 && bytes == e->bytes)
    snprintf(text, size, "the shared %s", variable);
  else if (at < bytes)
    snprintf(text, size, "byte %llu of the shared %s", (unsigned long long)at, variable);
  else
    snprintf(text, size, "shared memory, %llu bytes past the end of %s", (unsigned long long)(at - bytes), variable);
}

/* Names an address in the shared memory that the launch requested, or in its guards. Returns 0 if it is elsewhere. */
static int name_dynamic(const struct race *r, const struct race_event *e, char *text, size_t size) {
  if (!r->dynamic) return 0;
  const unsigned long long bytes = r->dynamic->bytes;
  const int64_t at = (int64_t)((intptr_t)e->memory - (intptr_t)r->dynamic->memory);
  if (at < -SIMT_GUARD_BYTES || at >= (int64_t)bytes + SIMT_GUARD_BYTES) return 0;
  if (at < 0)
    snprintf(text, size, "%lld bytes before the launch's %llu bytes of shared memory", -(long long)at, bytes);
  else if ((uint64_t)at + e->bytes <= bytes)
    snprintf(text, size, "byte %lld of the launch's %llu bytes of shared memory", (long long)at, bytes);
  else
    snprintf(text, size, "%lld bytes past the end of the launch's %llu bytes of shared memory",
             at > (int64_t)bytes ? (long long)(at - (int64_t)bytes) : 0, bytes);
  return 1;
}

/* Writes the executor's name of the memory at the address. */
static void name_memory(const struct race *r, const struct race_event *e, char *text, size_t size) {
  if (name_dynamic(r, e, text, size)) return;
  const struct race_shadow *shared = r->shared;
  if (shared && (uintptr_t)((const char *)e->memory - shared->memory) < shared->bytes) {
    name_shared(r, e, text, size);
    return;
  }
  char variable[NAME_BYTES / 2];
  uint64_t at, bytes;
  const struct race_range *range = nearest(r, (uintptr_t)e->memory);
  if ((uintptr_t)e->memory < NULL_BYTES) {
    snprintf(text, size, "through a null pointer");
    return;
  }
  if (race_variable(r->device->lines, e->memory, variable, sizeof variable, &at, &bytes) && at < bytes) {
    snprintf(text, size, "the static variable %s", variable);
    return;
  }
  if (!range || !r->node || !race_shadow_of(r->device, e->memory)) {
    snprintf(text, size, "memory outside of all fields");
    return;
  }
  r->node->describe(r->node->context, range->tag, (int64_t)((uintptr_t)e->memory - range->begin), text, size);
}

static const struct simt_thread *stack_owner(const struct race *r, const char *memory) {
  for (uint32_t i = 0; i < r->machine->threads; i++) {
    const struct sl_fiber *f = &r->machine->thread[i].fiber;
    if ((uintptr_t)(memory - f->stack) < f->stack_bytes) return &r->machine->thread[i];
  }
  return NULL;
}

static void describe_race(const struct race *r, const struct race_event *e, const char *name, struct race_finding *f) {
  char block[32] = "the block";
  const int is_same = race_block_of(e->other) == e->block;
  if (!is_same) snprintf(block, sizeof block, "block %u", race_block_of(e->other));
  snprintf(f->text, sizeof f->text, "kernel %s, thread %u of block %u %s %s at %s, which thread %u of %s %s at %s: %s",
           r->machine->launch->kernel, e->thread, e->block, verb_now(e->access), name, f->lines[0],
           race_thread_of(e->other), block, verb_before(e->other_access), f->lines[1],
           is_same ? "no barrier is between them" : "blocks are not ordered");
}

static void describe_access(const struct race *r, const struct race_event *e, const char *name,
                            struct race_finding *f) {
  char why[NAME_BYTES + 80];
  const struct race_range *range = race_range_at(r, (uintptr_t)e->memory);
  const int is_field = range && (uintptr_t)e->memory + e->bytes <= range->end;
  const struct simt_thread *owner = stack_owner(r, e->memory);
  if (e->kind == RACE_UNWRITTEN)
    snprintf(why, sizeof why, "it was not written before");
  else if (e->kind == RACE_INPUT)
    snprintf(why, sizeof why, "the node may only read it");
  else if ((uintptr_t)e->memory < NULL_BYTES)
    snprintf(why, sizeof why, "the node does not have this field");
  else if (owner)
    snprintf(why, sizeof why, "it is a local variable of thread %u", owner->index);
  else if (is_field)
    snprintf(why, sizeof why, "it is not among the node's arguments");
  else
    snprintf(why, sizeof why, "it is outside of the node's arguments");
  snprintf(f->text, sizeof f->text, "kernel %s, thread %u of block %u %s %s at %s: %s", r->machine->launch->kernel,
           e->thread, e->block, verb_now(e->access), name, f->lines[0], why);
}

/* Returns 1 if the memory is unknown to the emulator and may not exist, so that the block cannot continue. */
static int is_fatal(const struct race *r, const struct race_event *e) {
  if (e->kind != RACE_OUTSIDE && e->kind != RACE_INPUT) return 0;
  const struct race_shadow *s = race_shadow_of(r->device, e->memory);
  return !s || (uint64_t)((const char *)e->memory - s->memory) + e->bytes > s->bytes;
}

/* Returns the index of an earlier finding with the same lines in any order; else `index`. */
static uint32_t find_same_lines(const struct race_device *d, uint32_t index) {
  const struct race_finding *f = &d->findings[index];
  for (uint32_t i = 0; i < index; i++) {
    const struct race_finding *g = &d->findings[i];
    const int is_equal = strcmp(f->lines[0], g->lines[0]) == 0 && strcmp(f->lines[1], g->lines[1]) == 0;
    const int is_swapped = strcmp(f->lines[0], g->lines[1]) == 0 && strcmp(f->lines[1], g->lines[0]) == 0;
    if (f->kind == g->kind && f->kind != RACE_SCANNED && !g->same_as && (is_equal || is_swapped)) return i;
  }
  return index;
}

static void describe_finding(const struct race *r, const struct race_event *e, struct race_finding *f) {
  char name[NAME_BYTES];
  name_memory(r, e, name, sizeof name);
  if (e->kind == RACE_SCANNED)
    snprintf(f->text, sizeof f->text, "the scan reads %s: it was not written before", name);
  else
    (e->kind == RACE_NO_BARRIER ? describe_race : describe_access)(r, e, name, f);
}

/* Adds a finding with its lines, or an entry that counts for an earlier finding. */
static void add_finding(struct race *r, const struct race_event *e, uint32_t other) {
  struct race_device *d = r->device;
  const uint32_t index = d->finding_count++;
  struct race_finding *f = &d->findings[index];
  *f = (struct race_finding){.kind = e->kind, .location = e->location, .other = other};
  snprintf(f->node, sizeof f->node, "%s", r->node ? r->node->name : "");
  if (e->kind != RACE_SCANNED) race_line(d->lines, d->locations[e->location].code, f->lines[0], sizeof f->lines[0]);
  if (other) race_line(d->lines, d->locations[other].code, f->lines[1], sizeof f->lines[1]);
  const uint32_t same = find_same_lines(d, index);
  if (same != index)
    f->same_as = 1 + same;
  else
    describe_finding(r, e, f);
}

static void count_finding(struct race *r, const struct race_event *e) {
  struct race_device *d = r->device;
  const uint32_t other = e->kind == RACE_NO_BARRIER ? race_place_of(e->other) : 0;
  uint32_t i = 0;
  while (i < d->finding_count && !is_same(r, &d->findings[i], e, other)) i++;
  if (i == RACE_FINDINGS) {
    d->omitted++;
    return;
  }
  if (i == d->finding_count) add_finding(r, e, other);
  if (d->findings[i].same_as) i = d->findings[i].same_as - 1;
  d->findings[i].count++;
}

void race_scan_found(struct race *r, const void *count) {
  if (r->node && r->node->is_upstream) return;
  const struct race_event e = {.kind = RACE_SCANNED, .memory = count, .bytes = sizeof(uint32_t)};
  count_finding(r, &e);
}

void race_found(struct race *r, const struct race_event *e) {
  count_finding(r, e);
  if (!is_fatal(r, e)) return;
  char line[RACE_LINE_BYTES];
  race_line(r->device->lines, r->device->locations[e->location].code, line, sizeof line);
  snprintf(r->machine->message, sizeof r->machine->message,
           "kernel %s was stopped at %s: it accesses memory outside of all fields", r->machine->launch->kernel, line);
  simt_drop(r->machine);
}
