/* spectrometer_found.c: see spectrometer_found.h. The line of a track goes through:
 *   1. its closest approach to the beam, and its last hit in the VELO;
 *   2. in the UT, the straight line of its UT state in x, and that of the VELO in y;
 *   3. in the SciFi, its hits in x layers, or the straight line of its state if these hits are not connected;
 *   4. if it is identified as a muon, the last muon chamber.
 * A track that continues is drawn once: a VELO track of a VELO-UT or long track, a VELO-UT track of a long track, and
 * a seed with the hits of a long track are not drawn. A track is a ghost if it matches no particle (association.h). */
#include "spectrometer_found.h"

#include "association/mc_banks.h"
#include "checks/track_check.h"

#include <sluice/math.h>

#include <string.h>

static const float ut_begin = 2320, ut_end = 2650; /* mm, outside of the first and the last layer */
static const float scifi_begin = 7826, scifi_state = 9410, muons_end = 19100;

/* Points of a line. */
struct track_line {
  struct spectrometer_point at[6 + SCIFI_TRACK_HITS_MAX];
  uint32_t count;
};

static void add_point(struct track_line *track_line, float z, float x, float y) {
  track_line->at[track_line->count++] = (struct spectrometer_point){z, {x, y}};
}

/* `track`: a VELO track of the slice. Its hits are stored by descending z. */
static void begin_line(struct track_line *track_line, const struct spectrometer_inputs *in, uint32_t track) {
  const uint32_t last = in->velo.hit_offsets[track];
  track_line->count = 0;
  add_point(track_line, in->states.z[track], in->states.x[track], in->states.y[track]);
  if (in->velo.hit_z[last] > in->states.z[track])
    add_point(track_line, in->velo.hit_z[last], in->velo.hit_x[last], in->velo.hit_y[last]);
}

/* y of a VELO track, extrapolated to z. */
static float y_of_velo(const struct track_states_view *states, uint32_t track, float z) {
  return states->y[track] + states->ty[track] * (z - states->z[track]);
}

static void cross_ut(struct track_line *track_line, const struct spectrometer_inputs *in, uint32_t track,
                     uint32_t velo) {
  const float x = in->ut.x[track], tx = in->ut.tx[track], ends[2] = {ut_begin, ut_end};
  for (int i = 0; i < 2; i++)
    add_point(track_line, ends[i], x + tx * (ends[i] - UT_MIDDLE_Z), y_of_velo(&in->states, velo, ends[i]));
}

/* State after the SciFi, and hits there, of a long track or a seed. */
struct scifi_part {
  float x, y, tx, ty;
  const uint32_t *ids;
  uint32_t count;
};

static void add_on_state(struct track_line *track_line, const struct scifi_part *part, float z) {
  const float dz = z - scifi_state;
  add_point(track_line, z, part->x + part->tx * dz, part->y + part->ty * dz);
}

static void cross_scifi(struct track_line *track_line, const struct spectrometer_hits *known,
                        const struct scifi_part *part) {
  const uint32_t before = track_line->count;
  for (uint32_t i = 0; i < part->count && i < SCIFI_TRACK_HITS_MAX; i++) {
    const struct spectrometer_hit *hit = spectrometer_find_hit(known, part->ids[i]);
    if (hit) add_point(track_line, hit->z, hit->at[SPECTROMETER_X], part->y + part->ty * (hit->z - scifi_state));
  }
  if (track_line->count == before) add_on_state(track_line, part, scifi_begin);
  add_on_state(track_line, part, scifi_state);
}

/* Matches a track and adds it. */
static int add_track(struct spectrometer *p, struct association *association, const struct track_hits *hits,
                     struct spectrometer_track track, const struct track_line *track_line, float origin_slope) {
  if (association) {
    association_match(association, hits);
    track.is_ghost = association->match_count == 0;
  }
  return spectrometer_add_found(p, &track, track_line->at, track_line->count, origin_slope) ? SL_OK : SL_ENOMEM;
}

static float momentum(float qop) { return qop != 0 ? 1 / sl_abs_f32(qop) : 0; }

/* Clears the flags of `count` tracks. */
static int begin_extended(struct spectrometer *p, uint32_t count) {
  if (!mc_reserve((void **)&p->is_extended, &p->extended_capacity, count, sizeof *p->is_extended)) return SL_ENOMEM;
  if (count > 0) memset(p->is_extended, 0, count);
  return SL_OK;
}

/* Flags the items of an event that tracks of another collection refer to; `track_count` items, FORWARD_NO_TRACK: none.
 */
static void flag_extended(struct spectrometer *p, const uint32_t *offsets, const uint32_t *indices, uint32_t event,
                          uint32_t track_count) {
  if (!offsets) return;
  for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++)
    if (indices[i] < track_count) p->is_extended[indices[i]] = 1;
}

static int take_velo_tracks(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                            struct association *association) {
  const uint32_t first = in->velo.offsets[event], count = in->velo.offsets[event + 1] - first;
  if (begin_extended(p, count)) return SL_ENOMEM;
  flag_extended(p, in->ut.offsets, in->ut.velo_track, event, count);
  flag_extended(p, in->longs.offsets, in->longs.velo_track, event, count);
  p->kinds[SPECTROMETER_FOUND_VELO].is_read = 1;
  int status = SL_OK;
  for (uint32_t i = 0; i < count && status == SL_OK; i++) {
    const struct track_hits hits = {.in = {[MC_VELO] = velo_hits_of(&in->velo, event, i)}};
    const struct spectrometer_track track = {.kind = SPECTROMETER_FOUND_VELO, .is_extended = p->is_extended[i]};
    const uint32_t end = in->velo.hit_offsets[first + i + 1] - 1;
    struct track_line track_line;
    begin_line(&track_line, in, first + i);
    if (in->velo.hit_z[end] < in->states.z[first + i])
      add_point(&track_line, in->velo.hit_z[end], in->velo.hit_x[end], in->velo.hit_y[end]);
    status = add_track(p, association, &hits, track, &track_line, in->states.tx[first + i]);
  }
  return status;
}

static int take_ut_tracks(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                          struct association *association) {
  const struct ut_tracks_view *ut = &in->ut;
  const uint32_t first = ut->offsets[event], count = ut->offsets[event + 1] - first;
  if (begin_extended(p, count)) return SL_ENOMEM;
  flag_extended(p, in->longs.offsets, in->longs.ut_track, event, count);
  p->kinds[SPECTROMETER_FOUND_UT].is_read = 1;
  int status = SL_OK;
  for (uint32_t i = 0; i < count && status == SL_OK; i++) {
    const uint32_t velo = in->velo.offsets[event] + ut->velo_track[first + i];
    const struct track_hits hits = {
        .in = {
            [MC_VELO] = velo_hits_of(&in->velo, event, ut->velo_track[first + i]), [MC_UT] = ut_hits_of(ut, event, i)}};
    const struct spectrometer_track track = {
        .kind = SPECTROMETER_FOUND_UT, .is_extended = p->is_extended[i], .p_mev = momentum(ut->qop[first + i])};
    struct track_line track_line;
    begin_line(&track_line, in, velo);
    cross_ut(&track_line, in, first + i, velo);
    status = add_track(p, association, &hits, track, &track_line, in->states.tx[velo]);
  }
  return status;
}

/* Does a long track of the event have exactly the seed's hits? */
static int is_matched_seed(const struct spectrometer_inputs *in, uint32_t event, const struct hit_ids *seed) {
  const struct long_tracks_view *longs = &in->longs;
  if (!longs->offsets) return 0;
  for (uint32_t i = longs->offsets[event]; i < longs->offsets[event + 1]; i++) {
    const uint32_t first = longs->hit_offsets[i];
    if (longs->hit_offsets[i + 1] - first == seed->count &&
        memcmp(longs->hit_id + first, seed->ids, seed->count * sizeof *seed->ids) == 0)
      return 1;
  }
  return 0;
}

static int take_seeds(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                      struct association *association) {
  const struct seeds_view *seeds = &in->seeds;
  int status = SL_OK;
  p->kinds[SPECTROMETER_FOUND_SEED].is_read = 1;
  for (uint32_t i = seeds->offsets[event]; i < seeds->offsets[event + 1] && status == SL_OK; i++) {
    const uint32_t first = seeds->hit_offsets[i];
    const struct hit_ids ids = {seeds->hit_id + first, seeds->hit_offsets[i + 1] - first};
    const struct track_hits hits = {.in = {[MC_SCIFI] = ids}};
    const struct scifi_part part = {seeds->x[i], seeds->y[i], seeds->tx[i], seeds->ty[i], ids.ids, ids.count};
    const struct spectrometer_track track = {.kind = SPECTROMETER_FOUND_SEED,
                                             .is_extended = (uint32_t)is_matched_seed(in, event, &ids),
                                             .p_mev = momentum(seeds->qop[i])};
    struct track_line track_line = {.count = 0};
    cross_scifi(&track_line, &p->hits[SPECTROMETER_SCIFI], &part);
    status = add_track(p, association, &hits, track, &track_line, part.tx);
  }
  return status;
}

static int take_long_tracks(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                            struct association *association) {
  const struct long_tracks_view *longs = &in->longs;
  const uint32_t event_first = longs->offsets[event];
  int status = SL_OK;
  p->kinds[SPECTROMETER_FOUND_LONG].is_read = 1;
  for (uint32_t i = event_first; i < longs->offsets[event + 1] && status == SL_OK; i++) {
    const uint32_t velo = in->velo.offsets[event] + longs->velo_track[i], ut_track = longs->ut_track[i];
    const struct track_hits hits = long_track_hits(longs, i, &in->velo, &in->ut, event);
    const struct scifi_part part = {longs->x[i],  longs->y[i],           longs->tx[i],
                                    longs->ty[i], hits.in[MC_SCIFI].ids, hits.in[MC_SCIFI].count};
    struct spectrometer_track track = {.kind = SPECTROMETER_FOUND_LONG,
                                       .is_muon = in->is_muon && in->is_muon[i],
                                       .has_exit = 1,
                                       .exit_slope = {part.tx, part.ty},
                                       .p_mev = momentum(longs->qop[i])};
    struct track_line track_line;
    if (i - event_first < p->candidate_count) {
      track.first_line = p->candidates[i - event_first].first_line;
      track.lines = p->candidates[i - event_first].lines;
    }
    begin_line(&track_line, in, velo);
    if (in->ut.offsets && ut_track != FORWARD_NO_TRACK)
      cross_ut(&track_line, in, in->ut.offsets[event] + ut_track, velo);
    cross_scifi(&track_line, &p->hits[SPECTROMETER_SCIFI], &part);
    if (track.is_muon) {
      add_on_state(&track_line, &part, muons_end);
      track.has_exit = 0;
    }
    status = add_track(p, association, &hits, track, &track_line, in->states.tx[velo]);
  }
  return status;
}

int spectrometer_take_tracks(struct spectrometer *p, const struct spectrometer_inputs *in, uint32_t event,
                             struct association *association) {
  int status = take_velo_tracks(p, in, event, association);
  if (status == SL_OK && in->ut.offsets) status = take_ut_tracks(p, in, event, association);
  if (status == SL_OK && in->seeds.offsets) status = take_seeds(p, in, event, association);
  if (status == SL_OK && in->longs.offsets) status = take_long_tracks(p, in, event, association);
  return status;
}
