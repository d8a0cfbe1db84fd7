/* spectrometer_found.c: see spectrometer_found.h. The line of a track goes through:
 *   1. its closest approach to the beam, and its last hit in the VELO;
 *   2. in the UT, the straight line of its UT state;
 *   3. in the SciFi, its hits in x layers, or the straight line of its state if these hits are not connected;
 *   4. if it is identified as a muon, the last muon chamber.
 * A track is a ghost if it matches no particle (association.h). */
#include "spectrometer_found.h"

#include "checks/track_check.h"

#include <sluice/math.h>

static const float ut_begin = 2320, ut_end = 2650; /* mm, outside of the first and the last layer */
static const float scifi_begin = 7826, scifi_state = 9410, muons_end = 19100;

/* Points of a line. */
struct track_line {
  struct spectrometer_point at[6 + SCIFI_TRACK_HITS_MAX];
  uint32_t count;
};

static void add_point(struct track_line *track_line, float z, float x) {
  track_line->at[track_line->count++] = (struct spectrometer_point){z, x};
}

/* `track`: a VELO track of the slice. */
static void begin_line(struct track_line *track_line, const struct spectrometer_inputs *in, uint32_t track) {
  const uint32_t last = in->velo.hit_offsets[track]; /* hits are stored by descending z */
  track_line->count = 0;
  add_point(track_line, in->states.z[track], in->states.x[track]);
  if (in->velo.hit_z[last] > in->states.z[track]) add_point(track_line, in->velo.hit_z[last], in->velo.hit_x[last]);
}

static void cross_ut(struct track_line *track_line, const struct ut_tracks_view *ut, uint32_t track) {
  const float x = ut->x[track], tx = ut->tx[track];
  add_point(track_line, ut_begin, x + tx * (ut_begin - UT_MIDDLE_Z));
  add_point(track_line, ut_end, x + tx * (ut_end - UT_MIDDLE_Z));
}

static void cross_scifi(struct track_line *track_line, const struct spectrometer_hits *known,
                        const struct long_tracks_view *longs, uint32_t track) {
  const float x = longs->x[track], tx = longs->tx[track];
  const uint32_t first = longs->hit_offsets[track], all = longs->hit_offsets[track + 1] - first;
  const uint32_t before = track_line->count, count = all < SCIFI_TRACK_HITS_MAX ? all : SCIFI_TRACK_HITS_MAX;
  for (uint32_t i = 0; i < count; i++) {
    const struct spectrometer_hit *hit = spectrometer_find_hit(known, longs->hit_id[first + i]);
    if (hit) add_point(track_line, hit->z, hit->x);
  }
  if (track_line->count == before) add_point(track_line, scifi_begin, x + tx * (scifi_begin - scifi_state));
  add_point(track_line, scifi_state, x);
}

/* Matches a track and adds it. */
static int add_track(struct spectrometer *p, struct association *association, const struct track_hits *hits,
                     struct spectrometer_track track, const struct track_line *track_line, float origin_slope) {
  track.kind = SPECTROMETER_UNJUDGED;
  if (association) {
    association_match(association, hits);
    track.kind = association->match_count ? SPECTROMETER_MATCHED : SPECTROMETER_GHOST;
  }
  return spectrometer_add_found(p, &track, track_line->at, track_line->count, origin_slope) ? SL_OK : SL_ENOMEM;
}

static float momentum(float qop) { return qop != 0 ? 1 / sl_abs_f32(qop) : 0; }

static int take_ut_tracks(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                          struct association *association) {
  const struct ut_tracks_view *ut = &in->ut;
  int status = SL_OK;
  p->found[SPECTROMETER_TO_UT].is_read = 1;
  for (uint32_t i = ut->offsets[event]; i < ut->offsets[event + 1] && status == SL_OK; i++) {
    const uint32_t velo = in->velo.offsets[event] + ut->velo_track[i];
    const struct track_hits hits = {.in = {[MC_VELO] = velo_hits_of(&in->velo, event, ut->velo_track[i]),
                                           [MC_UT] = ut_hits_of(ut, event, i - ut->offsets[event])}};
    const struct spectrometer_track track = {.end = SPECTROMETER_TO_UT, .p_mev = momentum(ut->qop[i])};
    struct track_line track_line;
    begin_line(&track_line, in, velo);
    cross_ut(&track_line, ut, i);
    status = add_track(p, association, &hits, track, &track_line, in->states.tx[velo]);
  }
  return status;
}

static int take_long_tracks(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                            struct association *association) {
  const struct long_tracks_view *longs = &in->longs;
  int status = SL_OK;
  p->found[SPECTROMETER_TO_SCIFI].is_read = 1;
  for (uint32_t i = longs->offsets[event]; i < longs->offsets[event + 1] && status == SL_OK; i++) {
    const uint32_t velo = in->velo.offsets[event] + longs->velo_track[i], ut_track = longs->ut_track[i];
    const struct track_hits hits = long_track_hits(longs, i, &in->velo, &in->ut, event);
    const struct spectrometer_track track = {.end = SPECTROMETER_TO_SCIFI, .p_mev = momentum(longs->qop[i])};
    struct track_line track_line;
    begin_line(&track_line, in, velo);
    if (in->ut.offsets && ut_track != FORWARD_NO_TRACK)
      cross_ut(&track_line, &in->ut, in->ut.offsets[event] + ut_track);
    cross_scifi(&track_line, &p->hits[SPECTROMETER_SCIFI], longs, i);
    if (in->is_muon && in->is_muon[i]) {
      add_point(&track_line, muons_end, longs->x[i] + longs->tx[i] * (muons_end - scifi_state));
      p->found[SPECTROMETER_TO_SCIFI].muons++;
    }
    status = add_track(p, association, &hits, track, &track_line, in->states.tx[velo]);
  }
  return status;
}

int spectrometer_take_tracks(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                             struct association *association) {
  int status = SL_OK;
  if (in->ut.offsets) status = take_ut_tracks(p, in, event, association);
  if (status == SL_OK && in->longs.offsets) status = take_long_tracks(p, in, event, association);
  return status;
}
