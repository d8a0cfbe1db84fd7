/* senders.c: see senders.h. */
#include "zmq/senders.h"

/* Returns 1 if entry `a` is to be reused before entry `b`. */
static int is_older(const struct sl_zmq_sender *a, const struct sl_zmq_sender *b) {
  return a->has_ended != b->has_ended ? a->has_ended : a->last_use < b->last_use;
}

/* Returns the entry of the sender, or a new one. */
static struct sl_zmq_sender *find(struct sl_zmq_senders *s, uint64_t id, int *is_new) {
  struct sl_zmq_sender *oldest = &s->at[0];
  *is_new = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    if (s->at[i].id == id) return &s->at[i];
    if (is_older(&s->at[i], oldest)) oldest = &s->at[i];
  }
  *is_new = 1;
  return s->count < SL_ZMQ_SENDERS_MAX ? &s->at[s->count++] : oldest;
}

struct sl_zmq_finding sl_zmq_senders_take(struct sl_zmq_senders *s, const struct sl_zmq_message *m, int connection) {
  struct sl_zmq_finding found = {0};
  struct sl_zmq_sender *sender = find(s, m->sender, &found.is_new);
  found.is_new |= m->sequence == 0;
  found.is_back = !found.is_new && sender->is_reported;
  if (!found.is_new && m->sequence < sender->next) {
    found.is_repeated = 1;
    return found;
  }
  /* Messages that were queued when their connection closed still arrive. */
  const int is_cut = !found.is_new && !found.is_back && sender->is_cut && sender->connection == connection;
  found.missing = m->sequence - (found.is_new ? 0 : sender->next);
  *sender = (struct sl_zmq_sender){.id = m->sender,
                                   .next = m->sequence + 1,
                                   .last_use = ++s->uses,
                                   .connection = connection,
                                   .has_ended = m->kind == SL_ZMQ_END,
                                   .is_cut = is_cut};
  return found;
}

void sl_zmq_senders_cut(struct sl_zmq_senders *s, int connection) {
  for (uint32_t i = 0; connection >= 0 && i < s->count; i++)
    if (s->at[i].connection == connection) s->at[i].is_cut = 1;
}

const struct sl_zmq_sender *sl_zmq_senders_lost(struct sl_zmq_senders *s) {
  for (uint32_t i = 0; i < s->count; i++) {
    struct sl_zmq_sender *sender = &s->at[i];
    if (!sender->is_cut || sender->has_ended || sender->is_reported) continue;
    sender->is_reported = 1;
    return sender;
  }
  return NULL;
}
