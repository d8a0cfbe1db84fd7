/* where_stubs.cu: lines without code (where.h) over muon stubs, which are found in the muon chambers alone. */
#include "muon/event_model.h"
#include "where_line.h"

#define SL_ARGS        where_stubs_args
#define WHERE_STUBS(M) LINE_OVER(M, muon_stubs) WHERE_COMMON(M)
SL_ARGUMENTS(where_stubs, WHERE_STUBS);

static const struct where_scope where_stubs_scopes[] = {
    WHERE_SCOPES_OF_CANDIDATES(struct where_stubs_args, muon_stubs)};

WHERE_LINE(where_stubs, "muon stubs that satisfy an expression in the graph", muon_stubs, WHERE_NO_CHILDREN,
           WHERE_ALL_ARE_VALID);

#define LINES(L) L(where_stubs)
LINES_OVER(muon_stubs, LINES);
