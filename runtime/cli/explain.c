/* explain.c: `sluice explain GRAPH --event RUN:NUMBER`: why events were accepted or not.
 *
 * Without --line: one row for each node that declares requirements, with its decision and, if it rejects the event, the
 * first requirement that its best candidate does not meet. With --line: all requirements of the best candidate, with
 * values and limits, and one row for each of the others; with --all the requirements of all candidates.
 */
#include "base/event_id.h"
#include "cli/cli.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_SHOWN = 20, ACCEPTED_PER_LINE = 20, TEXT_BYTES = 512, NAME_WIDTH = 30 };

struct explaining {
  const struct cli_arguments *arguments;
  struct sl_session *session;
  struct sl_event_id *events;
  uint8_t *found; /* per requested event */
  uint64_t event_count, found_count, shown;
};

/* ------------------------------------------------------------------------------------------------------- texts */

static const char *unit_of(const struct sl_explained_row *r) { return r->unit ? r->unit : ""; }

struct number {
  char text[32];
};
/* Whole numbers with all digits, others with six. */
static struct number number(double value) {
  struct number n;
  const int is_whole = value > -1e15 && value < 1e15 && value == (double)(int64_t)value;
  snprintf(n.text, sizeof n.text, is_whole ? "%.0f" : "%.6g", value);
  return n;
}

/* "smaller pt 312.4 MeV, not >= 800 MeV (min_child_pt)" */
static void write_unmet(const struct sl_explained_row *row, char *text, size_t size) {
  const struct sl_requirement *r = &row->requirement;
  if (!*r->comparison) {
    snprintf(text, size, "not met: %s", r->name);
    return;
  }
  const char *unit = unit_of(row), *blank = *unit ? " " : "";
  snprintf(text, size, "%s %s%s%s, not %s %s%s%s%s%s%s", r->name, number(r->value).text, blank, unit, r->comparison,
           number(r->limit).text, blank, unit, r->limit_name ? " (" : "", r->limit_name ? r->limit_name : "",
           r->limit_name ? ")" : "");
}

/* The first requirement that is not met; NULL: there is none. */
static const struct sl_explained_row *first_unmet(const struct sl_explained_row *rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (sl_requirement_rejects(i > 0 ? &rows[i - 1].requirement : NULL, &rows[i].requirement)) return &rows[i];
  return NULL;
}

static void write_reason(const struct sl_explained_row *rows, uint32_t count, uint32_t unmet, char *text, size_t size) {
  const struct sl_explained_row *row = first_unmet(rows, count);
  if (!row) {
    snprintf(text, size, "rejected; the algorithm declares no requirement");
    return;
  }
  write_unmet(row, text, size);
  if (unmet > 1) snprintf(text + strlen(text), size - strlen(text), "; %u more", unmet - 1);
}

static const struct sl_explained_candidate *best_of(const struct sl_explained_node *n) {
  return n->candidate_count ? &n->at[n->best] : NULL;
}

static const char *candidate_name(const struct sl_explained_node *n) { return n->candidates ? n->candidates : "item"; }

/* Why the node rejects the event, or with which candidate it accepts it. */
static void write_node_reason(const struct sl_explained_node *n, char *text, size_t size) {
  const struct sl_explained_candidate *best = best_of(n);
  const struct sl_explained_row *own = first_unmet(n->rows, n->row_count);
  *text = 0;
  if (!n->has_run) {
    snprintf(text, size, "not evaluated: the event is not on");
    for (const char *const *list = n->missing; *list; list++)
      snprintf(text + strlen(text), size - strlen(text), "%s %s", list == n->missing ? "" : ",", *list);
    if (!n->missing[0]) snprintf(text, size, "not evaluated");
  } else if (n->candidates && n->total == 0) {
    snprintf(text, size, "no candidates");
  } else if (n->candidates && n->accepted == 0) {
    snprintf(text, size, "%s %u: ", n->candidates, best->index);
    write_reason(best->rows, best->row_count, best->unmet, text + strlen(text), size - strlen(text));
  } else if (own) {
    write_reason(n->rows, n->row_count, n->unmet, text, size);
  } else if (!n->is_accepted) {
    snprintf(text, size, "rejected; the algorithm declares no requirement");
  } else if (best && n->candidates) {
    snprintf(text, size, "%s %u", n->candidates, best->index);
  }
}

/* ------------------------------------------------------------------------------------------------------ tables */

static void print_rows(const struct sl_explained_row *rows, uint32_t count) {
  static const char *const roles[] = {[SL_ROLE_REQUIREMENT] = "",
                                      [SL_ROLE_EITHER] = "either: ",
                                      [SL_ROLE_OR] = "or: ",
                                      [SL_ROLE_PART] = "part: ",
                                      [SL_ROLE_VALUE] = ""};
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_requirement *r = &rows[i].requirement;
    const char *unit = unit_of(&rows[i]);
    char name[TEXT_BYTES], limit[TEXT_BYTES] = "";
    snprintf(name, sizeof name, "%s%s", r->role < sizeof roles / sizeof *roles ? roles[r->role] : "", r->name);
    if (*r->comparison) {
      snprintf(limit, sizeof limit, "%s %s%s%s", r->comparison, number(r->limit).text, *unit ? " " : "", unit);
      if (r->limit_name) snprintf(limit + strlen(limit), sizeof limit - strlen(limit), "  (%s)", r->limit_name);
    }
    if (r->role == SL_ROLE_VALUE)
      printf("    %-44s %12s\n", name, number(r->value).text);
    else if (!*r->comparison)
      printf("    %-44s %12s  %-36s %s\n", name, "", "", r->is_met ? "met" : "NOT MET");
    else
      printf("    %-44s %12s  %-36s %s\n", name, number(r->value).text, limit, r->is_met ? "met" : "NOT MET");
  }
}

static void print_candidate(const struct sl_explained_node *n, const struct sl_explained_candidate *c) {
  printf("  %s %u: %s\n", candidate_name(n), c->index, c->is_accepted ? "accepted" : "rejected");
  print_rows(c->rows, c->row_count);
}

static void print_accepted(const struct sl_explained_node *n, const struct sl_explained_candidate *best) {
  uint32_t shown = 0;
  for (uint32_t i = 0; i < n->candidate_count; i++) {
    if (!n->at[i].is_accepted || &n->at[i] == best) continue;
    printf("%s%u", shown == 0 ? "  also accepted: " : shown % ACCEPTED_PER_LINE ? ", " : ",\n    ", n->at[i].index);
    shown++;
  }
  if (shown > 0) printf("\n");
}

/* The other candidates: indices of the accepted ones, and one row for each rejected one, the nearest to be accepted
 * first. */
static void print_others(const struct sl_explained_node *n, const struct sl_explained_candidate *best) {
  char text[TEXT_BYTES];
  uint32_t shown = 0;
  const uint32_t rejected = n->total - n->accepted - !best->is_accepted;
  print_accepted(n, best);
  for (uint64_t unmet = best->unmet; unmet <= UINT32_MAX && shown < rejected && shown < CANDIDATES_SHOWN;) {
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < n->candidate_count && shown < CANDIDATES_SHOWN; i++) {
      const struct sl_explained_candidate *c = &n->at[i];
      if (c->unmet > unmet && c->unmet < next) next = c->unmet;
      if (c == best || c->is_accepted || c->unmet != unmet) continue;
      write_reason(c->rows, c->row_count, c->unmet, text, sizeof text);
      printf("  %s %u: %s\n", candidate_name(n), c->index, text);
      shown++;
    }
    unmet = next;
  }
  if (rejected > shown) printf("  %u more; --all prints the requirements of all\n", rejected - shown);
}

static void print_node(const struct explaining *x, const struct sl_explained_node *n) {
  char text[TEXT_BYTES];
  const struct sl_explained_candidate *best = best_of(n);
  if (!n->has_run) {
    write_node_reason(n, text, sizeof text);
    printf("\n%s (%s): %s\n", n->name, n->algorithm, text);
    return;
  }
  printf("\n%s (%s): %s", n->name, n->algorithm, n->is_accepted ? "accepts the event" : "rejects the event");
  if (n->candidates || n->total > 0)
    printf("; accepts %u of %u %s", n->accepted, n->total, n->candidates ? n->candidates : "items");
  printf("\n");
  for (uint32_t i = 0; i < n->candidate_count && x->arguments->all; i++) print_candidate(n, &n->at[i]);
  if (best && !x->arguments->all) print_candidate(n, best);
  if (best && !x->arguments->all) print_others(n, best);
  if (n->row_count > 0) printf("  event\n");
  print_rows(n->rows, n->row_count);
}

static void print_table(const struct sl_explained_event *e) {
  int width = NAME_WIDTH;
  for (uint32_t i = 0; i < e->node_count; i++)
    if ((int)strlen(e->nodes[i].name) > width) width = (int)strlen(e->nodes[i].name);
  printf("%-*s  %-7s  %-13s  %s\n", width, "node", "accepts", "candidates", "reason");
  for (uint32_t i = 0; i < e->node_count; i++) {
    const struct sl_explained_node *n = &e->nodes[i];
    char text[TEXT_BYTES], counts[32] = "-";
    if (e->error && !n->has_run) continue;
    write_node_reason(n, text, sizeof text);
    if (n->has_run && (n->candidates || n->total > 0))
      snprintf(counts, sizeof counts, "%u of %u", n->accepted, n->total);
    printf("%-*s  %-7s  %-13s  %s\n", width, n->name, !n->has_run ? "-" : n->is_accepted ? "yes" : "no", counts, text);
  }
}

/* ------------------------------------------------------------------------------------------------------ events */

static void note_found(struct explaining *x, const struct sl_event *event) {
  for (uint64_t i = 0; i < x->event_count; i++) {
    if (x->found[i] || !sl_event_id_is(&x->events[i], event)) continue;
    x->found[i] = 1;
    x->found_count++;
  }
}

static int on_event(void *context, const struct sl_explained_event *e) {
  struct explaining *x = context;
  uint32_t accepting = 0;
  for (uint32_t i = 0; i < e->node_count; i++) accepting += e->nodes[i].is_accepted;
  printf("%srun %u event %" PRIu64, x->shown++ ? "\n" : "", e->event->run, e->event->number);
  if (e->error)
    printf(": error in %s: %s\n", e->error_node ? e->error_node : "an unknown node", e->error);
  else
    printf(": accepted by %u of %u %s\n", accepting, e->node_count, sl_plural(e->node_count, "node", "nodes"));
  for (uint32_t l = 0; l < e->list_count && !e->error; l++)
    if (!e->lists[l].has_event) printf("not on the event list %s\n", e->lists[l].name);
  int has_rows = !e->error;
  for (uint32_t i = 0; i < e->node_count; i++) has_rows |= e->nodes[i].has_run != 0;
  if (x->arguments->lines.count == 0 && has_rows) print_table(e);
  for (uint32_t i = 0; i < e->node_count && x->arguments->lines.count > 0; i++)
    if (!e->error || e->nodes[i].has_run) print_node(x, &e->nodes[i]);
  note_found(x, e->event);
  return x->event_count > 0 && x->found_count == x->event_count ? SL_EINTERRUPTED : SL_OK;
}

static int read_event(const char *text, struct sl_event_id *id) {
  const char *rest = text;
  if (sl_take_event_id(&rest, id) && *rest == '\0') return CLI_OK;
  fprintf(stderr, "error: --event %s: write RUN:NUMBER, such as 1:6001, or NUMBER\n", text);
  return CLI_WRONG;
}

static int run(struct explaining *x, const struct sl_options *options, struct sl_diagnostics *d) {
  int status = sl_session_open(options, d, &x->session) == SL_OK ? CLI_OK : CLI_WRONG;
  if (status == CLI_OK) {
    cli_stop_on_signal(x->session);
    const int ran = sl_session_run(x->session);
    cli_stop_on_signal(NULL);
    const int is_complete = x->event_count > 0 && x->found_count == x->event_count;
    /* A run of events that all have an error fails; they were explained. */
    status = ran == SL_OK || is_complete || (ran == SL_EFORMAT && x->shown > 0) ? CLI_OK : CLI_FAILED;
  }
  cli_print_messages(d, 0);
  for (uint64_t i = 0; status == CLI_OK && i < x->event_count; i++) {
    if (x->found[i]) continue;
    fprintf(stderr, "error: --event %s: the input has no such event\n", x->arguments->events.items[i]);
    status = CLI_FAILED;
  }
  sl_session_close(x->session);
  return status;
}

int cli_explain(const struct cli_arguments *a) {
  struct explaining x = {.arguments = a, .event_count = a->events.count};
  struct sl_options options = a->options;
  struct sl_diagnostics *d = sl_diagnostics_new();
  x.events = calloc(a->events.count + 1, sizeof *x.events);
  x.found = calloc(a->events.count + 1, sizeof *x.found);
  int status = CLI_OK;
  if (!d || !x.events || !x.found) {
    (void)cli_no_memory();
    status = CLI_FAILED;
  }
  for (size_t i = 0; status == CLI_OK && i < a->events.count; i++)
    status = read_event(a->events.items[i], &x.events[i]);
  const struct sl_explain explain = {.size = sizeof explain,
                                     .all_candidates = a->all || a->lines.count > 0,
                                     .events = x.events,
                                     .event_count = x.event_count,
                                     .nodes = a->lines.count > 0 ? a->lines.items : NULL,
                                     .on_event = on_event,
                                     .context = &x};
  options.graph_path = a->operand;
  options.explain = &explain;
  options.output_is_optional = 1;
  cli_catch_signals();
  if (status == CLI_OK) status = run(&x, &options, d);
  cli_leave_signals();
  sl_diagnostics_free(d);
  free(x.events);
  free(x.found);
  return status;
}
