/* order_check.c: independent check of concurrent steps. It assumes only the order that a capture guarantees: steps of a
 * branch run one after another, a step runs after the steps that it waits for, results are packed after all steps. From
 * this order and the storage that the arguments of each node point to, it decides for any two uses of the same memory
 * whether one is complete before the other begins. Shares no code with the assignment of branches and offsets.
 */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

enum { NO_INDEX = UINT32_MAX };

/* A use of a storage by a step, or by the end of the slice; node NO_INDEX: the runtime. */
struct use {
  uint32_t storage, step, node, is_clear;
};

struct order_check {
  const struct sl_layout *l;
  struct sl_diagnostics *d;
  uint32_t branches;
  uint32_t *position; /* [step_count + 1]: position of the step in its branch, from 1 on */
  uint32_t
      *complete;    /* [step_count + 1][branch]: number of steps of the branch that are complete when the step begins */
  struct use *uses; /* sorted by storage */
  uint32_t use_count, use_capacity;
  uint32_t *first; /* [storage_count + 1]: uses of each storage */
};

/* ------------------------------------------------------------------------------------------------- order */

static uint32_t branch_of(const struct order_check *c, uint32_t step) {
  return step < c->l->step_count ? c->l->steps[step].branch : 0;
}

static uint32_t *complete_of(const struct order_check *c, uint32_t step) {
  return &c->complete[(size_t)step * c->branches];
}

static int is_complete(const struct order_check *c, uint32_t step, uint32_t when) {
  return complete_of(c, when)[branch_of(c, step)] >= c->position[step];
}

/* Records that `other`, and all that precedes it, is complete when `step` begins. */
static void set_after(struct order_check *c, uint32_t step, uint32_t other) {
  uint32_t *complete = complete_of(c, step);
  for (uint32_t b = 0; b < c->branches; b++)
    if (complete_of(c, other)[b] > complete[b]) complete[b] = complete_of(c, other)[b];
  if (c->position[other] > complete[branch_of(c, other)]) complete[branch_of(c, other)] = c->position[other];
}

/* Index step_count stands for the end of the slice. */
static int find_order(struct order_check *c) {
  const struct sl_layout *l = c->l;
  uint32_t last[SL_BRANCHES_MAX];
  memset(last, 0xFF, sizeof last);
  c->position = calloc(l->step_count + 1, sizeof *c->position);
  c->complete = calloc((l->step_count + 1) * (size_t)c->branches, sizeof *c->complete);
  if (!c->position || !c->complete) return SL_ENOMEM;
  for (uint32_t i = 0; i < l->step_count; i++) {
    const struct sl_step *step = &l->steps[i];
    if (last[step->branch] != NO_INDEX) set_after(c, i, last[step->branch]);
    for (uint32_t w = 0; w < step->wait_count; w++)
      if (l->waits[step->first_wait + w] < i) set_after(c, i, l->waits[step->first_wait + w]);
    c->position[i] = last[step->branch] == NO_INDEX ? 1 : c->position[last[step->branch]] + 1;
    last[step->branch] = i;
  }
  for (uint32_t b = 0; b < c->branches; b++)
    if (last[b] != NO_INDEX) set_after(c, l->step_count, last[b]);
  c->position[l->step_count] = complete_of(c, l->step_count)[0] + 1;
  return SL_OK;
}

/* -------------------------------------------------------------------------------------------------- uses */

static int add_use(struct order_check *c, int32_t storage, uint32_t step, uint32_t node, uint32_t is_clear) {
  if (storage == SL_NONE || c->l->storage[storage].kind != SL_STORAGE_ARENA) return SL_OK;
  if (c->use_count == c->use_capacity) {
    const uint32_t capacity = 2 * c->use_capacity;
    struct use *uses = realloc(c->uses, capacity * sizeof *uses);
    if (!uses) return SL_ENOMEM;
    c->uses = uses;
    c->use_capacity = capacity;
  }
  c->uses[c->use_count++] = (struct use){(uint32_t)storage, step, node, is_clear};
  return SL_OK;
}

/* Adds the fields of a port, or of one entry of a list port; scratch has one field. */
static int add_fields(struct order_check *c, const struct sl_slot_member *at, uint32_t fields, uint32_t step,
                      uint32_t node) {
  int status = SL_OK;
  for (uint32_t f = 0; f < fields && status == SL_OK; f++) status = add_use(c, at->storage[f], step, node, 0);
  return status;
}

static int add_list(struct order_check *c, const struct sl_list_set *set, uint32_t step, uint32_t node) {
  const int status = add_use(c, set->count_storage, step, node, 0);
  return status == SL_OK ? add_use(c, set->numbers_storage, step, node, 0) : status;
}

static int add_node(struct order_check *c, uint32_t step, uint32_t n) {
  const struct sl_layout *l = c->l;
  const struct sl_algorithm *a = l->graph->nodes[n].algorithm;
  int status = l->node_set[n] == NO_INDEX ? SL_OK : add_list(c, &l->sets[l->node_set[n]], step, n);
  for (uint32_t m = 0; m < a->member_count && status == SL_OK; m++) {
    const struct sl_slot_member *at = &l->members[n][m];
    if (a->members[m].kind == SL_MEMBER_SCRATCH) {
      status = add_fields(c, at, 1, step, n);
    } else if (a->members[m].collection) {
      for (uint32_t k = 0; k < at->entry_count && status == SL_OK; k++)
        status = add_fields(c, &at->entries[k], a->members[m].collection->field_count, step, n);
    }
  }
  return status;
}

static int add_step(struct order_check *c, uint32_t i) {
  const struct sl_layout *l = c->l;
  const struct sl_step *step = &l->steps[i];
  int status = SL_OK;
  for (uint32_t k = 0; k < step->node_count && status == SL_OK; k++) status = add_node(c, i, step->nodes[k]);
  if (step->kind != SL_STEP_COMBINE) return status;
  const struct sl_list_set *set = &l->sets[step->set];
  status = add_list(c, set, i, NO_INDEX);
  if (status == SL_OK) status = add_use(c, set->tally_storage, i, NO_INDEX, 0);
  for (uint32_t p = 0; p < set->port_count && status == SL_OK; p++)
    status = add_fields(c, &l->members[set->ports[p].node][set->ports[p].member], 2, i, NO_INDEX);
  return status;
}

static int compare_uses(const void *a, const void *b) {
  const struct use *x = a, *y = b;
  if (x->storage != y->storage) return x->storage < y->storage ? -1 : 1;
  return (x->step > y->step) - (x->step < y->step);
}

static int find_uses(struct order_check *c) {
  const struct sl_layout *l = c->l;
  c->use_capacity = 256;
  c->uses = malloc(c->use_capacity * sizeof *c->uses);
  int status = c->uses ? SL_OK : SL_ENOMEM;
  for (uint32_t i = 0; i < l->step_count && status == SL_OK; i++) status = add_step(c, i);
  for (uint32_t s = 0; s < l->storage_count && status == SL_OK; s++) {
    const struct sl_storage *at = &l->storage[s];
    if (at->upper > 0 && at->clear_step != NO_INDEX) status = add_use(c, (int32_t)s, at->clear_step, at->node, 1);
    if (at->last_reader_is_host && status == SL_OK) status = add_use(c, (int32_t)s, l->step_count, NO_INDEX, 0);
  }
  c->first = calloc(l->storage_count + 1, sizeof *c->first);
  if (status < 0 || !c->first) return SL_ENOMEM;
  qsort(c->uses, c->use_count, sizeof *c->uses, compare_uses);
  for (uint32_t u = 0; u < c->use_count; u++) c->first[c->uses[u].storage + 1]++;
  for (uint32_t s = 0; s < l->storage_count; s++) c->first[s + 1] += c->first[s];
  return status;
}

/* ------------------------------------------------------------------------------------------------- checks */

static void name_use(const struct order_check *c, const struct use *u, char *text, size_t size) {
  char storage[200];
  sl_layout_name(c->l, u->storage, storage, sizeof storage);
  snprintf(text, size, "%s, which %s %s (step %u, branch %u)", storage,
           u->is_clear ? "is cleared before" : "is used by", sl_step_name(c->l, u->step), u->step,
           branch_of(c, u->step));
}

static int report(const struct order_check *c, const struct use *a, const struct use *b, const char *what) {
  char first[300], second[300] = "";
  name_use(c, a, first, sizeof first);
  if (b) name_use(c, b, second, sizeof second);
  sl_diagnose(c->d, SL_ERROR, NULL, NULL,
              c->branches > 1 ? "--set runtime.branches=1 runs all steps in sequence" : NULL,
              "the order of steps or the memory plan is wrong: %s%s%s, %s", first, b ? ", and " : "", second, what);
  return SL_EINVAL;
}

/* The use that writes the storage. */
static uint32_t writer_of(const struct order_check *c, uint32_t storage) {
  const struct sl_storage *at = &c->l->storage[storage];
  for (uint32_t u = c->first[storage]; u < c->first[storage + 1]; u++)
    if (!c->uses[u].is_clear && c->uses[u].node == at->node && c->uses[u].step < c->l->step_count &&
        (at->node != NO_INDEX || c->l->steps[c->uses[u].step].set == at->member))
      return u;
  return NO_INDEX;
}

/* Checks that every clearing precedes the writer, and that every other use follows it. */
static int check_storage(const struct order_check *c, uint32_t storage) {
  const uint32_t writer = writer_of(c, storage);
  if (c->first[storage] == c->first[storage + 1]) return SL_OK; /* the storage has no uses */
  if (writer == NO_INDEX) return report(c, &c->uses[c->first[storage]], NULL, "which no step writes");
  const struct use *w = &c->uses[writer];
  for (uint32_t u = c->first[storage]; u < c->first[storage + 1]; u++) {
    const struct use *use = &c->uses[u];
    if (use->is_clear && use->step > 0 && use->step != w->step && !is_complete(c, use->step, w->step))
      return report(c, use, w, "may be written first");
    if (use->is_clear || (use->step == w->step && use->node == w->node)) continue;
    if (!is_complete(c, w->step, use->step)) return report(c, w, use, "may be read before");
  }
  return SL_OK;
}

/* 1 if the use is that of an input with memory that storage `b` reuses, by the node that writes `b` and through no
 * other port: the node reads the values that it overwrites, and declares that it may. */
static int allows_reuse(const struct order_check *c, const struct use *use, uint32_t b) {
  const struct sl_layout *l = c->l;
  const struct sl_storage *reuser = &l->storage[b];
  if (reuser->in_place_of == SL_NONE || use->node == NO_INDEX || use->node != reuser->node) return 0;
  const struct sl_algorithm *a = l->graph->nodes[reuser->node].algorithm;
  const struct sl_member *out = &a->members[reuser->member];
  const int in = out->in_place ? sl_member_index(a, out->in_place) : SL_NONE;
  uint32_t ports = 0, is_partner = 0;
  for (uint32_t u = c->first[use->storage]; u < c->first[use->storage + 1]; u++)
    ports += c->uses[u].node == use->node && c->uses[u].step == use->step;
  for (uint32_t f = 0; in >= 0 && f < a->members[in].collection->field_count; f++)
    is_partner |= l->members[reuser->node][in].storage[f] == (int32_t)use->storage;
  return ports == 1 && is_partner;
}

/* Finds a use of `a` that may not be complete when a use of `b` begins; 0 if there is none. */
static int find_late(const struct order_check *c, uint32_t a, uint32_t b, const struct use **late,
                     const struct use **early) {
  for (uint32_t u = c->first[a]; u < c->first[a + 1]; u++) {
    *late = &c->uses[u];
    if ((*late)->is_clear && (*late)->step == 0) continue; /* complete before any branch begins */
    const int may_overlap = allows_reuse(c, *late, b);
    for (uint32_t v = c->first[b]; v < c->first[b + 1]; v++) {
      *early = &c->uses[v];
      if (may_overlap && !(*early)->is_clear && (*early)->step == (*late)->step && (*early)->node == (*late)->node)
        continue;
      if (!is_complete(c, (*late)->step, (*early)->step)) return 1;
    }
  }
  return 0;
}

static int check_pair(const struct order_check *c, uint32_t a, uint32_t b) {
  const struct use *late, *early, *other_late, *other_early;
  if (!find_late(c, a, b, &late, &early) || !find_late(c, b, a, &other_late, &other_early)) return SL_OK;
  return report(c, late, early, "share memory and may be in use at the same time");
}

/* --------------------------------------------------------------------------------------------------------- */

struct range {
  uint64_t begin, end;
  uint32_t storage;
};

static int compare_ranges(const void *a, const void *b) {
  const struct range *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->storage > y->storage) - (x->storage < y->storage);
}

/* Checks all pairs of storage that share memory, found in order of the addresses. */
static int check_ranges(const struct order_check *c) {
  const struct sl_layout *l = c->l;
  struct range *ranges = malloc((l->storage_count + 1) * sizeof *ranges);
  uint32_t count = 0;
  if (!ranges) return SL_ENOMEM;
  for (uint32_t s = 0; s < l->storage_count; s++)
    if (c->first[s + 1] > c->first[s] && l->storage[s].bytes > 0)
      ranges[count++] = (struct range){l->storage[s].offset, l->storage[s].offset + l->storage[s].bytes, s};
  qsort(ranges, count, sizeof *ranges, compare_ranges);
  int status = SL_OK;
  for (uint32_t i = 0; i < count && status == SL_OK; i++)
    for (uint32_t k = i + 1; k < count && ranges[k].begin < ranges[i].end && status == SL_OK; k++)
      status = check_pair(c, ranges[i].storage, ranges[k].storage);
  free(ranges);
  return status;
}

int sl_layout_check_order(const struct sl_layout *l, struct sl_diagnostics *d) {
  struct order_check c = {.l = l, .d = d, .branches = l->branch_count};
  int status = find_order(&c);
  if (status == SL_OK) status = find_uses(&c);
  for (uint32_t s = 0; s < l->storage_count && status == SL_OK; s++) status = check_storage(&c, s);
  if (status == SL_OK) status = check_ranges(&c);
  free(c.position);
  free(c.complete);
  free(c.uses);
  free(c.first);
  return status;
}
