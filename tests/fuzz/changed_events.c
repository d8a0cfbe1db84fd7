/* changed_events.c: see changed_events.h. */
#include "changed_events.h"

#include <stdlib.h>
#include <string.h>

enum { BANK_HEAD_BYTES = 8, KIND_PARTICLES = 32, KIND_VERTICES = 33 };

static uint32_t u16_at(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }
static uint32_t u32_at(const uint8_t *p) { return u16_at(p) | u16_at(p + 2) << 16; }

static void put_u16(uint8_t *p, uint32_t value) {
  p[0] = (uint8_t)value;
  p[1] = (uint8_t)(value >> 8);
}

static void put_u32(uint8_t *p, uint32_t value) {
  put_u16(p, value);
  put_u16(p + 2, value >> 16);
}

/* -------------------------------------------------------------------------------------------------- good events */

static int read_banks(struct raw_event *event, const uint8_t *data, size_t size) {
  for (size_t at = 0; at < size;) {
    if (size - at < BANK_HEAD_BYTES || u16_at(data + at) != 0xCBCB) return 0;
    const uint32_t length = u16_at(data + at + 2);
    if (length < BANK_HEAD_BYTES || length > size - at || event->bank_count == BANKS_MAX) return 0;
    const struct raw_bank bank = {.payload = data + at + BANK_HEAD_BYTES,
                                  .size = (uint16_t)(length - BANK_HEAD_BYTES),
                                  .source = (uint16_t)u16_at(data + at + 6),
                                  .kind = data[at + 4],
                                  .version = data[at + 5]};
    if (bank.kind != KIND_PARTICLES && bank.kind != KIND_VERTICES) event->banks[event->bank_count++] = bank;
    at += (length + 3u) & ~3u;
  }
  return 1;
}

int raw_events_read(struct raw_events *events, const uint8_t *data, size_t size) {
  memset(events, 0, sizeof *events);
  for (size_t at = 0; at < size && events->count < EVENTS_MAX; events->count++) {
    struct raw_event *event = &events->events[events->count];
    const uint32_t length = size - at >= RECORD_HEAD_BYTES ? u32_at(data + at) : 0;
    if (length < RECORD_HEAD_BYTES || length > size - at) return 0;
    memcpy(event->head, data + at, RECORD_HEAD_BYTES);
    if (!read_banks(event, data + at + RECORD_HEAD_BYTES, length - RECORD_HEAD_BYTES)) return 0;
    at += length;
  }
  return events->count > 0;
}

/* ------------------------------------------------------------------------------------------------------ changes */

enum what {
  FLIP_BIT,
  SET_BYTE,
  SET_WORD,
  SET_ODD_WORD, /* a value at which number ranges often end */
  ADD_TO_WORD,
  CUT,
  LENGTHEN,
  REPEAT, /* repeats the words after the first, which becomes their count */
  FILL,
  SET_VERSION,
  SET_SOURCE,
  SET_KIND,
  DROP,
  DOUBLE,
  SWAP_SOURCES,
  SWAP_PLACES,
  OTHER_PAYLOAD, /* payload of any bank of any event */
  ALL_VERSIONS,  /* of all banks of the kind */
  DROP_KIND,
  SWAP_HALVES, /* swaps the halves of each word */
  BANK_HEAD,
  RECORD_HEAD,
  BODY_BYTE,
  WHATS
};

struct change {
  uint32_t event, what, kind, which, at, value;
};

static struct change change_at(const uint8_t *p) {
  return (struct change){p[0], p[1] % (uint32_t)WHATS, p[2], p[3], u16_at(p + 4), u32_at(p + 6)};
}

static uint8_t room[CHANGES_MAX][PAYLOAD_MAX]; /* one payload per change */

/* The bank that a change is applied to: number `which` of the banks of one kind, number `kind` of the kinds in the
 * event. NULL if there is no bank. */
static struct raw_bank *find_bank(struct raw_event *event, uint32_t kind, uint32_t which) {
  uint32_t seen[256] = {0}, kinds[256], kind_count = 0;
  for (uint32_t i = 0; i < event->bank_count; i++)
    if (seen[event->banks[i].kind]++ == 0) kinds[kind_count++] = event->banks[i].kind;
  if (kind_count == 0) return NULL;
  const uint32_t wanted = kinds[kind % kind_count];
  uint32_t left = which == UINT8_MAX ? seen[wanted] - 1 : which % seen[wanted]; /* 255: the last one */
  for (uint32_t i = 0; i < event->bank_count; i++)
    if (event->banks[i].kind == wanted && left-- == 0) return &event->banks[i];
  return NULL;
}

/* Moves the payload of the bank to `place`, so that it can be changed. */
static uint8_t *own(struct raw_bank *bank, uint8_t *place) {
  const uint32_t size = bank->size < PAYLOAD_MAX ? bank->size : PAYLOAD_MAX;
  memmove(place, bank->payload, size);
  bank->payload = place;
  bank->size = (uint16_t)size;
  return place;
}

static void fill_noise(uint8_t *bytes, uint32_t count, uint32_t seed) {
  for (uint32_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    bytes[i] = (uint8_t)(seed >> 24);
  }
}

static void change_word(uint8_t *payload, uint32_t size, const struct change *c) {
  static const uint32_t odd[] = {0,           1,           2,           3,           0x7F,        0xFF,       0xFFFF,
                                 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFEu, 0xFFFFFFFFu, 0x7F800000u, 0x7FC00000u};
  if (size < 4) return;
  uint8_t *word = payload + 4 * (c->at % (size / 4));
  if (c->what == SET_WORD) put_u32(word, c->value);
  if (c->what == SET_ODD_WORD) put_u32(word, odd[c->value % (sizeof odd / sizeof *odd)]);
  if (c->what == ADD_TO_WORD) put_u32(word, u32_at(word) + (uint32_t)(int32_t)(int8_t)c->value);
}

static void repeat(struct raw_bank *bank, uint8_t *payload, uint32_t words) {
  const uint32_t count = bank->size / 4;
  if (count < 2) return;
  if (words > PAYLOAD_MAX / 4 - 1) words = PAYLOAD_MAX / 4 - 1;
  for (uint32_t i = count - 1; i < words; i++) memcpy(payload + 4 + 4 * i, payload + 4 + 4 * (i % (count - 1)), 4);
  put_u32(payload, words);
  bank->size = (uint16_t)(4 + 4 * words);
}

static void change_payload(struct raw_bank *bank, uint8_t *place, const struct change *c) {
  uint8_t *payload = own(bank, place);
  const uint32_t size = bank->size, at = size > 0 ? c->at % size : 0;
  uint32_t more = c->value % (c->value & 0x80000000u ? 4096 : 16);
  switch (c->what) {
    case FLIP_BIT:
      if (size > 0) payload[at] ^= (uint8_t)(1u << c->value % 8);
      break;
    case SET_BYTE:
      if (size > 0) payload[at] = (uint8_t)c->value;
      break;
    case CUT:
      bank->size = (uint16_t)at;
      break;
    case LENGTHEN:
      if (more > PAYLOAD_MAX - size) more = PAYLOAD_MAX - size;
      fill_noise(payload + size, more, c->value);
      bank->size = (uint16_t)(size + more);
      break;
    case REPEAT:
      repeat(bank, payload, c->at);
      break;
    case FILL:
      bank->size = (uint16_t)(c->at % (PAYLOAD_MAX + 1));
      fill_noise(payload, bank->size, c->value);
      break;
    case SWAP_HALVES:
      for (uint32_t i = 0; i + 4 <= size; i += 4)
        put_u32(payload + i, u32_at(payload + i) << 16 | u16_at(payload + i + 2));
      break;
    default:
      change_word(payload, size, c);
      break;
  }
}

static void drop_bank(struct raw_event *event, const struct raw_bank *bank) {
  const size_t index = (size_t)(bank - event->banks);
  memmove(event->banks + index, event->banks + index + 1, (event->bank_count - index - 1) * sizeof *bank);
  event->bank_count--;
}

static void change_kind(struct raw_event *event, uint32_t kind, const struct change *c) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < event->bank_count; i++) {
    struct raw_bank bank = event->banks[i];
    if (bank.kind == kind && c->what == DROP_KIND) continue;
    if (bank.kind == kind) bank.version = (uint8_t)c->value;
    event->banks[kept++] = bank;
  }
  event->bank_count = kept;
}

/* Changes of whole banks. */
static void change_banks(struct raw_events *events, struct raw_event *event, struct raw_bank *bank,
                         const struct change *c) {
  struct raw_bank *other = &event->banks[c->value % event->bank_count];
  const struct raw_bank before = *bank;
  switch (c->what) {
    case SET_VERSION:
      bank->version = (uint8_t)c->value;
      break;
    case SET_SOURCE:
      bank->source = (uint16_t)c->value;
      break;
    case SET_KIND:
      bank->kind = (uint8_t)c->value;
      break;
    case DROP:
      drop_bank(event, bank);
      break;
    case DOUBLE:
      if (event->bank_count < BANKS_MAX) event->banks[event->bank_count++] = before;
      break;
    case SWAP_SOURCES:
      bank->source = other->source;
      other->source = before.source;
      break;
    case SWAP_PLACES:
      *bank = *other;
      *other = before;
      break;
    case OTHER_PAYLOAD:
      other = find_bank(&events->events[c->at % events->count], c->value & 0xFF, c->value >> 8 & 0xFF);
      if (other) {
        bank->payload = other->payload;
        bank->size = other->size;
      }
      break;
    default:
      change_kind(event, before.kind, c);
      break;
  }
}

static void apply(struct raw_events *events, uint8_t *place, const struct change *c) {
  struct raw_event *event = &events->events[c->event % events->count];
  struct raw_bank *bank = find_bank(event, c->kind, c->which);
  if (!bank) return;
  event->is_changed = 1;
  const int is_of_payload = c->what < SET_VERSION || c->what == SWAP_HALVES;
  if (is_of_payload)
    change_payload(bank, place, c);
  else
    change_banks(events, event, bank, c);
}

/* --------------------------------------------------------------------------------------------------------- file */

static size_t record_bytes(const struct raw_event *event) {
  size_t bytes = RECORD_HEAD_BYTES;
  for (uint32_t i = 0; i < event->bank_count; i++) bytes += BANK_HEAD_BYTES + ((event->banks[i].size + 3u) & ~3u);
  return bytes;
}

/* Writes no checksum, because no change could keep it right. */
static void write_record(const struct raw_event *event, uint8_t *at) {
  const uint32_t bytes = (uint32_t)record_bytes(event);
  memcpy(at, event->head, RECORD_HEAD_BYTES);
  for (uint32_t i = 0; i < 3; i++) put_u32(at + 4 * i, bytes);
  put_u32(at + 12, 0);
  at += RECORD_HEAD_BYTES;
  for (uint32_t i = 0; i < event->bank_count; i++) {
    const struct raw_bank *bank = &event->banks[i];
    put_u16(at, 0xCBCB);
    put_u16(at + 2, BANK_HEAD_BYTES + bank->size);
    at[4] = bank->kind;
    at[5] = bank->version;
    put_u16(at + 6, bank->source);
    memcpy(at + BANK_HEAD_BYTES, bank->payload, bank->size);
    at += BANK_HEAD_BYTES + ((bank->size + 3u) & ~3u);
  }
}

/* Changes bytes of the file itself, in the record of the event. */
static void change_file(const struct raw_events *events, uint8_t *file, const struct change *c) {
  const uint32_t index = c->event % events->count;
  const struct raw_event *event = &events->events[index];
  for (uint32_t e = 0; e < index; e++) file += record_bytes(&events->events[e]);
  if (c->what == RECORD_HEAD) {
    file[c->at % RECORD_HEAD_BYTES] = (uint8_t)c->value;
  } else if (c->what == BODY_BYTE) {
    file[c->at % record_bytes(event)] ^= (uint8_t)c->value;
  } else if (event->bank_count > 0) {
    file += RECORD_HEAD_BYTES;
    for (uint32_t i = 0; i < c->at % event->bank_count; i++)
      file += BANK_HEAD_BYTES + ((event->banks[i].size + 3u) & ~3u);
    file[c->which % 4] = (uint8_t)c->value; /* magic number or length of the bank */
  }
}

static int is_of_file(const struct change *c) { return c->what >= BANK_HEAD; }

uint8_t *raw_events_changed(const struct raw_events *sound, const uint8_t *data, size_t size,
                            struct raw_events *changed, size_t *file_bytes) {
  const uint32_t said = (uint32_t)(size / CHANGE_BYTES), count = said < CHANGES_MAX ? said : CHANGES_MAX;
  memcpy(changed, sound, sizeof *changed);
  for (uint32_t i = 0; i < count; i++) {
    const struct change c = change_at(data + i * CHANGE_BYTES);
    if (is_of_file(&c))
      changed->is_file_changed = 1;
    else
      apply(changed, room[i], &c);
  }
  *file_bytes = 0;
  for (uint32_t e = 0; e < changed->count; e++) *file_bytes += record_bytes(&changed->events[e]);
  uint8_t *file = calloc(1, *file_bytes), *at = file;
  if (!file) abort();
  for (uint32_t e = 0; e < changed->count; e++) {
    write_record(&changed->events[e], at);
    at += record_bytes(&changed->events[e]);
  }
  for (uint32_t i = 0; i < count; i++) {
    const struct change c = change_at(data + i * CHANGE_BYTES);
    if (is_of_file(&c)) change_file(changed, file, &c);
  }
  return file;
}
