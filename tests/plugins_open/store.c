/* store.c: a source and a sink with open ports, independent of the colours of boxes. */
#include "boxes.h"

struct fetch_args {
  struct boxes_ports boxes;
};
#define SL_ARGS fetch_args
static const struct sl_member fetch_members[] = {SL_OPEN_OUT(boxes, boxes, "store.boxes", "boxes of every colour")};

struct fetch_state {
  uint32_t unused;
};
static int fetch_open(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  (void)state, (void)s, (void)args, (void)inputs;
  return SL_OK;
}
static int fetch_fill(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  (void)state, (void)s, (void)args, (void)fill;
  return 0;
}
static void fetch_close(void *state) { (void)state; }
static const struct sl_source fetch_functions = {.open = fetch_open, .fill = fetch_fill, .close = fetch_close};
SL_SOURCE(fetch, "fetches boxes", struct fetch_state, fetch_functions);
#undef SL_ARGS

struct keep_args {
  struct boxes_view_ports boxes;
};
#define SL_ARGS keep_args
static const struct sl_member keep_members[] = {
    SL_OPEN_IN(boxes, boxes, "store.boxes", "offsets weight", "boxes to store")};

struct keep_state {
  uint32_t unused;
};
static int keep_open(void *state, const struct sl_services *s, const void *args, const char *path) {
  (void)state, (void)s, (void)args, (void)path;
  return SL_OK;
}
static int keep_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  (void)state, (void)s, (void)args, (void)batch;
  return SL_OK;
}
static int keep_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  (void)state, (void)s, (void)report;
  return SL_OK;
}
static void keep_close(void *state) { (void)state; }
static const struct sl_sink keep_functions = {
    .open = keep_open, .consume = keep_consume, .finish = keep_finish, .close = keep_close};
SL_SINK(keep, "stores boxes", struct keep_state, keep_functions);
#undef SL_ARGS

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(fetch), SL_ENTRY(keep)};
SL_PLUGIN("store", "1.0", "boxes of any colour");
