/* vertex_pair_lines.cu: lines over pairs of secondary vertices (README.md, "Lines over pairs"). */
#include "lines/ks.h"

#define SL_ARGS two_ks_args
#define TWO_KS(M)                                                                                \
  LINE_OVER(M, vertex_pairs)                                                                     \
  M(IN, secondary_vertices, secondary_vertices, "", "secondary vertices of the candidate pairs") \
  M(IN, particles, particles, "offsets p ip", "particles of the secondary vertices")             \
  KS_REQUIREMENTS(M, 1150.0, 425.0, 3000.0, 15.0, 0.23)                                          \
  M(F32, min_chi2, 0.0, -1e9, 1e9, "", "chi2 of both vertex fits must be above this")
SL_ARGUMENTS(two_ks, TWO_KS);

KS_FUNCTION(two_ks_is_ks, struct two_ks_args)

LINE(two_ks, "pairs of Ks that decay into two pions", vertex_pairs) {
  const struct secondary_vertices_view *vertices = &a->secondary_vertices;
  const uint32_t first = vertices->offsets[event] + a->candidates.first[i];
  const uint32_t second = vertices->offsets[event] + a->candidates.second[i];
  SL_REQUIRE("chi2 of the first vertex", vertices->chi2[first], >, a->min_chi2);
  SL_REQUIRE("chi2 of the second vertex", vertices->chi2[second], >, a->min_chi2);
  SL_EXPLAIN_VALUE("requirements of the first vertex", a->candidates.first[i]);
  if (!two_ks_is_ks(a, vertices, event, first, explanation)) return 0;
  SL_EXPLAIN_VALUE("requirements of the second vertex", a->candidates.second[i]);
  return two_ks_is_ks(a, vertices, event, second, explanation);
}

#define LINES(L) L(two_ks)
LINES_OVER(vertex_pairs, LINES);
