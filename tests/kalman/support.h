/* support.h: shared by the tests of the transport. */
#ifndef TEST_KALMAN_SUPPORT_H
#define TEST_KALMAN_SUPPORT_H

#include "kalman/description.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The text of nominal.kalman; the caller frees it. */
char *nominal_text(void);
/* The text with the first `old` replaced by `new`; the caller frees it. */
char *text_with(const char *text, const char *old, const char *new);
/* Number of the line of the first `there`. */
uint32_t line_of(const char *text, const char *there);
/* The nominal constants; the caller frees them. */
struct kalman_description *nominal(void);

/* Services that store the last message. */
struct messages {
  struct sl_services services;
  char last[512];
};
void messages_begin(struct messages *messages);

#endif
