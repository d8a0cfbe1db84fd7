/* write.h: writes a calibration as text. */
#ifndef CALIBRATE_WRITE_H
#define CALIBRATE_WRITE_H

#include "fit.h"

#include <stdio.h>

/* Writes the format of calibration/read.h, with the notes of the fits as comments. Numbers have ten digits. */
void calibration_write(FILE *file, const struct derivation *d);

#endif
