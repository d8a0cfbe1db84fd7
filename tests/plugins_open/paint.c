/* paint.c: defines a colour of boxes that the plugin store does not know. */
#include "boxes.h"

BOXES_OF_COLOUR(red, red_boxes);

struct look_args {
  struct sl_events events;
  struct red_boxes_view boxes;
  struct red_boxes seen;
};
#define SL_ARGS look_args
static const struct sl_member look_members[] = {
    SL_EVENTS(),
    SL_IN(boxes, red_boxes, "", "any order"),
    SL_OUT(seen, red_boxes, "copy of the boxes", SL_SHARES_OFFSETS(boxes)),
};

static int run(const struct sl_launch *l, const struct look_args *a) {
  (void)l, (void)a;
  return SL_OK;
}
SL_ALGORITHM(look, "copies red boxes", 32, run);
#undef SL_ARGS

static const struct sl_algorithm *const algorithms[] = {SL_ENTRY(look)};
SL_PLUGIN("paint", "1.0", "red boxes");
