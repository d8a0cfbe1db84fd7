/* ut.sector_groups: which sectors stand at about the same x, and by the lanes of the boards, which sector and group a
 * hit belongs to: looked up in two small tables, so that no kernel works with addresses of staves, modules and faces.
 *
 * In a layer, sectors in the order of x0 are a group as long as none is further from the one before it than the
 * tolerance. An aligned detector's sectors of a stave differ by a fraction of a millimetre, staves by half a sensor.
 */
#include "ut/event_model.h"

#include <math.h>
#include <stdlib.h>

#define SL_ARGS sector_groups_args
#define SECTOR_GROUPS(M)                                                                                \
  M(IN, geometry, ut_geometry, "pitch dy dx_di dy_di x0 z0 lane_type lane_layer lane_index", "sectors") \
  M(OUT, groups, ut_sector_groups, "groups, and the lanes' sectors and groups")                         \
  M(F32, tolerance, 20.0, 0.0, 1000.0, "mm", "sectors that begin no further than this apart are a group")
SL_HOST_ARGUMENTS(sector_groups, SECTOR_GROUPS);

/* The arrays to fill, or SL_ENOMEM. */
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

/* A lane's sector and where it begins. */
struct place {
  float x0;
  uint32_t sector, lane;
};

static int compare_places(const void *a_, const void *b_) {
  const struct place *a = (const struct place *)a_, *b = (const struct place *)b_;
  if (a->x0 != b->x0) return a->x0 < b->x0 ? -1 : 1;
  if (a->sector != b->sector) return a->sector < b->sector ? -1 : 1;
  return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static uint32_t list_layer(const struct ut_geometry_view *g, uint32_t layer, struct place *places) {
  uint32_t count = 0;
  for (uint32_t lane = 0; lane < UT_LANES; lane++)
    if (g->lane_type[lane] != 0 && g->lane_layer[lane] == layer)
      places[count++] = (struct place){g->x0[g->lane_index[lane]], g->lane_index[lane], lane};
  qsort(places, count, sizeof *places, compare_places);
  return count;
}

/* Opens a group, or widens it, for a sector; its strips end half a strip before and after the first and the last. */
static void add_sector(const struct ut_geometry_view *g, const struct ut_sector_groups *to, uint32_t group,
                       uint32_t sector, int is_new) {
  const float x0 = g->x0[sector], width = UT_SECTOR_STRIPS * g->dx_di[sector];
  const float least = width < 0 ? x0 + width : x0, most = width < 0 ? x0 : x0 + width, length = g->dy[sector];
  if (is_new) to->x[group] = x0;
  if (is_new || least < to->x_least[group]) to->x_least[group] = least;
  if (is_new || most > to->x_most[group]) to->x_most[group] = most;
  if (is_new || length > to->length[group]) to->length[group] = length;
}

/* Mean z, and slope of the strips: from one strip to the next, x at y = 0 goes on by pitch / cos a and the lower end's
 * y by - pitch sin a. */
static void describe_layer(const struct ut_geometry_view *g, const struct ut_sector_groups *to, uint32_t layer,
                           const struct place *places, uint32_t count) {
  double z = 0, slope = 0, depth = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t k = places[i].sector;
    z += fabs((double)g->z0[k]);
    slope -= (double)g->dy_di[k] * (double)g->dx_di[k] / ((double)g->pitch[k] * (double)g->pitch[k]);
  }
  if (count > 0) z /= count, slope /= count;
  for (uint32_t i = 0; i < count; i++) {
    const double distance = fabs(fabs((double)g->z0[places[i].sector]) - z);
    if (distance > depth) depth = distance;
  }
  to->layer_z[layer] = (float)z;
  to->layer_depth[layer] = (float)depth;
  to->layer_slope[layer] = (float)slope;
}

static int make(const struct sl_services *s, const struct sector_groups_args *a) {
  struct place places[UT_LANES];
  struct ut_sector_groups to;
  uint32_t groups = 0;
  if (make_arrays(s, &to) < 0) return SL_ENOMEM;
  for (uint32_t lane = 0; lane < UT_LANES; lane++) {
    to.lane_sector[lane] = UT_SECTORS;
    to.lane_group[lane] = UT_NO_GROUP;
  }
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    const uint32_t count = list_layer(&a->geometry, layer, places);
    to.layer_first[layer] = groups;
    for (uint32_t i = 0; i < count; i++) {
      const int is_new = i == 0 || places[i].x0 - places[i - 1].x0 > a->tolerance;
      if (is_new && groups == UT_GROUPS_MAX) {
        s->message(s->context, SL_ERROR, "more than %d groups of sectors with a tolerance of %g mm in x", UT_GROUPS_MAX,
                   (double)a->tolerance);
        return SL_EINVAL;
      }
      groups += is_new ? 1 : 0;
      to.lane_sector[places[i].lane] = (uint16_t)places[i].sector;
      to.lane_group[places[i].lane] = (uint8_t)(groups - 1);
      add_sector(&a->geometry, &to, groups - 1, places[i].sector, is_new);
    }
    describe_layer(&a->geometry, &to, layer, places, count);
  }
  to.layer_first[UT_LAYERS] = groups;
  return SL_OK;
}

SL_CONSTANT(sector_groups, "UT sectors by layer and x, and which one each lane of a readout board has", make);
