/* magnet.polarity: the polarity of the magnet: from the property, else from polarity.bin in a folder, else down, as in
 * simulated events. magnet.polarity_sink writes polarity.bin.
 */
#include "geometry/files.h"
#include "geometry/sink.h"
#include "geometry/statements.h"
#include "magnet/event_model.h"

#include <stdlib.h>
#include <string.h>

#define FILES "polarity.bin"

static int is_sign(double value) { return value == -1 || value == 1; }
static const struct geometry_field fields[] = {GEOMETRY_ARRAY(magnet_polarity, sign, f32, 1, -1, 1, "polarity",
                                                              .accepts = is_sign, .expected = "-1 (down) or 1 (up)")};
static const struct geometry_layout files[] = {{"polarity.bin", GEOMETRY_FIELDS(fields)}, {0}};

#define SL_ARGS polarity_args
#define POLARITY(M)                                                                                     \
  M(FILE_IN, path, "", FILES, "folder with polarity.bin; empty or a description file: no file")         \
  M(ENUM, polarity, "geometry", "polarity of the magnet; geometry: from polarity.bin, down without it", \
    "geometry down up")                                                                                 \
  M(OUT, magnet, magnet_polarity, "polarity of the magnet")
SL_HOST_ARGUMENTS(polarity, POLARITY);

enum { OF_GEOMETRY, DOWN, UP };

/* A description has no polarity, but it must be a text file. */
static int check_description(const struct sl_services *s, const char *path) {
  char *text = NULL;
  size_t bytes = 0;
  int status = *path ? statements_text(s, path, &text, &bytes) : SL_OK;
  if (status == SL_OK && bytes > 0 && memchr(text, '\0', bytes)) {
    s->message(s->context, SL_ERROR, "%s: is not a description, which is a text file; for " FILES " give the folder",
               path);
    status = SL_EFORMAT;
  }
  free(text);
  return status;
}

static int make(const struct sl_services *s, const struct polarity_args *args) {
  struct magnet_polarity m = {0};
  int status = geometry_make(files, s, "magnet", &m);
  if (status < 0) return status;
  *m.sign = args->polarity == UP ? 1.0f : -1.0f;
  if (args->polarity != OF_GEOMETRY) return SL_OK;
  return geometry_is_folder(args->path) ? geometry_read(files, s, "magnet", args->path, &m)
                                        : check_description(s, args->path);
}

SL_CONSTANT(polarity, "polarity of the magnet: from the property or from a file", make);

#undef SL_ARGS
#define SL_ARGS polarity_sink_args
#define SINK(M) GEOMETRY_SINK_ARGUMENTS(M, magnet, magnet_polarity, FILES)
SL_HOST_ARGUMENTS(polarity_sink, SINK);
GEOMETRY_SINK_CONSUME(polarity_sink, magnet)
GEOMETRY_SINK(polarity_sink, "writes the polarity as a file that magnet.polarity reads", files);
