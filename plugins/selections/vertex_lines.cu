/* vertex_lines.cu: lines over pairs of particles (README.md, "Lines over pairs"). */
#include "lines/electrons.h"
#include "lines/hadrons.h"
#include "lines/muons.h"
#include "lines/strange.h"

#define LINES(L)     \
  L(two_track_mva)   \
  L(two_track_charm) \
  L(two_body_decay)  \
  L(ks_to_pipi)      \
  L(two_track_ks)    \
  L(lambda_to_ppi)   \
  L(dimuon)          \
  L(dimuon_soft)     \
  L(dimuon_no_ip)    \
  L(drell_yan)       \
  L(dielectron)
LINES_OVER(secondary_vertices, LINES);
