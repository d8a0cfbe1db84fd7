/* server.c: the server of a page: options, and the texts that it publishes while a run goes on.
 *
 * The run calls `tick` about once a second with the delivery lock held. All texts are made there, so that requests cost
 * the run nothing and every text shows one moment.
 */
#include "base/graphviz.h"
#include "base/json.h"
#include "base/locale.h"
#include "base/text_file.h"
#include "report/histograms_json.h"
#include "results/drawings.h"
#include "serve/change.h"
#include "serve/http.h"
#include "serve/judge.h"
#include "serve/request.h"
#include "serve/status.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct server {
  struct sl_server base; /* first: session/live.h */
  struct sl_diagnostics *diagnostics;
  char url[96], token[SL_TOKEN_MAX + 1];
  struct sl_texts texts;
  struct sl_alarms alarms;
  struct sl_reference reference;
  struct sl_disks disks;
  struct sl_measures measures;
  struct sl_status status;
  struct sl_http http;
  pthread_mutex_t changing;     /* held while a change is checked; protects `changed` */
  struct sl_session *changed;   /* the session that can be changed, or NULL */
  pthread_mutex_t lock;         /* of what follows */
  struct sl_drawings *drawings; /* NULL: no run, or none that draws */
  int is_paused;                /* the run changes its configuration, or there was no memory */
  int is_lacking;               /* memory was out, and that was reported */
};

static struct server *server_of(struct sl_server *base) { return (struct server *)base; }

/* ------------------------------------------------------------------------------------------------ texts */

/* Publishes the text of a JSON writer, which it takes. */
static int publish(struct server *s, uint32_t kind, struct sl_json *j) {
  const char *text = sl_json_text(j);
  char *copy = text ? strdup(text) : NULL;
  if (copy) sl_texts_put(&s->texts, kind, copy, j->length);
  sl_json_free(j);
  return copy ? SL_OK : SL_ENOMEM;
}

static int publish_status(struct server *s) {
  struct sl_json j;
  sl_json_begin(&j);
  j.one_line = 1;
  sl_status_see_messages(&s->status);
  sl_status_write(&s->status, &j);
  return publish(s, SL_TEXT_STATUS, &j);
}

static int publish_reference(struct server *s) {
  struct sl_json j;
  if (!s->reference.run_path && !s->reference.histograms_path) return SL_OK;
  sl_json_begin(&j);
  j.one_line = 1;
  sl_reference_write(&s->reference, &j);
  return publish(s, SL_TEXT_REFERENCE, &j);
}

static int publish_histograms(struct server *s) {
  struct sl_json j;
  sl_json_begin(&j);
  j.one_line = 1;
  const int status = sl_histograms_write_json(s->status.session, &j);
  if (status == SL_OK) return publish(s, SL_TEXT_HISTOGRAMS, &j);
  sl_json_free(&j);
  return status;
}

/* Publishes what `write` writes to a file. */
static int publish_file(struct server *s, uint32_t kind, int (*write)(struct server *s, FILE *file)) {
  struct sl_text_file text;
  int status = sl_text_open(&text) ? write(s, text.file) : SL_ENOMEM;
  if (sl_text_close(&text) < 0) status = SL_ENOMEM;
  if (status == SL_OK)
    sl_texts_put(&s->texts, kind, text.text, text.bytes);
  else
    free(text.text);
  return status;
}

static int write_metrics(struct server *s, FILE *file) {
  sl_metrics_write(s->measures.live.metrics, file);
  return SL_OK;
}

static int write_config(struct server *s, FILE *file) {
  fputs(sl_session_graph(s->status.session)->text, file);
  return SL_OK;
}

static int write_drawing(struct server *s, FILE *file) {
  return sl_session_write_drawing(s->status.session, NULL, s->diagnostics, file);
}

/* Makes the texts of this moment. A lack of memory is reported once; the page then shows its age. */
static void publish_moment(struct server *s) {
  int status = publish_status(s);
  if (status == SL_OK) status = publish_histograms(s);
  if (status == SL_OK) status = publish_file(s, SL_TEXT_METRICS, write_metrics);
  if (status < 0 && !s->is_lacking)
    sl_diagnose(s->diagnostics, SL_WARNING, NULL, NULL, NULL, "--serve: %s", sl_error_text(status));
  s->is_lacking = status < 0;
}

/* ------------------------------------------------------------------------------------------------ the run */

static void write_alarm_metrics(void *context, FILE *file) { sl_alarms_write_metrics(context, file); }

/* Requests of drawings are possible while there are `drawings`. */
static void offer_drawings(struct server *s, struct sl_drawings *drawings) {
  pthread_mutex_lock(&s->lock);
  s->drawings = drawings;
  pthread_mutex_unlock(&s->lock);
}

static void look(struct server *s) {
  sl_disks_look(&s->disks, s->measures.live.files);
  sl_judge(&s->alarms, &s->measures, &s->reference, &s->disks);
}

/* Looks up the counts of all entries in the reference, once, because a tick holds the delivery lock. */
static void look_up_reference(struct server *s) {
  const struct sl_measures *m = &s->measures;
  for (uint32_t i = 0; i < m->total_count; i++) {
    const struct sl_total_summary *t = &m->live.statistics->summary.totals[m->totals[i].total];
    for (uint32_t e = 0; e < t->entries; e++)
      m->expected[m->totals[i].first_entry + e] = sl_reference_count(&s->reference, t->port, t->field, t->names[e]);
  }
}

/* Begins with a configuration of the run. */
static int begin_configuration(struct server *s, const struct sl_live *live) {
  const struct sl_live parts = *live; /* may be that of the measures */
  sl_measures_close(&s->measures);
  int status = sl_measures_open(&s->measures, &parts);
  if (status == SL_OK) look_up_reference(s);
  if (status == SL_OK) status = sl_reference_compare(&s->reference, sl_session_graph(s->status.session)->text);
  if (status == SL_OK) status = publish_file(s, SL_TEXT_CONFIG, write_config);
  if (status == SL_OK) status = publish_file(s, SL_TEXT_DOT, write_drawing);
  sl_texts_remove(&s->texts, SL_TEXT_GRAPH); /* made when it is asked for */
  if (status < 0) return status;
  look(s);
  offer_drawings(s, sl_session_drawings(s->status.session));
  publish_moment(s);
  return SL_OK;
}

static void offer_changes(struct server *s, struct sl_session *session) {
  pthread_mutex_lock(&s->changing);
  s->changed = session;
  pthread_mutex_unlock(&s->changing);
}

static void leave(struct sl_server *base) { offer_changes(server_of(base), NULL); }

static int begin(struct sl_server *base, struct sl_session *session, const struct sl_live *live) {
  struct server *s = server_of(base);
  s->status.session = session;
  s->status.state_of_end = NULL;
  live->metrics->write_more = write_alarm_metrics;
  live->metrics->context = &s->alarms;
  int status = publish_reference(s);
  if (status == SL_OK) status = begin_configuration(s, live);
  if (status < 0)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "--serve: %s", sl_error_text(status));
  else
    status = sl_judge_check(&s->alarms, &s->measures, s->diagnostics);
  if (status < 0) {
    offer_drawings(s, NULL);
    s->status.session = NULL;
  } else {
    offer_changes(s, session);
  }
  return status;
}

static void pause_run(struct sl_server *base) {
  struct server *s = server_of(base);
  offer_drawings(s, NULL);
  s->is_paused = 1;
}

static void resume_run(struct sl_server *base) {
  struct server *s = server_of(base);
  s->is_paused = 0;
  if (begin_configuration(s, &s->measures.live) == SL_OK) return;
  sl_diagnose(s->diagnostics, SL_WARNING, NULL, NULL, NULL, "--serve: %s; the page is not made any more",
              sl_error_text(SL_ENOMEM));
  pause_run(base);
}

static void tick(struct sl_server *base) {
  struct server *s = server_of(base);
  if (s->is_paused) return;
  if (sl_measures_add(&s->measures) < 0) return; /* the next text shows more than a second */
  look(s);
  publish_moment(s);
}

static void end(struct sl_server *base, int status) {
  struct server *s = server_of(base);
  if (!s->status.session || s->is_paused) return; /* the run has failed: the page shows its age */
  offer_drawings(s, NULL);
  s->status.state_of_end = status == SL_OK ? "ok" : status == SL_EINTERRUPTED ? "interrupted" : "failed";
  (void)sl_measures_add(&s->measures);
  sl_judge_end(&s->alarms, s->measures.now_ns);
  publish_moment(s);
  s->status.session = NULL;
}

static const struct sl_server_calls calls = {begin, tick, pause_run, resume_run, leave, end};

/* ------------------------------------------------------------------------------------------------ requests */

/* Lays out the drawing of the graph. Returns its SVG, to be freed, or NULL with the reason. */
static char *lay_out(struct server *s, size_t *bytes, char *reason, size_t reason_size) {
  struct sl_page_text *text = sl_texts_get(&s->texts, SL_TEXT_DOT);
  FILE *dot = tmpfile(), *svg = tmpfile();
  char *drawing = NULL;
  snprintf(reason, reason_size, "the graph cannot be drawn now");
  const int is_written =
      text && dot && svg && fwrite(text->data, 1, text->bytes, dot) == text->bytes && fflush(dot) == 0;
  if (is_written && sl_graphviz_run(fileno(dot), fileno(svg), reason, reason_size) == SL_OK) {
    const off_t size = lseek(fileno(svg), 0, SEEK_END);
    drawing = size > 0 ? malloc((size_t)size) : NULL;
    const ssize_t got = drawing ? pread(fileno(svg), drawing, (size_t)size, 0) : -1;
    if (got != size) {
      free(drawing);
      drawing = NULL;
    }
    *bytes = (size_t)size;
  }
  if (text) sl_text_release(&s->texts, text);
  if (dot) fclose(dot);
  if (svg) fclose(svg);
  return drawing;
}

static int draw(void *context, const char *sink, const char *name, uint64_t after, struct sl_drawing **drawing) {
  struct server *s = context;
  pthread_mutex_lock(&s->lock);
  const int status = s->drawings ? sl_drawings_request(s->drawings, sink, name, after, drawing) : SL_EINTERRUPTED;
  pthread_mutex_unlock(&s->lock);
  return status;
}

static unsigned work(void *context, uint32_t kind, const char *body, size_t bytes, char **answer) {
  struct server *s = context;
  if (kind == SL_ROUTE_CONFIG) {
    pthread_mutex_lock(&s->changing);
    const unsigned result = sl_change_make(s->changed, body, bytes, answer);
    pthread_mutex_unlock(&s->changing);
    return result;
  }
  char reason[160] = "";
  size_t size = 0;
  char *drawing = lay_out(s, &size, reason, sizeof reason);
  if (drawing) {
    sl_texts_put(&s->texts, SL_TEXT_GRAPH, drawing, size);
    return 200;
  }
  *answer = sl_http_error_text(reason);
  return 503;
}

/* ------------------------------------------------------------------------------------------------ opening */

static int read_token(struct server *s, const struct sl_server_options *o, const struct sl_address *a) {
  char reason[256];
  if (o->token_path) {
    const int status = sl_token_read(o->token_path, s->token, reason, sizeof reason);
    if (status < 0)
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "--token-file %s: %s", o->token_path, reason);
    return status;
  }
  if (a->is_loopback) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "give --token-file FILE, or listen on 127.0.0.1",
              "--serve %s: others could read the run: an address that is not of this machine alone needs a token",
              o->address);
  return SL_EINVAL;
}

static int start(struct server *s, const struct sl_server_options *o) {
  struct sl_address address;
  char reason[256];
  int status = sl_address_read(&address, o->address, reason, sizeof reason);
  if (status < 0) {
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "--serve %s: %s", o->address, reason);
    return status;
  }
  status = read_token(s, o, &address);
  if (status == SL_OK) status = sl_reference_read(&s->reference, o->reference_paths, s->diagnostics);
  if (status == SL_OK) status = sl_alarm_rules_read(&s->alarms.rules, o->alarms, s->diagnostics);
  if (status < 0) return status;
  s->http.texts = &s->texts;
  s->http.alarms = &s->alarms;
  s->http.work = work;
  s->http.draw = draw;
  s->http.context = s;
  s->http.token = s->token;
  s->http.needs_token = !address.is_loopback;
  status = sl_http_start(&s->http, &address, reason, sizeof reason);
  if (status < 0) sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "--serve %s: %s", o->address, reason);
  sl_address_write_url(&address, s->url, sizeof s->url);
  return status;
}

int sl_server_new(const struct sl_server_options *options, struct sl_diagnostics *d, struct sl_server **server) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  *server = NULL;
  const int status = sl_diagnose_size(d, "sl_server_options", options->size, sizeof *options);
  if (status < 0) return status;
  struct server *s = calloc(1, sizeof *s);
  if (!s) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s", sl_error_text(SL_ENOMEM));
    return SL_ENOMEM;
  }
  s->base.calls = &calls;
  s->diagnostics = d;
  s->status = (struct sl_status){
      .measures = &s->measures, .alarms = &s->alarms, .reference = &s->reference, .disks = &s->disks, .diagnostics = d};
  pthread_mutex_init(&s->alarms.lock, NULL);
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_init(&s->changing, NULL);
  sl_texts_open(&s->texts);
  struct sl_json j;
  sl_json_begin(&j);
  sl_status_write_idle(&j);
  (void)publish(s, SL_TEXT_STATUS, &j);
  const int started = start(s, options);
  if (started < 0) {
    sl_server_free(&s->base);
    return started;
  }
  *server = &s->base;
  return SL_OK;
}

const char *sl_server_url(const struct sl_server *server) { return ((const struct server *)server)->url; }

void sl_server_free(struct sl_server *server) {
  SL_IN_C_LOCALE();
  if (!server) return;
  struct server *s = server_of(server);
  sl_http_stop(&s->http);
  sl_measures_close(&s->measures);
  sl_reference_close(&s->reference);
  sl_alarms_close(&s->alarms);
  pthread_mutex_destroy(&s->alarms.lock);
  pthread_mutex_destroy(&s->lock);
  pthread_mutex_destroy(&s->changing);
  sl_texts_close(&s->texts);
  free(s);
}
