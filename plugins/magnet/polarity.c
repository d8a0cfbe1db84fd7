/* magnet.polarity: the polarity that the property says or, without one, that of a folder's polarity.bin; where nobody
 * says anything, down, as simulated events have it.
 */
#include "io/geometry_files.h"
#include "io/statements.h"
#include "magnet/event_model.h"
#include "polarity_file.h"

#define SL_ARGS polarity_args
#define POLARITY(M)                                                                                       \
  M(FILE_IN, path, "", POLARITY_FILE, "folder with polarity.bin; empty, or a description: there is none") \
  M(ENUM, polarity, "geometry", "down, up, or that of the geometry: of the folder's file, else down",     \
    "geometry down up")                                                                                   \
  M(OUT, magnet, magnet_polarity, "the polarity")
SL_HOST_ARGUMENTS(polarity, POLARITY);

enum { OF_GEOMETRY, DOWN, UP };

static int read_polarity(const struct sl_services *s, const char *folder, float *sign) {
  struct io_geometry_file file;
  int status = io_geometry_require(s, folder, POLARITY_FILE, POLARITY_FILE_BYTES, &file);
  if (status < 0) return status;
  status = io_geometry_floats(&file, sign, 1, 1.0f, "polarity");
  if (status == SL_OK && *sign != -1.0f && *sign != 1.0f)
    status =
        io_geometry_error(&file, SL_EFORMAT, "byte 0: polarity is %g, expected -1 (down) or 1 (up)", (double)*sign);
  io_geometry_free(&file);
  return status;
}

/* A description has no polarity, but must be one: a text. */
static int check_description(const struct sl_services *s, const char *path) {
  char *text = NULL;
  size_t bytes = 0;
  int status = *path ? io_statements_text(s, path, &text, &bytes) : SL_OK;
  if (status == SL_OK && bytes > 0 && memchr(text, '\0', bytes)) {
    s->message(s->context, SL_ERROR, "%s: is no description, which is a text; of %s give the folder", path,
               POLARITY_FILE);
    status = SL_EFORMAT;
  }
  free(text);
  return status;
}

static int make(const struct sl_services *s, const struct polarity_args *args) {
  float *sign = (float *)s->make_array(s->context, "magnet", "sign", 1);
  if (!sign) return SL_ENOMEM;
  *sign = args->polarity == UP ? 1.0f : -1.0f;
  if (args->polarity != OF_GEOMETRY) return SL_OK;
  return io_geometry_is_folder(args->path) ? read_polarity(s, args->path, sign) : check_description(s, args->path);
}

SL_CONSTANT(polarity, "the magnet's polarity: as it is told, or from a file", make);
