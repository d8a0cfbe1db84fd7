/* digest.c: see digest.h. */
#include "execute/digest.h"

#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* for a state on the stack */
#include "execute/bind.h"

#include <xxhash.h>

/* Items [first, first + count) of the event. */
struct extent {
  uint32_t first, count;
};

static struct extent extent_of(const struct sl_collection *c, const void *const *fields, uint32_t event) {
  const int field = sl_offsets_field(c);
  if (field < 0) return (struct extent){0, 0};
  const uint32_t *offsets = fields[field];
  return (struct extent){offsets[event], offsets[event + 1] - offsets[event]};
}

/* The event's subitems of the group that the field belongs to. */
static struct extent subitems_of(const struct sl_collection *c, const void *const *fields, uint32_t field,
                                 struct extent items) {
  const int group = sl_item_offsets_field(c, sl_group_of(c, field));
  if (group < 0 || items.count == 0) return (struct extent){0, 0};
  const uint32_t *offsets = fields[group];
  return (struct extent){offsets[items.first], offsets[items.first + items.count] - offsets[items.first]};
}

static uint64_t digest_list_event(const void *const *fields, uint32_t event) {
  const uint32_t count = *(const uint32_t *)fields[0], *numbers = fields[1];
  uint8_t on_list = 0;
  for (uint32_t i = 0; i < count; i++) on_list |= numbers[i] == event;
  return XXH3_64bits(&on_list, 1);
}

uint64_t sl_digest_event(const struct sl_collection *c, const void *const *fields, uint32_t event) {
  if (sl_is_event_list(c)) return digest_list_event(fields, event);
  const struct extent e = extent_of(c, fields, event);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, &e.count, sizeof e.count);
  for (uint32_t f = 0; f < c->field_count; f++) {
    const struct sl_field *field = &c->fields[f];
    const size_t bytes = (size_t)field->width * sl_type_bytes(field->type);
    const unsigned char *values = fields[f];
    switch (field->shape) {
      case SL_SHAPE_CODE_PER_EVENT:
        XXH3_64bits_update(&state, values + event * bytes, bytes);
        break;
      case SL_SHAPE_CODE_PER_ITEM:
        XXH3_64bits_update(&state, values + e.first * bytes, e.count * bytes);
        break;
      case SL_SHAPE_CODE_PER_SUBITEM: {
        const struct extent sub = subitems_of(c, fields, f, e);
        XXH3_64bits_update(&state, values + sub.first * bytes, sub.count * bytes);
        break;
      }
      case SL_SHAPE_CODE_ITEM_OFFSETS: {
        const uint32_t *offsets = fields[f];
        for (uint32_t i = e.first; i < e.first + e.count; i++) {
          const uint32_t count = offsets[i + 1] - offsets[i];
          XXH3_64bits_update(&state, &count, sizeof count);
        }
        break;
      }
      default:
        break;
    }
  }
  return XXH3_64bits_digest(&state);
}

uint64_t sl_digest_error_event(uint32_t error) {
  const uint32_t words[2] = {UINT32_MAX, error};
  return XXH3_64bits(words, sizeof words);
}

int sl_output_digest_open(struct sl_output_digest *d) {
  XXH3_state_t *state = XXH3_createState();
  d->state = state;
  if (!state) return SL_ENOMEM;
  XXH3_64bits_reset(state);
  return SL_OK;
}

void sl_output_digest_add(struct sl_output_digest *d, const struct sl_event *event, uint64_t event_digest) {
  unsigned char record[20];
  memcpy(record, &event->run, 4);
  memcpy(record + 4, &event->number, 8);
  memcpy(record + 12, &event_digest, 8);
  XXH3_64bits_update(d->state, record, sizeof record);
}

uint64_t sl_output_digest_value(const struct sl_output_digest *d) {
  return d->state ? XXH3_64bits_digest(d->state) : 0;
}

void sl_output_digest_close(struct sl_output_digest *d) {
  XXH3_freeState(d->state);
  d->state = NULL;
}
