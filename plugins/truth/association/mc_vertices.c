/* mc_vertices.c: see mc_vertices.h. */
#include "mc_vertices.h"

#include <math.h>
#include <stdlib.h>

enum { VERSION = 1, VERTEX_BYTES = 4 + 3 * 8 };

void mc_vertices_free(struct mc_vertices *mc) {
  free(mc->at);
  mc_joined_free(&mc->joined);
  *mc = (struct mc_vertices){0};
}

static int read_vertices(struct mc_vertices *mc, const char **reason) {
  struct mc_cursor c = {mc->joined.bytes, mc->joined.size_bytes};
  *reason = "the vertices are cut short";
  if (c.left < sizeof(uint32_t)) return SL_EFORMAT;
  const uint64_t count = mc_take_u32(&c); /* signed in the format: a negative number is too large here */
  if (count > c.left / VERTEX_BYTES) return SL_EFORMAT;
  *reason = "bytes are left after the vertices";
  if (c.left != count * VERTEX_BYTES) return SL_EFORMAT;
  *reason = "out of memory";
  if (!mc_reserve((void **)&mc->at, &mc->capacity, count, sizeof *mc->at)) return SL_ENOMEM;
  for (uint64_t i = 0; i < count; i++) {
    struct mc_vertex *v = &mc->at[i];
    v->tracks = mc_take_u32(&c);
    v->x = mc_take_f64(&c);
    v->y = mc_take_f64(&c);
    v->z = mc_take_f64(&c);
    *reason = "a vertex has a negative number of tracks";
    if (v->tracks > INT32_MAX) return SL_EFORMAT;
    *reason = "a vertex's position is not finite";
    if (!isfinite(v->x) || !isfinite(v->y) || !isfinite(v->z)) return SL_EFORMAT;
  }
  mc->count = (uint32_t)count;
  return SL_OK;
}

int mc_vertices_decode(struct mc_vertices *mc, const struct mc_vertex_banks_view *banks, uint32_t event,
                       const char **reason) {
  mc->count = 0;
  *reason = "out of memory";
  if (banks->offsets[event] == banks->offsets[event + 1]) return SL_OK;
  const struct mc_banks_view view = MC_BANKS_VIEW(banks);
  const int error = mc_join_banks(&mc->joined, &view, event, reason);
  if (error) return error;
  *reason = "the bank version is not 1";
  return mc->joined.version == VERSION ? read_vertices(mc, reason) : SL_EFORMAT;
}
