/* sample.c: see sample.h. Formats: the README.md of plugins/io and plugins/truth. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MDF_HEADER_BYTES = 48, BANK_HEADER_BYTES = 8, PARTICLE_BANKS = 32 };

static void give_up(const char *what, const char *path) {
  fprintf(stderr, "%s: %s\n", path, what);
  abort();
}

const char *sample_path(const char *name) {
  static char path[4096];
  const char *folder = getenv("SLUICE_DATA");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : SLUICE_DATA_DEFAULT, name);
  FILE *file = fopen(path, "rb");
  if (!file) {
    printf("skipped: %s is absent (SLUICE_DATA names the folder of the samples)\n", path);
    return NULL;
  }
  fclose(file);
  return path;
}

static uint32_t load_u32(const unsigned char *p) {
  uint32_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

static uint16_t load_u16(const unsigned char *p) {
  uint16_t value;
  memcpy(&value, p, sizeof value);
  return value;
}

struct sample sample_open(const char *path) {
  struct sample s = {0};
  FILE *file = fopen(path, "rb");
  if (!file) give_up("cannot be opened", path);
  fseek(file, 0, SEEK_END);
  s.size = (uint64_t)ftell(file);
  rewind(file);
  s.bytes = malloc(s.size);
  if (!s.bytes || fread(s.bytes, 1, s.size, file) != s.size) give_up("cannot be read", path);
  fclose(file);
  for (uint64_t at = 0; at < s.size; at += load_u32(s.bytes + at)) s.event_count++;
  return s;
}

void sample_close(struct sample *s) { free(s->bytes); }

void sample_for_banks(const struct sample *s, uint8_t type, sample_bank *bank, void *context) {
  uint32_t event = 0;
  for (uint64_t at = 0; at < s->size; at += load_u32(s->bytes + at), event++) {
    const unsigned char *end = s->bytes + at + load_u32(s->bytes + at);
    for (const unsigned char *b = s->bytes + at + MDF_HEADER_BYTES; b < end; b += (load_u16(b + 2) + 3) / 4 * 4)
      if (b[4] == type)
        bank(context, event, load_u16(b + 6), b[5], b + BANK_HEADER_BYTES,
             (uint16_t)(load_u16(b + 2) - BANK_HEADER_BYTES));
  }
}

/* The payloads of an event's particle banks, one after the other. */
struct particles {
  uint32_t event;
  unsigned char *bytes;
  size_t size;
};

static void add_payload(void *context, uint32_t event, uint16_t source_id, uint8_t version,
                        const unsigned char *payload, uint16_t size_bytes) {
  struct particles *p = context;
  (void)source_id, (void)version;
  if (event != p->event) return;
  p->bytes = realloc(p->bytes, p->size + size_bytes);
  if (!p->bytes) abort();
  memcpy(p->bytes + p->size, payload, size_bytes);
  p->size += size_bytes;
}

void sample_for_true_ids(const struct sample *s, uint32_t event, int wanted, sample_hit *hit, void *context) {
  enum { PARTICLE_BYTES = 8 + 7 * 4 + 9 + 4 * 4 + 3 * 4 + 4 };
  struct particles particles = {event, NULL, 0};
  sample_for_banks(s, PARTICLE_BANKS, add_payload, &particles);
  const unsigned char *at = particles.bytes + 4;
  for (uint32_t p = load_u32(particles.bytes); p > 0; p--) {
    at += PARTICLE_BYTES;
    for (int detector = 0; detector < 3; detector++) {
      const uint32_t count = load_u32(at);
      at += 4;
      for (uint32_t i = 0; i < count; i++, at += 4)
        if (detector == wanted) hit(context, load_u32(at));
    }
  }
  free(particles.bytes);
}

void sample_for_true_hits(const struct sample *s, uint32_t event, sample_hit *hit, void *context) {
  sample_for_true_ids(s, event, 0, hit, context);
}
