/* source.c: reads a file of power samples: a header of 40 bytes, then for each sample one byte per channel.
 *
 *   0  "BURSTS1"    8  u32 channels   12  u32 0   16  f64 first_mhz   24  f64 step_mhz   32  f64 sample_s
 *
 * Blocks overlap by `samples` - `step` samples: low frequencies arrive late, and a burst must be whole in one block.
 */
#include <bursts/event_model.h>
#include <string.h>

enum { HEADER_BYTES = 40 };

#define SL_ARGS source_args
#define SOURCE(M)                                                                                   \
  M(OUT, block, bursts_blocks, "power samples",                                                     \
    SL_DIMENSIONS(SL_PROPERTY_TERM(samples, 0), SL_PROPERTY_TERM(channels, 0)))                     \
  M(INPUT_U32, channels, 128, 1, 65536, "", "number of frequency channels")                         \
  M(INPUT_F64, first_mhz, 1500, 1, 1e6, "MHz", "frequency of the first channel")                    \
  M(INPUT_F64, step_mhz, -2, -1e3, 1e3, "MHz", "distance of two channels")                          \
  M(INPUT_F64, sample_s, 4e-3, 1e-9, 1, "s", "sampling period")                                     \
  M(U32, samples, 512, 1, 16777216, "", "number of samples of a block")                             \
  M(U32, step, 368, 1, 16777216, "", "number of samples from the begin of a block to the next one") \
  SL_RECORD_PROPERTIES(M)
SL_HOST_ARGUMENTS(source, SOURCE);

static int probe(const unsigned char *bytes, size_t count) { return count >= 8 && memcmp(bytes, "BURSTS1", 8) == 0; }

static int64_t header(const char *path, const unsigned char *bytes, size_t count, const struct sl_header_calls *calls) {
  uint32_t channels;
  double values[3];
  if (count < HEADER_BYTES) return HEADER_BYTES;
  memcpy(&channels, bytes + 8, sizeof channels);
  memcpy(values, bytes + 16, sizeof values);
  if (!probe(bytes, count) || channels == 0) {
    calls->message(calls->context, SL_ERROR, "%s is no file of power samples", path);
    return SL_EFORMAT;
  }
  calls->set(calls->context, "channels", channels);
  calls->set(calls->context, "first_mhz", values[0]);
  calls->set(calls->context, "step_mhz", values[1]);
  calls->set(calls->context, "sample_s", values[2]);
  return HEADER_BYTES;
}

static uint64_t length(void *state, const void *args, const unsigned char *bytes, size_t count, struct sl_unpack *u) {
  const struct source_args *a = (const struct source_args *)args;
  (void)state, (void)bytes, (void)count;
  u->step = (uint64_t)a->step * a->channels;
  return (uint64_t)a->samples * a->channels;
}

/* The file has the channels of each sample side by side, a block the samples of each channel. */
static void unpack(void *state, const void *args, const unsigned char *record, size_t bytes, struct sl_unpack *u) {
  const struct source_args *a = (const struct source_args *)args;
  (void)state, (void)bytes;
  if (!a->block.power) return;
  uint8_t *power = a->block.power + (size_t)u->event * a->channels * a->samples;
  for (uint32_t c = 0; c < a->channels; c++)
    for (uint32_t t = 0; t < a->samples; t++) power[(size_t)c * a->samples + t] = record[(size_t)t * a->channels + c];
}

static int check(const struct sl_services *s, const void *args) {
  const struct source_args *a = (const struct source_args *)args;
  if (a->step <= a->samples) return SL_OK;
  s->message(s->context, SL_ERROR, "step: %u samples would be skipped after each block of %u", a->step - a->samples,
             a->samples);
  return SL_EINVAL;
}

static const struct sl_records records = {.probe = probe, .header = header, .length = length, .unpack = unpack};
SL_RECORD_SOURCE(source, "blocks of power samples from a file, a pipe or a program", uint32_t, records,
                 SL_CHECK(check));
