/* scifi_support.h: shared by the tests of the SciFi reconstruction: the detector and its banks. */
#ifndef TEST_SCIFI_SUPPORT_H
#define TEST_SCIFI_SUPPORT_H

#include "banks_case.h"
#include "sample.h"
#include "scifi/bank_words.h"
#include "scifi/event_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fields of the geometry that scifi.decode reads. */
#define DECODER_FIELDS                                                                                        \
  "source_id link_channel mirror_x mirror_y mirror_z direction_x direction_y direction_z u_begin half_pitch " \
  "die_gap sipm_pitch dxdy dzdy"

/* Makes and runs scifi.geometry of `path`; NULL: the nominal one. */
struct sl_test *detector_new(const char *path);

/* Makes scifi.decode with these inputs. */
struct sl_test *decoder_new(const struct sl_test *detector, const struct banks_case *b);

/* The halfwords of a bank under construction, after the header. */
struct halfwords {
  uint16_t at[SCIFI_HEADER + 1024];
  uint32_t count; /* including the header */
};
void halfwords_put(struct halfwords *h, uint32_t link, uint32_t channel, uint32_t fraction, uint32_t flag);
/* Adds a cluster of `width` channels from `channel` on in this version (plugins/scifi/README.md, "Banks"). */
void halfwords_put_cluster(struct halfwords *h, uint32_t version, uint32_t link, uint32_t channel, uint32_t width);
/* Adds the padded bank and clears the halfwords. */
void banks_add_halfwords(struct banks_case *b, uint32_t version, uint32_t source_id, struct halfwords *h);

#endif
