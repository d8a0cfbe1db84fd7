/* where_particles.cu: lines without code (where.h) over long tracks. */
#include "where_line.h"

#define SL_ARGS            where_particles_args
#define WHERE_PARTICLES(M) LINE_OVER(M, particles) WHERE_COMMON(M)
SL_ARGUMENTS(where_particles, WHERE_PARTICLES);

static const struct where_scope where_particles_scopes[] = {
    WHERE_SCOPES_OF_CANDIDATES(struct where_particles_args, particles)};

WHERE_LINE(where_particles, "long tracks that satisfy an expression in the graph", particles, WHERE_NO_CHILDREN,
           WHERE_ALL_ARE_VALID);

#define LINES(L) L(where_particles)
LINES_OVER(particles, LINES);
