/* description.h: the constants of the transport of tracks, a text like nominal.kalman (README.md, "The file"). For host
 * code; link Sluice::geometry. */
#ifndef KALMAN_DESCRIPTION_H
#define KALMAN_DESCRIPTION_H

#include "kalman/transport.h"

#include <sluice/plugin.h>

#include <stddef.h>

enum { KALMAN_FORMAT = 1 };

struct kalman_description {
  struct kalman_leg legs[KALMAN_LEGS];
};

/* Names of the polynomials of a leg: x, y, tx, ty. */
extern const char *const kalman_output_names[KALMAN_OUTPUTS];

/* Reads a text. Returns 0, or the number of the wrong line (the last line if something is missing) with the reason. */
uint32_t kalman_read(const char *text, size_t bytes, struct kalman_description *description, char *reason,
                     size_t reason_size);

/* Reads a file, or the nominal constants if the path is NULL or empty. Returns SL_OK or an error after a message. */
int kalman_load_path(const struct sl_services *services, const char *path, struct kalman_description *description);

/* Rounds the constants to single precision, for kalman_transport. */
void kalman_round(const struct kalman_description *description, struct kalman_polynomials *polynomials);

#endif
