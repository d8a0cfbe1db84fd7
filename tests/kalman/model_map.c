/* model_map.c: see model_map.h. */
#include "model_map.h"

#include "support.h"

#include <math.h>

void model_map(double h, int is_quadrant, struct field_map *map) {
  const double x_max = 3400, y_max = 2800, z_min = 600, z_max = 9600; /* multiples of 200 mm */
  const double x_min = is_quadrant ? 0 : -x_max, y_min = is_quadrant ? 0 : -y_max;
  const int nx = (int)((x_max - x_min) / h) + 1, ny = (int)((y_max - y_min) / h) + 1,
            nz = (int)((z_max - z_min) / h) + 1;
  const double field_max = 5; /* T: there are lines of charge outside of the aperture */
  char reason[256] = "";
  FILE *file = tmpfile();
  assert_non_null(file);
  fprintf(file, "field_map 1\naxis x %g %g %d\naxis y %g %g %d\naxis z %g %g %d\nsymmetry %s\n", x_min, x_max, nx,
          y_min, y_max, ny, z_min, z_max, nz, is_quadrant ? "quadrant" : "none");
  for (int k = 0; k < nz; k++)
    for (int j = 0; j < ny; j++)
      for (int i = 0; i < nx; i++) {
        const double position[3] = {x_min + i * h, y_min + j * h, z_min + k * h};
        double b[3];
        assert_int_equal(field_at(NULL, position, b), 1);
        for (int c = 0; c < 3; c++) b[c] = fmax(-field_max, fmin(field_max, b[c]));
        fprintf(file, "field %.12f %.12f %.12f\n", b[0], b[1], b[2]);
      }
  rewind(file);
  const uint32_t line = field_map_read(file, map, reason, sizeof reason);
  if (line != 0) fail_msg("%u: %s", line, reason);
  fclose(file);
}
