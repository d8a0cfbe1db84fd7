/* where_velo_tracks.cu: lines without code (where.h) over VELO tracks at the beam line. */
#include "where_line.h"

#define SL_ARGS              where_velo_tracks_args
#define WHERE_VELO_TRACKS(M) LINE_OVER(M, track_states) WHERE_COMMON(M)
SL_ARGUMENTS(where_velo_tracks, WHERE_VELO_TRACKS);

static const struct where_scope where_velo_tracks_scopes[] = {
    WHERE_SCOPES_OF_CANDIDATES(struct where_velo_tracks_args, track_states)};

WHERE_LINE(where_velo_tracks, "VELO tracks that satisfy an expression in the graph", track_states, WHERE_NO_CHILDREN,
           WHERE_ALL_ARE_VALID);

#define LINES(L) L(where_velo_tracks)
LINES_OVER(track_states, LINES);
