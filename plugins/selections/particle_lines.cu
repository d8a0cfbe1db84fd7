/* particle_lines.cu: lines over single long tracks (README.md, "Lines over tracks and events"). */
#include "selections/line.h"

/* Required lepton type (the values are bits of `leptons`), and choice of the pt. */
#define LEPTON(M)                                                     \
  M(ENUM, lepton, "any", "required lepton type", "any muon electron") \
  M(BOOL, corrected, 0, "use pt_corrected, with bremsstrahlung, instead of pt")
SL_STATIC_ASSERT(PARTICLE_IS_MUON == 1 && PARTICLE_IS_ELECTRON == 2, "choices of LEPTON are bits");

#define REQUIRE_LEPTON(a, i) \
  SL_REQUIRE_THAT("is the lepton that `lepton` requires", ((a)->candidates.leptons[i] & (a)->lepton) == (a)->lepton)

static SL_DEVICE float pt_of(const struct particles_view *particles, uint32_t i, uint32_t corrected) {
  return corrected ? particles->pt_corrected[i] : particles->pt[i];
}

/* ------------------------------------------------------------------------------------------------ track_mva */

#define SL_ARGS track_mva_args
#define TRACK_MVA(M)                                                                                       \
  LINE_OVER(M, particles)                                                                                  \
  LEPTON(M)                                                                                                \
  M(F32, max_chi2_ndof, 2.5, 0.0, 1e9, "", "maximum chi2 per degree of freedom of the track fit")          \
  M(F32, min_pt, 2000.0, 0.0, 1e9, "MeV", "minimum of pt - alpha; the curve in (pt, ip_chi2) begins here") \
  M(F32, max_pt, 26000.0, 1.0, 1e9, "MeV", "pt - alpha above which only min_ip_chi2 is required")          \
  M(F32, min_ip_chi2, 7.4, 1e-9, 1e9, "", "minimum chi2 of the impact parameter at any pt")                \
  M(F32, alpha, 296.0, -1e9, 1e9, "MeV", "shift subtracted from pt")                                       \
  M(F32, pole, 1.0, 0.0, 1e9, "GeV2",                                                                      \
    "a in the curve log(ip_chi2 / min_ip_chi2) = a / (s - min_pt)^2 + b (1 - s / max_pt), s = pt - alpha") \
  M(F32, rise, 1.248, 0.0, 1e9, "",                                                                        \
    "b in the curve log(ip_chi2 / min_ip_chi2) = a / (s - min_pt)^2 + b (1 - s / max_pt), s = pt - alpha") \
  M(F32, min_vertex_z, -341.0, -1e8, 1e9, "mm", "minimum z of the primary vertex")
SL_ARGUMENTS(track_mva, TRACK_MVA);

LINE(track_mva, "long tracks of high pt and impact parameter", particles) {
  const float pt = pt_of(&a->candidates, i, a->corrected) - a->alpha;
  SL_REQUIRE("pt - alpha", pt, >, a->min_pt);
  SL_REQUIRE("chi2/ndof", a->candidates.chi2_ndof[i], <, a->max_chi2_ndof);
  const float ip_chi2 = a->candidates.ip_chi2[i], above = (pt - a->min_pt) / 1000.0f;
  SL_REQUIRE("IP chi2", ip_chi2, >, a->min_ip_chi2);
  SL_REQUIRE("z of the primary vertex", a->candidates.vertex_z[i], >, a->min_vertex_z);
  REQUIRE_LEPTON(a, i);
  if (pt > a->max_pt) return 1;
  const float curve = a->pole / (above * above) + a->rise / a->max_pt * (a->max_pt - pt);
  SL_REQUIRE("log(IP chi2)", sl_logf(ip_chi2), >, curve + sl_logf(a->min_ip_chi2));
  return 1;
}

/* ------------------------------------------------------------------------------------------- single_high_pt */

#undef SL_ARGS
#define SL_ARGS single_high_pt_args
#define SINGLE_HIGH_PT(M)                                                                           \
  LINE_OVER(M, particles)                                                                           \
  LEPTON(M)                                                                                         \
  M(F32, min_pt, 8000.0, 0.0, 1e9, "MeV", "minimum transverse momentum")                            \
  M(F32, min_p, 6000.0, 0.0, 1e9, "MeV", "minimum momentum")                                        \
  M(F32, max_chi2_ndof, 100.0, 0.0, 1e9, "", "maximum chi2 per degree of freedom of the track fit") \
  M(F32, min_z, -341.0, -1e9, 1e9, "mm", "minimum z of the point of closest approach to the beam line")
SL_ARGUMENTS(single_high_pt, SINGLE_HIGH_PT);

LINE(single_high_pt, "long tracks of high pt", particles) {
  SL_REQUIRE("pt", pt_of(&a->candidates, i, a->corrected), >, a->min_pt);
  SL_REQUIRE("momentum", a->candidates.p[i], >, a->min_p);
  SL_REQUIRE("chi2/ndof", a->candidates.chi2_ndof[i], <, a->max_chi2_ndof);
  SL_REQUIRE("z at the beam line", a->candidates.z[i], >, a->min_z);
  REQUIRE_LEPTON(a, i);
  return 1;
}

/* ---------------------------------------------------------------------------------------------- low_pt_muon */

#undef SL_ARGS
#define SL_ARGS low_pt_muon_args
#define LOW_PT_MUON(M)                                                                              \
  LINE_OVER(M, particles)                                                                           \
  M(F32, min_ip, 4.0, 0.0, 1e9, "mm", "minimum impact parameter")                                   \
  M(F32, min_ip_chi2, 7.4, 0.0, 1e9, "", "minimum chi2 of the impact parameter")                    \
  M(F32, min_pt, 80.0, 0.0, 1e9, "MeV", "minimum transverse momentum")                              \
  M(F32, max_chi2_ndof, 100.0, 0.0, 1e9, "", "maximum chi2 per degree of freedom of the track fit") \
  M(F32, min_vertex_z, -341.0, -1e8, 1e9, "mm", "minimum z of the primary vertex")
SL_ARGUMENTS(low_pt_muon, LOW_PT_MUON);

LINE(low_pt_muon, "muons with a large impact parameter", particles) {
  SL_REQUIRE_THAT("is a muon", (a->candidates.leptons[i] & PARTICLE_IS_MUON) != 0);
  SL_REQUIRE("IP", a->candidates.ip[i], >=, a->min_ip);
  SL_REQUIRE("IP chi2", a->candidates.ip_chi2[i], >=, a->min_ip_chi2);
  SL_REQUIRE("pt", a->candidates.pt[i], >=, a->min_pt);
  SL_REQUIRE("chi2/ndof", a->candidates.chi2_ndof[i], <=, a->max_chi2_ndof);
  SL_REQUIRE("z of the primary vertex", a->candidates.vertex_z[i], >=, a->min_vertex_z);
  return 1;
}

/* ------------------------------------------------------------------------------------------- rich_alignment */

enum { PHI_EDGES = 4 };
/* Directions of the edges of the windows in phi. Cross products with the edges decide whether phi is in a window. */
struct phi_edges {
  float cosine[PHI_EDGES], sine[PHI_EDGES];
};

#undef SL_ARGS
#define SL_ARGS rich_alignment_args
#define RICH_ALIGNMENT(M)                                                                         \
  LINE_OVER(M, particles)                                                                         \
  M(F32, min_p, 30000.0, 0.0, 1e9, "MeV", "minimum momentum")                                     \
  M(F32, min_pt, 500.0, 0.0, 1e9, "MeV", "minimum transverse momentum")                           \
  M(F32, max_chi2_ndof, 2.0, 0.0, 1e9, "", "maximum chi2 per degree of freedom of the track fit") \
  M(F32, min_eta, 1.6, -20.0, 20.0, "", "minimum pseudorapidity")                                 \
  M(F32, max_eta, 2.04, -20.0, 20.0, "", "maximum pseudorapidity")                                \
  M(F32_ARRAY, phi, PHI_EDGES, "[0.5, 0.8, 2.3, 2.65]", 0.0, 3.1415927, "rad",                    \
    "begin and end of two windows in |phi|")                                                      \
  M(COMPUTED, edges, struct phi_edges, "sine and cosine of the edges of the windows in phi")
SL_ARGUMENTS(rich_alignment, RICH_ALIGNMENT);

static int rich_alignment_prepare(const struct sl_services *s, void *args) {
  struct rich_alignment_args *a = (struct rich_alignment_args *)args;
  (void)s;
  for (uint32_t k = 0; k < PHI_EDGES; k++) sl_sincosf(a->phi[k], &a->edges.sine[k], &a->edges.cosine[k]);
  return SL_OK;
}

static int rich_alignment_check(const struct sl_services *s, const void *args) {
  const struct rich_alignment_args *a = (const struct rich_alignment_args *)args;
  if (a->phi[0] < a->phi[1] && a->phi[2] < a->phi[3]) return SL_OK;
  s->message(s->context, SL_ERROR, "phi: a window must end after it begins");
  return SL_EINVAL;
}

/* `window`: index of its first edge. */
static SL_DEVICE uint32_t is_in_window(const struct rich_alignment_args *a, uint32_t i, uint32_t window) {
  const float tx = a->candidates.tx[i], ty = sl_abs_f32(a->candidates.ty[i]);
  const float after_first = a->edges.cosine[window] * ty - a->edges.sine[window] * tx;
  const float before_second = a->edges.sine[window + 1] * tx - a->edges.cosine[window + 1] * ty;
  return after_first > 0.0f && before_second > 0.0f ? 1u : 0u;
}

LINE_WITH(rich_alignment, "tracks of high momentum for the alignment of the RICH mirrors", particles,
          rich_alignment_check, rich_alignment_prepare) {
  SL_REQUIRE("momentum", a->candidates.p[i], >=, a->min_p);
  SL_REQUIRE("pt", a->candidates.pt[i], >=, a->min_pt);
  SL_REQUIRE("chi2/ndof", a->candidates.chi2_ndof[i], <=, a->max_chi2_ndof);
  SL_REQUIRE("eta", a->candidates.eta[i], >, a->min_eta);
  SL_REQUIRE("eta", a->candidates.eta[i], <, a->max_eta);
  SL_EXPLAIN_VALUE("tx", a->candidates.tx[i]);
  SL_EXPLAIN_VALUE("ty", a->candidates.ty[i]);
  SL_REQUIRE_THAT("|phi| is in a window of `phi`", is_in_window(a, i, 0) || is_in_window(a, i, 2));
  return 1;
}

#define LINES(L) L(track_mva) L(single_high_pt) L(low_pt_muon) L(rich_alignment)
LINES_OVER(particles, LINES);
