/* spectrometer_found.c: see spectrometer_found.h.
 *
 * A track goes from its closest approach to the beam through its last hit in the VELO; in the UT it is the straight
 * line of its state there. It is a ghost if it matches no particle (association.h).
 */
#include "spectrometer_found.h"

#include <sluice/math.h>

static const float ut_begin = 2320, ut_end = 2650; /* mm: somewhat beyond the first and the last layer */

/* The points of a way, by ascending z. */
struct way {
  struct spectrometer_point at[4];
  uint32_t count;
};

static void add_point(struct way *way, float z, float x) { way->at[way->count++] = (struct spectrometer_point){z, x}; }

/* `track`: a VELO track of the slice. */
static void begin_way(struct way *way, const struct spectrometer_inputs *in, uint32_t track) {
  const uint32_t last = in->velo.hit_offsets[track]; /* the first one stored */
  way->count = 0;
  add_point(way, in->states.z[track], in->states.x[track]);
  if (in->velo.hit_z[last] > in->states.z[track]) add_point(way, in->velo.hit_z[last], in->velo.hit_x[last]);
}

static void cross_ut(struct way *way, const struct ut_tracks_view *ut, uint32_t track) {
  const float x = ut->x[track], tx = ut->tx[track];
  add_point(way, ut_begin, x + tx * (ut_begin - UT_MIDDLE_Z));
  add_point(way, ut_end, x + tx * (ut_end - UT_MIDDLE_Z));
}

static struct spectrometer_track judge(const struct mc_event *mc, const struct association *association,
                                       enum spectrometer_reach reach, float qop) {
  struct spectrometer_track track = {
      .kind = SPECTROMETER_UNJUDGED, .reach = reach, .p_mev = qop != 0 ? 1 / sl_abs_f32(qop) : 0};
  if (!association) return track;
  track.kind = association->match_count ? SPECTROMETER_MATCHED : SPECTROMETER_GHOST;
  if (association->match_count) track.pdg = mc->particles[association->matches[0].particle].pdg;
  return track;
}

static int take_ut_tracks(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                          const struct mc_event *mc, struct association *association) {
  const struct ut_tracks_view *ut = &in->ut;
  struct way way;
  p->found[SPECTROMETER_TO_UT].is_read = 1;
  for (uint32_t i = ut->offsets[event]; i < ut->offsets[event + 1]; i++) {
    const uint32_t velo = in->velo.offsets[event] + ut->velo_track[i];
    const uint32_t *velo_hits = in->velo.hit_offsets + velo, *ut_hits = ut->hit_offsets + i;
    const struct track_hits hits = {.in = {[MC_VELO] = {in->velo.hit_id + velo_hits[0], velo_hits[1] - velo_hits[0]},
                                           [MC_UT] = {ut->hit_id + ut_hits[0], ut_hits[1] - ut_hits[0]}}};
    if (association) association_match(association, &hits);
    const struct spectrometer_track track = judge(mc, association, SPECTROMETER_TO_UT, ut->qop[i]);
    begin_way(&way, in, velo);
    cross_ut(&way, ut, i);
    if (!spectrometer_add_found(p, &track, way.at, way.count, in->states.tx[velo])) return SL_ENOMEM;
  }
  return SL_OK;
}

int spectrometer_take_tracks(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                             const struct mc_event *mc, struct association *association) {
  return in->ut.offsets ? take_ut_tracks(p, in, event, mc, association) : SL_OK;
}
