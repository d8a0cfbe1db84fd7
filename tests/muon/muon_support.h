/* muon_support.h: shared by the tests of the muon reconstruction: the detector and random numbers. */
#ifndef TEST_MUON_SUPPORT_H
#define TEST_MUON_SUPPORT_H

#include "banks_case.h"
#include "muon/bank_words.h"
#include "muon/event_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Fields of the geometry that the algorithms read. */
#define DECODER_FIELDS  "format channel_first tiles tell40_links grid"
#define CROSSING_FIELDS "grid offset position_first x y z width_first half_x half_y"

/* Makes and runs muon.geometry with the nominal detector for banks of this version. */
struct sl_test *detector_new(uint32_t version);
/* Pointers into its output. */
struct muon_geometry_view detector_view(const struct sl_test *detector);

/* A field of an output, as its type. */
#define OUTPUT(test, port, field, type) ((const type *)sl_test_output(test, port, field))

/* Reproducible random numbers: an integer below `end`, or a float in a range. random_start() sets the seed. */
void random_start(uint32_t seed);
uint32_t random_below(uint32_t end);
float random_between(float low, float high);

#endif
