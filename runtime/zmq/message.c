/* message.c: see message.h. */
#include "zmq/message.h"

#include <string.h>

static const unsigned char magic[4] = {'S', 'L', 'Z', '1'};
static const char prefix[] = "zmq:";

static void put(unsigned char *to, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *from, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)from[i] << 8 * i;
  return value;
}

void sl_zmq_encode(const struct sl_zmq_message *m, unsigned char header[SL_ZMQ_HEADER_BYTES]) {
  memcpy(header, magic, sizeof magic);
  put(header + 4, m->kind, 2);
  put(header + 6, 0, 2);
  put(header + 8, m->sender, 8);
  put(header + 16, m->sequence, 8);
  put(header + 24, m->events, 8);
  put(header + 32, m->bytes, 8);
}

const char *sl_zmq_decode(struct sl_zmq_message *m, const unsigned char *header, size_t count, size_t payload_bytes) {
  if (count != SL_ZMQ_HEADER_BYTES) return "the first frame is not a header of 40 bytes";
  if (memcmp(header, magic, sizeof magic) != 0) return "the header does not begin with SLZ1";
  *m = (struct sl_zmq_message){.kind = (uint32_t)get(header + 4, 2),
                               .sender = get(header + 8, 8),
                               .sequence = get(header + 16, 8),
                               .events = get(header + 24, 8),
                               .bytes = get(header + 32, 8)};
  if (m->kind < SL_ZMQ_DATA || m->kind > SL_ZMQ_HEADER) return "its kind is not 1, 2 or 3";
  if (get(header + 6, 2) != 0) return "bytes 6 and 7 of the header are not 0";
  if (m->sequence == UINT64_MAX) return "its sequence number is out of range";
  if (m->bytes != payload_bytes) return "the payload has not the number of bytes that the header gives";
  return NULL;
}

int sl_zmq_is_endpoint(const char *name) { return strncmp(name, prefix, sizeof prefix - 1) == 0; }

const char *sl_zmq_endpoint(const char *name, int is_input, int *binds, const char **reason) {
  const char *endpoint = name + sizeof prefix - 1;
  *reason = NULL;
  *binds = is_input && *endpoint != '>';
  if (is_input && *endpoint == '>') endpoint++;
  if (!is_input && (*endpoint == '@' || *endpoint == '>'))
    *reason = "an output always connects: write it without @ and >";
  else if (*endpoint == '@')
    *reason = "an input binds: write it without @";
  else if (strncmp(endpoint, "tcp://", 6) != 0 && strncmp(endpoint, "ipc://", 6) != 0)
    *reason = "an endpoint is tcp://HOST:PORT, or ipc://FILE on one machine";
  return *reason ? NULL : endpoint;
}
