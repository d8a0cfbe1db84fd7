/* particle_lines.cu: lines that judge long tracks one by one (README.md, "Lines"). */
#include "selections/line.h"

/* ------------------------------------------------------------------------------------------------ track_mva */

#define SL_ARGS track_mva_args
#define TRACK_MVA(M)                                                                                  \
  LINE_OVER(M, particles)                                                                             \
  M(F32, max_chi2_ndof, 2.5, 0.0, 1e9, "", "of the track's fit")                                      \
  M(F32, min_pt, 2000.0, 0.0, 1e9, "MeV", "less alpha: where the curve begins")                       \
  M(F32, max_pt, 26000.0, 0.0, 1e9, "MeV", "less alpha: where it ends, and min_ip_chi2 is asked for") \
  M(F32, min_ip_chi2, 7.4, 1e-9, 1e9, "", "from max_pt on")                                           \
  M(F32, alpha, 296.0, -1e9, 1e9, "MeV", "what is taken off pt")                                      \
  M(F32, min_vertex_z, -341.0, -1e9, 1e9, "mm", "of the primary vertex")
SL_ARGUMENTS(track_mva, TRACK_MVA);

LINE(track_mva, "long tracks of high pt and impact parameter", particles) {
  const float pt = a->candidates.pt[i] - a->alpha, ip_chi2 = a->candidates.ip_chi2[i], least = a->min_ip_chi2;
  if (!(a->candidates.chi2_ndof[i] < a->max_chi2_ndof && a->candidates.vertex_z[i] > a->min_vertex_z)) return 0;
  if (pt > a->max_pt) return ip_chi2 > least;
  if (!(pt > a->min_pt && ip_chi2 > 0.0f)) return 0;
  const float over = (pt - a->min_pt) / 1000.0f;
  return sl_logf(ip_chi2) > 1.0f / (over * over) + 1.248f / a->max_pt * (a->max_pt - pt) + sl_logf(least);
}

#define LINES(L) L(track_mva)
LINES_OVER(particles, LINES);
