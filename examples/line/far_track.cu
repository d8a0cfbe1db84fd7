/* far_track.cu: a selection line, which takes part in graphs as those of the plugin selections do. */
#include <selections/line.h>

#define SL_ARGS far_track_args
#define FAR_TRACK(M)                                                               \
  LINE_OVER(M, particles)                                                          \
  M(F32, min_ip, 0.3, 0.0, 100.0, "mm", "how far it passes by its primary vertex") \
  M(F32, min_pt, 1000.0, 0.0, 1e6, "MeV", "momentum across the z axis")
SL_ARGUMENTS(far_track, FAR_TRACK);

LINE(far_track, "long tracks that come from no primary vertex", particles) {
  SL_REQUIRE("IP", a->candidates.ip[i], >, a->min_ip);
  SL_REQUIRE("pt", a->candidates.pt[i], >, a->min_pt);
  return 1;
}

#define LINES(L) L(far_track)
LINES_OVER(particles, LINES);
