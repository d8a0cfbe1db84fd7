/* plan_table.c: the memory plan of a session, as a table and as a drawing: for each field its bytes, the first and last
 * step in which it is live, its offset in the arena, and the budget that determines its size. */
#include "base/locale.h"
#include "layout/bind.h"
#include "plugin/tables.h"
#include "report/plan_picture.h"
#include "session/inspect.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 160, DEPTH_MAX = 64 };

/* ------------------------------------------------------------------------------------- origin of a size */

/* The term that determines a capacity: the term equal to its value; in a sum or product the largest term. */
static const struct sl_term *deciding_term(const struct sl_layout *l, uint32_t node, const struct sl_capacity *c) {
  const struct sl_term *deciding = &c->terms[0];
  uint64_t value = 0;
  for (int i = 0; i < SL_TERMS_MAX && c->terms[i].kind != SL_TERM_NONE; i++) {
    const struct sl_capacity alone = {c->combine, 0, {c->terms[i]}};
    const uint64_t term = sl_layout_capacity(l, node, &alone);
    if (i > 0 && (c->combine == SL_COMBINE_MIN ? term >= value : term <= value)) continue;
    deciding = &c->terms[i];
    value = term;
  }
  return deciding;
}

/* Finds the budget that determines a bound of a member, through any number of nodes. Writes "NODE.PROPERTY", or nothing
 * if there is none. */
static void find_budget(const struct sl_layout *l, uint32_t node, int member, uint32_t bound, char *text, size_t size) {
  *text = '\0';
  for (int depth = 0; depth < DEPTH_MAX && member >= 0; depth++) {
    const struct sl_node *n = &l->graph->nodes[node];
    const struct sl_member *m = &n->algorithm->members[member];
    if (m->kind == SL_MEMBER_IN) {
      if (n->inputs[member].count != 1) return; /* with several producers no budget alone determines it */
      const struct sl_port from = n->inputs[member].ports[0];
      node = (uint32_t)from.node;
      member = from.member;
      continue;
    }
    if (m->shares && bound == 0) {
      member = sl_member_index(n->algorithm, m->shares);
      continue;
    }
    const struct sl_term *t = deciding_term(l, node, sl_bound_capacity(m, bound));
    if (t->kind == SL_TERM_BUDGET) snprintf(text, size, "%s.%s", n->name, t->of);
    if (t->kind != SL_TERM_ITEMS && t->kind != SL_TERM_SUBITEMS) return;
    member = sl_term_member(n->algorithm, t, &bound);
  }
}

/* The budget that determines the bytes of a storage, together with the events of a slice. */
static void budget_of(const struct sl_layout *l, const struct sl_storage *s, char *text, size_t size) {
  *text = '\0';
  if (s->node == UINT32_MAX) return; /* an event list made by the runtime */
  const struct sl_member *m = &l->graph->nodes[s->node].algorithm->members[s->member];
  uint32_t bound = 0;
  if (m->kind == SL_MEMBER_OUT) {
    const uint32_t shape = m->collection->fields[s->field].shape;
    if (shape != SL_SHAPE_CODE_ITEM_OFFSETS) bound = sl_group_of(m->collection, s->field);
    if (bound == 0 && shape != SL_SHAPE_CODE_PER_ITEM && shape != SL_SHAPE_CODE_ITEM_OFFSETS) return;
  }
  find_budget(l, s->node, (int)s->member, bound, text, size);
}

/* --------------------------------------------------------------------------------------------------- table */

static int is_planned(const struct sl_storage *s) { return s->kind != SL_STORAGE_CONSTANT && s->upper > 0; }

static void write_row(const struct sl_layout *l, uint32_t index, FILE *file) {
  const struct sl_storage *s = &l->storage[index];
  char name[NAME_SIZE], budget[NAME_SIZE], offset[24] = "input";
  sl_layout_name(l, index, name, sizeof name);
  budget_of(l, s, budget, sizeof budget);
  if (s->kind == SL_STORAGE_ARENA) snprintf(offset, sizeof offset, "%" PRIu64, s->offset);
  fprintf(file, "%-44s %10" PRIu64 "  %-18s %-18s %10s", name, s->bytes,
          s->kind == SL_STORAGE_INPUT ? "start" : sl_step_name(l, s->lower), sl_step_name(l, s->upper - 1), offset);
  if (*budget) fprintf(file, "  %s", budget);
  fprintf(file, "%s\n", s->in_place_of != SL_NONE ? "  in place" : "");
}

/* The branch of each step; nothing if there is one branch. */
static void write_branches(const struct sl_layout *l, FILE *file) {
  if (l->branch_count == 1) return;
  fprintf(file, "%-44s %10s  %s\n", "step", "branch", "waits for");
  for (uint32_t i = 0; i < l->step_count; i++) {
    const struct sl_step *step = &l->steps[i];
    fprintf(file, "%-44s %10u", sl_step_name(l, i), step->branch);
    for (uint32_t w = 0; w < step->wait_count; w++)
      fprintf(file, "%s%s", w ? " " : "  ", sl_step_name(l, l->waits[step->first_wait + w]));
    fprintf(file, "\n");
  }
}

static void write_cost_of_branches(const struct sl_session *s, FILE *file) {
  const struct sl_layout *l = sl_session_layout(s);
  const uint64_t one = sl_session_arena_of_one_branch(s);
  if (l->branch_count > 1 && one != UINT64_MAX)
    fprintf(file, "%u branches; with one the arena would have %" PRIu64 " bytes\n", l->branch_count, one);
}

/* The size of the arena and its proved lower bound. */
static void write_arena(const struct sl_layout *l, FILE *file) {
  fprintf(file, "arena %" PRIu64 " bytes, lower bound %" PRIu64 ", ratio %.4f", l->arena_bytes, l->live_bytes_max,
          l->live_bytes_max ? (double)l->arena_bytes / (double)l->live_bytes_max : 1.0);
  if (l->arena_bytes == l->least_bytes)
    fprintf(file, ", proved least\n");
  else
    fprintf(file, ", at least %" PRIu64 " proved: the search ended after %" PRIu64 " %s\n", l->least_bytes,
            l->plan_steps, sl_plural(l->plan_steps, "step", "steps"));
}

void sl_session_write_plan(const struct sl_session *s, FILE *file) {
  SL_IN_C_LOCALE();
  const struct sl_layout *l = sl_session_layout(s);
  fprintf(file, "slices of %u %s\n", l->events, sl_plural(l->events, "event", "events"));
  write_branches(l, file);
  fprintf(file, "%-44s %10s  %-18s %-18s %10s  %s\n", "field", "bytes", "first step", "last step", "offset", "budget");
  for (uint32_t i = 0; i < l->storage_count; i++)
    if (is_planned(&l->storage[i])) write_row(l, i, file);
  for (uint32_t i = 0; i < sl_session_summary(s)->budget_count; i++)
    fprintf(file, "capacity of %-32s %11" PRIu64 "\n", sl_session_summary(s)->budgets[i].port,
            sl_session_summary(s)->budgets[i].capacity);
  write_arena(l, file);
  fprintf(file, "input %" PRIu64 " bytes\n", l->input_bytes);
  write_cost_of_branches(s, file);
}

/* ------------------------------------------------------------------------------------------------- drawing */

struct bar_text {
  char name[NAME_SIZE], detail[4 * NAME_SIZE + 64];
};

/* The end of a slice has no branch. */
static void set_step_name(const struct sl_layout *l, uint32_t step, char *text, size_t size) {
  if (l->branch_count > 1 && step < l->step_count)
    snprintf(text, size, "%s (%u)", sl_step_name(l, step), l->steps[step].branch);
  else
    snprintf(text, size, "%s", sl_step_name(l, step));
}

static void set_bar(const struct sl_layout *l, uint32_t index, struct sl_plan_bar *bar, struct bar_text *text) {
  const struct sl_storage *s = &l->storage[index];
  char budget[NAME_SIZE];
  sl_layout_name(l, index, text->name, sizeof text->name);
  budget_of(l, s, budget, sizeof budget);
  const int is_kept = s->reserved_from < s->lower || s->reserved_until > s->upper;
  snprintf(text->detail, sizeof text->detail, "%s to %s%s%s%s%s%s%s%s", sl_step_name(l, s->lower),
           sl_step_name(l, s->upper - 1), *budget ? "\nbudget " : "", budget,
           s->in_place_of != SL_NONE ? "\nin place" : "", is_kept ? "\nkept for branches from " : "",
           is_kept ? sl_step_name(l, s->reserved_from) : "", is_kept ? " to " : "",
           is_kept ? sl_step_name(l, s->reserved_until - 1) : "");
  *bar = (struct sl_plan_bar){.name = text->name,
                              .detail = text->detail,
                              .bytes = s->bytes,
                              .offset = s->offset,
                              .lower = s->lower,
                              .upper = s->upper,
                              .reserved_from = s->reserved_from,
                              .reserved_until = s->reserved_until,
                              .group = s->node,
                              .in_place = s->in_place_of != SL_NONE};
}

int sl_session_write_plan_svg(const struct sl_session *s, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  const struct sl_layout *l = sl_session_layout(s);
  struct sl_plan_bar *bars = calloc(l->storage_count + 1, sizeof *bars);
  struct bar_text *texts = calloc(l->storage_count + 1, sizeof *texts);
  const char **steps = calloc(l->step_count + 1, sizeof *steps);
  char(*names)[NAME_SIZE] = calloc(l->step_count + 1, sizeof *names);
  int status = SL_ENOMEM;
  if (!bars || !texts || !steps || !names) goto done;
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    if (l->storage[i].kind != SL_STORAGE_ARENA || !is_planned(&l->storage[i])) continue;
    set_bar(l, i, &bars[count], &texts[count]);
    count++;
  }
  for (uint32_t i = 0; i <= l->step_count; i++) {
    set_step_name(l, i, names[i], sizeof names[i]);
    steps[i] = names[i];
  }
  char title[512];
  snprintf(title, sizeof title, "%s: the arena of a slot, slices of %u %s", sl_session_options(s)->graph_path,
           l->events, sl_plural(l->events, "event", "events"));
  const struct sl_plan_picture picture = {.title = title,
                                          .bars = bars,
                                          .bar_count = count,
                                          .first_step = 0,
                                          .end_step = l->step_count + 1,
                                          .step_names = steps,
                                          .arena_bytes = l->arena_bytes,
                                          .lower_bound_bytes = l->live_bytes_max};
  sl_plan_picture_write(&picture, file);
  status = SL_OK;
done:
  free(bars);
  free(texts);
  free((void *)steps);
  free(names);
  return status;
}
