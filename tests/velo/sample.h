/* sample.h: the shared samples, if present: raw banks of MDF files, and the folder of the geometry. */
#ifndef TEST_VELO_SAMPLE_H
#define TEST_VELO_SAMPLE_H

#include <stdint.h>

/* The path of a sample file, in static memory; NULL, after printing a line that names the file, if it is missing. */
const char *sample_path(const char *name);

/* A whole MDF file. */
struct sample {
  unsigned char *bytes;
  uint64_t size;
  uint32_t event_count;
};

/* Ends the program if the file cannot be read. */
struct sample sample_open(const char *path);
void sample_close(struct sample *s);

/* Calls `bank` for each bank of a type, in the order of the file. */
typedef void sample_bank(void *context, uint32_t event, uint16_t source_id, uint8_t version,
                         const unsigned char *payload, uint16_t size_bytes);
void sample_for_banks(const struct sample *s, uint8_t type, sample_bank *bank, void *context);

/* Calls `hit` for the LHCbIDs in the VELO lists of the true particles of an event. */
typedef void sample_hit(void *context, uint32_t id);
void sample_for_true_hits(const struct sample *s, uint32_t event, sample_hit *hit, void *context);
/* Calls `hit` for the LHCbIDs in the lists of a detector: 0 VELO, 1 UT, 2 SciFi. */
void sample_for_true_ids(const struct sample *s, uint32_t event, int detector, sample_hit *hit, void *context);

#endif
