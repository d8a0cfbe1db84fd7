/* stub_lines.cu: lines over muon stubs, which are found in the muon chambers alone (README.md, "Lines over tracks and
 * events"). */
#include "muon/event_model.h"
#include "selections/line.h"

#define SL_ARGS one_muon_stub_args
#define ONE_MUON_STUB(M)                                                                            \
  LINE_OVER(M, muon_stubs)                                                                          \
  M(F32, max_chi2_x, 1.0, 0.0, 1e9, "", "maximum chi2 per degree of freedom of the fit in x and z") \
  M(F32, max_chi2_y, 0.3, 0.0, 1e9, "", "maximum chi2 per degree of freedom of the fit in y and z")
SL_ARGUMENTS(one_muon_stub, ONE_MUON_STUB);

LINE(one_muon_stub, "muon stubs with a good straight-line fit", muon_stubs) {
  SL_REQUIRE("chi2/ndof in x", a->candidates.chi2_x[i], <, a->max_chi2_x);
  SL_REQUIRE("chi2/ndof in y", a->candidates.chi2_y[i], <, a->max_chi2_y);
  return 1;
}

#define LINES(L) L(one_muon_stub)
LINES_OVER(muon_stubs, LINES);
