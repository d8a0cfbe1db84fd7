/* ticker.c: what is done about once a second while a run goes on, whether events come or not: sinks and the trace hand
 * over what they have, so that it outlives the process, and the metrics are written anew. A thread of its own does it;
 * it holds the lock of the delivery, so that a sink is never called twice at a time.
 */
#include "execute/session.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static int flush_sinks(struct sl_session *s) {
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_node *node = &s->graph->nodes[n];
    if (node->algorithm->kind != SL_KIND_SINK || !node->algorithm->sink->flush || !s->opened[n]) continue;
    const int status = node->algorithm->sink->flush(s->states[n], &s->contexts[n].services);
    sl_say_node_failure(s, n, status, "failed", NULL);
    if (status < 0) return status;
  }
  return SL_OK;
}

static void tick(struct sl_session *s) {
  const uint64_t begin = sl_now_ns();
  if (s->delivery.active) {
    const int status = flush_sinks(s);
    if (status < 0) sl_fail_now(s, status);
  }
  sl_trace_flush(s);
  sl_metrics_write(s);
  s->ticker.ns += sl_now_ns() - begin;
}

static void run_ticker(void *argument) {
  struct sl_session *s = argument;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  pthread_mutex_lock(&s->delivery.lock);
  while (!s->ticker.ended) {
    next.tv_sec++;
    while (!s->ticker.ended && pthread_cond_timedwait(&s->ticker.wake, &s->delivery.lock, &next) == 0) continue;
    if (!s->ticker.ended) tick(s);
  }
  pthread_mutex_unlock(&s->delivery.lock);
}

static int is_wanted(const struct sl_session *s) {
  int wanted = s->options.metrics_path || s->options.trace_path;
  for (uint32_t n = 0; n < s->graph->node_count; n++)
    wanted |= s->opened[n] && s->graph->nodes[n].algorithm->kind == SL_KIND_SINK;
  return wanted;
}

int sl_ticker_start(struct sl_session *s) {
  if (!is_wanted(s)) return SL_OK;
  const int error = sl_thread_start(&s->ticker.thread, run_ticker, s);
  if (error == 0) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "no thread could be started: %s", strerror(error));
  return SL_ENOMEM;
}

void sl_ticker_stop(struct sl_session *s) {
  if (!s->ticker.thread.is_started) return;
  pthread_mutex_lock(&s->delivery.lock);
  s->ticker.ended = 1;
  pthread_cond_signal(&s->ticker.wake);
  pthread_mutex_unlock(&s->delivery.lock);
  sl_thread_join(&s->ticker.thread);
}
