/* where_jets.cu: lines without code (where.h) over jets. */
#include "where_line.h"

#define SL_ARGS       where_jets_args
#define WHERE_JETS(M) LINE_OVER(M, jets) WHERE_COMMON(M)
SL_ARGUMENTS(where_jets, WHERE_JETS);

static const struct where_scope where_jets_scopes[] = {WHERE_SCOPES_OF_CANDIDATES(struct where_jets_args, jets)};

WHERE_LINE(where_jets, "jets that satisfy an expression in the graph", jets, WHERE_NO_CHILDREN, WHERE_ALL_ARE_VALID);

#define LINES(L) L(where_jets)
LINES_OVER(jets, LINES);
