/* devices.c: opens the devices that --device names, all of one backend. Slots are assigned to devices round robin. For
 * the failure of a device see order.c.
 */
#include "execute/devices.h"

#include <sluice/text.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 1023 };

int sl_devices_refuse(const struct sl_setup *s) {
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL,
              "write --device TARGET, TARGET:NUMBER, TARGET:NUMBER,NUMBER... or TARGET:all, as in cpu or cuda:0,1",
              "'%s' is not a device", s->options.device);
  return SL_EINVAL;
}

static int refuse_count(struct sl_setup *s) {
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "'%s' is more than %d devices", s->options.device,
              SL_DEVICES_MAX);
  return SL_EINVAL;
}

static int refuse_number(struct sl_setup *s, const char *text, const char *end) {
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL,
              "'%s': the number of a device is out of range: it must be from 0 to %d, not %.*s", s->options.device,
              NUMBER_MAX, (int)(end - text), text);
  return SL_EINVAL;
}

/* Reads device numbers: "0,1"; an empty text is 0, "all" is no number. */
static int read_numbers(struct sl_setup *s, const char *text, uint32_t *numbers, uint32_t *count) {
  *count = !text;
  numbers[0] = 0;
  if (!text || strcmp(text, "all") == 0) return SL_OK;
  for (;; text++) {
    char *end = NULL;
    const unsigned long number = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
    if (!end || (*end && *end != ',')) return sl_devices_refuse(s);
    if (number > NUMBER_MAX) return refuse_number(s, text, end);
    for (uint32_t i = 0; i < *count; i++)
      if (numbers[i] == number) {
        sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "name each once; --slots says how many slices are in flight",
                    "'%s' names number %lu twice", s->options.device, number);
        return SL_EINVAL;
      }
    if (*count == SL_DEVICES_MAX) return refuse_count(s);
    numbers[(*count)++] = (uint32_t)number;
    text = end;
    if (!*text) return SL_OK;
  }
}

/* Names all devices of the backend. If there is none, opening device 0 reports it. */
static int name_all(struct sl_setup *s, uint32_t *numbers, uint32_t *count) {
  const uint32_t all = s->backend->count ? s->backend->count() : 1;
  if (*count > 0) return SL_OK;
  if (all > SL_DEVICES_MAX) return refuse_count(s);
  for (*count = 0; *count == 0 || *count < all; (*count)++) numbers[*count] = *count;
  return SL_OK;
}

static int open_one(struct sl_setup *s, uint32_t number, char *reason, size_t reason_size) {
  struct sl_device_state *state = &s->devices[s->device_count];
  const int status = s->backend->open(number, &state->device, reason, reason_size);
  if (status < 0) return status;
  snprintf(state->name, sizeof state->name, "%s:%u", s->backend->target, number);
  state->number = number;
  state->index = s->device_count++;
  state->node = s->backend->numa_node ? s->backend->numa_node(state->device) : -1;
  return SL_OK;
}

static int choose_slots(struct sl_setup *s) {
  s->slot_count = s->options.slots ? s->options.slots : s->device_count;
  if (s->slot_count >= s->device_count) return SL_OK;
  char hint[80];
  snprintf(hint, sizeof hint, "use --slots %u or more, or name fewer devices", s->device_count);
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, hint, "'%s' is %u devices, for %u %s", s->options.device,
              s->device_count, s->slot_count, sl_plural(s->slot_count, "slot", "slots"));
  return SL_EINVAL;
}

int sl_devices_open(struct sl_setup *s) {
  uint32_t numbers[SL_DEVICES_MAX], count = 0;
  char reason[512] = "";
  const char *colon = strchr(s->options.device, ':');
  int status = read_numbers(s, colon ? colon + 1 : NULL, numbers, &count);
  if (status == SL_OK) status = name_all(s, numbers, &count);
  if (status < 0) return status;
  for (uint32_t i = 0; i < count && status == SL_OK; i++) status = open_one(s, numbers[i], reason, sizeof reason);
  if (status < 0)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "there is no device '%s': %s", s->options.device, reason);
  return status == SL_OK ? choose_slots(s) : status;
}

void sl_devices_close(struct sl_setup *s) {
  for (uint32_t d = 0; d < s->device_count; d++) s->backend->close(s->devices[d].device);
}

/* ---------------------------------------------------------------------------------------------- near to them */

void *sl_host_allocate(const struct sl_setup *s, const struct sl_device_state *state, uint64_t bytes) {
  struct sl_numa_policy before;
  const int is_near = sl_numa_prefer(state->node, &before);
  void *memory = s->backend->allocate_host(state->device, bytes);
  if (is_near) sl_numa_restore(&before);
  return memory;
}

int sl_run_near(const struct sl_setup *s, const struct sl_device_state *state, struct sl_numa_cores *before) {
  return s->device_count > 1 && sl_numa_run_on(state->node, before);
}
