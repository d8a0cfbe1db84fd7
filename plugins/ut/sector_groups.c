/* ut.sector_groups: the constant with groups of UT sectors of about equal x, and tables with the sector and the group
 * of each readout lane, so that kernels need no stave, module or face numbers.
 *
 * In each layer, sectors are sorted by x0; a new group begins where x0 grows by more than `tolerance`. In an aligned
 * detector the sectors of a stave differ by a fraction of a millimetre, those of different staves by half a sensor.
 */
#include "ut/event_model.h"

#include <math.h>
#include <stdlib.h>

#define SL_ARGS sector_groups_args
#define SECTOR_GROUPS(M)                                                                       \
  M(IN, geometry, ut_geometry, "pitch dy dx_di dy_di x0 z0 lane_type lane_layer lane_index",   \
    "sectors and readout lanes")                                                               \
  M(OUT, groups, ut_sector_groups, "groups of sectors; sector and group of each readout lane") \
  M(F32, tolerance, 20.0, 0.0, 1000.0, "mm", "largest distance in x0 of neighbouring sectors of a group")
SL_HOST_ARGUMENTS(sector_groups, SECTOR_GROUPS);

/* Allocates the output arrays. Returns SL_OK or SL_ENOMEM. */
static int make_arrays(const struct sl_services *s, struct ut_sector_groups *g) {
  int complete = 1;
#define MAKE(name, count) g->name = s->make_array(s->context, "groups", #name, count), complete = complete && g->name
  MAKE(lane_sector, UT_LANES);
  MAKE(lane_group, UT_LANES);
  MAKE(layer_first, UT_LAYERS + 1);
  MAKE(x, UT_GROUPS_MAX);
  MAKE(x_least, UT_GROUPS_MAX);
  MAKE(x_most, UT_GROUPS_MAX);
  MAKE(length, UT_GROUPS_MAX);
  MAKE(layer_z, UT_LAYERS);
  MAKE(layer_depth, UT_LAYERS);
  MAKE(layer_slope, UT_LAYERS);
#undef MAKE
  return complete ? SL_OK : SL_ENOMEM;
}

/* A readout lane with its sector. */
struct lane_x {
  float x0;
  uint32_t sector, lane;
};

static int compare_lanes(const void *a_, const void *b_) {
  const struct lane_x *a = (const struct lane_x *)a_, *b = (const struct lane_x *)b_;
  if (a->x0 != b->x0) return a->x0 < b->x0 ? -1 : 1;
  if (a->sector != b->sector) return a->sector < b->sector ? -1 : 1;
  return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static uint32_t list_layer(const struct ut_geometry_view *g, uint32_t layer, struct lane_x *lanes) {
  uint32_t count = 0;
  for (uint32_t lane = 0; lane < UT_LANES; lane++)
    if (g->lane_type[lane] != 0 && g->lane_layer[lane] == layer)
      lanes[count++] = (struct lane_x){g->x0[g->lane_index[lane]], g->lane_index[lane], lane};
  qsort(lanes, count, sizeof *lanes, compare_lanes);
  return count;
}

/* Adds a sector to a group, which is new or has sectors already: updates the limits of the group. */
static void add_sector(const struct ut_geometry_view *g, const struct ut_sector_groups *to, uint32_t group,
                       uint32_t sector, int is_new) {
  const float x0 = g->x0[sector], width = UT_SECTOR_STRIPS * g->dx_di[sector];
  const float least = width < 0 ? x0 + width : x0, most = width < 0 ? x0 : x0 + width, length = g->dy[sector];
  if (is_new) to->x[group] = x0;
  if (is_new || least < to->x_least[group]) to->x_least[group] = least;
  if (is_new || most > to->x_most[group]) to->x_most[group] = most;
  if (is_new || length > to->length[group]) to->length[group] = length;
}

/* Mean z, depth, and dx/dy = tan a of the strips of a layer: per strip, dx_di = pitch / cos a, dy_di = -pitch sin a. */
static void describe_layer(const struct ut_geometry_view *g, const struct ut_sector_groups *to, uint32_t layer,
                           const struct lane_x *lanes, uint32_t count) {
  double z = 0, slope = 0, depth = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t k = lanes[i].sector;
    z += fabs((double)g->z0[k]);
    slope -= (double)g->dy_di[k] * (double)g->dx_di[k] / ((double)g->pitch[k] * (double)g->pitch[k]);
  }
  if (count > 0) z /= count, slope /= count;
  for (uint32_t i = 0; i < count; i++) {
    const double distance = fabs(fabs((double)g->z0[lanes[i].sector]) - z);
    if (distance > depth) depth = distance;
  }
  to->layer_z[layer] = (float)z;
  to->layer_depth[layer] = (float)depth;
  to->layer_slope[layer] = (float)slope;
}

static int make(const struct sl_services *s, const struct sector_groups_args *a) {
  struct lane_x lanes[UT_LANES];
  struct ut_sector_groups to;
  uint32_t groups = 0;
  if (make_arrays(s, &to) < 0) return SL_ENOMEM;
  for (uint32_t lane = 0; lane < UT_LANES; lane++) {
    to.lane_sector[lane] = UT_SECTORS;
    to.lane_group[lane] = UT_NO_GROUP;
  }
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    const uint32_t count = list_layer(&a->geometry, layer, lanes);
    to.layer_first[layer] = groups;
    for (uint32_t i = 0; i < count; i++) {
      const int is_new = i == 0 || lanes[i].x0 - lanes[i - 1].x0 > a->tolerance;
      if (is_new && groups == UT_GROUPS_MAX) {
        s->message(s->context, SL_ERROR, "more than %d groups of sectors with a tolerance of %g mm in x", UT_GROUPS_MAX,
                   (double)a->tolerance);
        return SL_EINVAL;
      }
      groups += is_new ? 1 : 0;
      to.lane_sector[lanes[i].lane] = (uint16_t)lanes[i].sector;
      to.lane_group[lanes[i].lane] = (uint8_t)(groups - 1);
      add_sector(&a->geometry, &to, groups - 1, lanes[i].sector, is_new);
    }
    describe_layer(&a->geometry, &to, layer, lanes, count);
  }
  to.layer_first[UT_LAYERS] = groups;
  return SL_OK;
}

SL_CONSTANT(sector_groups, "UT sectors by layer and x; sector and group of each readout lane", make);
