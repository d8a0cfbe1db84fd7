/* main.c: calibrate: derives the constants of the reconstruction from simulated tracks, and compares constants.
 *     calibrate derive FILE [SHOTS]                derives constants from SHOTS tracks of each sample (50000), writes
 *                                                  FILE
 *     calibrate closure NOMINAL LHCB [SHOTS]       prints a Markdown table that compares both with tracks
 *     calibrate kalman FILE [SHOTS] [--field MAP]  derives the transport of plugins/kalman from SHOTS tracks (60000) in
 *                                                  the field of the simulation or of a map, writes FILE, and prints a
 *                                                  Markdown table that compares it with other tracks
 * The same SHOTS give the same bytes. scripts/calibrate calls all of them. */
#include "calibration/read.h"
#include "closure.h"
#include "fit.h"
#include "kalman_fit.h"
#include "write.h"

#include <sluice/sluice.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOTS = 50000, KALMAN_SHOTS = 60000, SEED = 1, TEST_SEED = 2 };

static void print_message(void *context, uint32_t severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void print_message(void *context, uint32_t severity, const char *format, ...) {
  va_list arguments;
  (void)context;
  (void)severity;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\n");
}

static const struct sl_services services = {.message = print_message};

static int load(const char *path, struct calibration *c) { return calibration_load_path(&services, path, c); }

static int write_text(const char *path, const char *text, size_t bytes) {
  struct sl_diagnostics *messages = sl_diagnostics_new();
  const int status = messages ? sl_write_file(path, text, bytes, messages) : SL_ENOMEM;
  for (size_t i = 0; messages && i < sl_diagnostics_count(messages); i++)
    sl_diagnostic_print(sl_diagnostics_at(messages, i), stderr);
  sl_diagnostics_free(messages);
  return status;
}

/* ------------------------------------------------------------------------------------------------ derivation */

static int shoot_all(struct derivation *d, uint32_t shots) {
  const struct gun_settings exact = {GUN_EXACT, SEED, 2500, 1e5, 2, 5, 60, 0};
  const struct gun_settings ut = {GUN_EXACT, SEED + 100, 2500, 1e5, 1.7, 5, 120, 1};
  const struct gun_settings simulated = {GUN_SIMULATED, SEED + 200, 3000, 1e5, 2, 5, 60, 0};
  int status = gun_shoot(&exact, shots, &d->exact);
  if (status == SL_OK) status = gun_shoot(&ut, shots, &d->ut);
  return status == SL_OK ? gun_shoot(&simulated, shots, &d->simulated) : status;
}

static int derive_all(struct derivation *d) {
  derive_begin(d->c);
  int status = derive_ut(d);
  if (status == SL_OK) status = derive_forward(d);
  if (status == SL_OK) status = derive_seeding(d);
  return status == SL_OK ? derive_matching(d) : status;
}

static int write_constants(const char *path, const struct derivation *d, uint32_t shots) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *file = open_memstream(&text, &bytes);
  int status = file ? SL_OK : SL_ENOMEM;
  if (file) {
    fprintf(file,
            "# Constants of the reconstruction for simulated events; made by scripts/calibrate from %u shots of each\n"
            "# sample. README.md has the meaning of each.\n",
            shots);
    calibration_write(file, d);
    if (fclose(file) != 0) status = SL_ENOMEM;
  }
  if (status == SL_OK) status = write_text(path, text, bytes);
  free(text);
  return status;
}

static int derive(const char *path, uint32_t shots) {
  struct calibration *c = (struct calibration *)calloc(1, sizeof *c);
  struct derivation d = {.c = c};
  int status = c ? shoot_all(&d, shots) : SL_ENOMEM;
  if (status == SL_OK) status = derive_all(&d);
  if (status == SL_OK) status = write_constants(path, &d, shots);
  printf("%u exact, %u UT and %u simulated tracks; terms that symmetry forbids are 0 within %.1f errors\n",
         d.exact.count, d.ut.count, d.simulated.count, d.worst_forbidden);
  free(d.exact.tracks);
  free(d.ut.tracks);
  free(d.simulated.tracks);
  free(c);
  return status;
}

/* --------------------------------------------------------------------------------------------------- closure */

/* A column of the table: constants, and the kind of tracks. */
struct column {
  const char *title;
  uint32_t is_lhcb;
  enum gun_kind kind;
};
static const struct column columns[] = {
    {"LHCb's constants, tracks as LHCb has them", 1, GUN_DETECTOR},
    {"LHCb's constants, exact simulated tracks", 1, GUN_EXACT},
    {"nominal constants, exact simulated tracks", 0, GUN_EXACT},
    {"LHCb's constants, with material and errors", 1, GUN_SIMULATED},
    {"nominal constants, with material and errors", 0, GUN_SIMULATED},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Escapes bars, which would end the cell. */
static void print_name(const struct closure_row *row) {
  printf("| ");
  for (const char *c = row->name; *c; c++) printf(*c == '|' ? "\\%c" : "%c", *c);
  printf("%s%s ", row->unit[0] ? ", " : "", row->unit);
}

static void print_row(const struct closure *closures, uint32_t row) {
  print_name(&closures[0].rows[row]);
  for (int k = 0; k < COLUMNS; k++) {
    const struct closure_row *r = &closures[k].rows[row];
    if (r->is_window) {
      printf("| %.1f %% inside ", 100 * r->inside);
    } else {
      printf("| %+.3g, %.3g ", r->median, r->width);
    }
  }
  printf("|\n");
}

static int compare(const struct calibration *nominal, const struct calibration *lhcb, uint32_t shots) {
  static struct closure closures[COLUMNS];
  int status = SL_OK;
  for (int k = 0; k < COLUMNS && status == SL_OK; k++) {
    const struct gun_settings settings = {columns[k].kind, TEST_SEED, 3000, 1e5, 2, 4.9, 60, 0};
    struct gun_sample sample;
    status = gun_shoot(&settings, shots, &sample);
    if (status == SL_OK) status = closure_measure(columns[k].is_lhcb ? lhcb : nominal, &sample, &closures[k]);
    free(sample.tracks);
  }
  if (status < 0) return status;
  printf("| median, width |");
  for (int k = 0; k < COLUMNS; k++) printf(" %s |", columns[k].title);
  printf("\n| --- |");
  for (int k = 0; k < COLUMNS; k++) printf(" --- |");
  printf("\n");
  for (uint32_t i = 0; i < closures[0].count; i++) print_row(closures, i);
  return SL_OK;
}

static int closure(const char *nominal_path, const char *lhcb_path, uint32_t shots) {
  struct calibration *both = (struct calibration *)calloc(2, sizeof *both);
  int status = both ? load(nominal_path, &both[0]) : SL_ENOMEM;
  if (status == SL_OK) status = load(lhcb_path, &both[1]);
  if (status == SL_OK) status = compare(&both[0], &both[1], shots);
  free(both);
  return status;
}

/* ------------------------------------------------------------------------------------- transport of tracks */

/* Writes the constants, and replaces them by what the file contains. */
static int write_transport(const char *path, const struct field_map *map, uint32_t shots,
                           struct kalman_description *d) {
  char *text = NULL, reason[256] = "";
  size_t bytes = 0;
  FILE *file = open_memstream(&text, &bytes);
  int status = file ? SL_OK : SL_ENOMEM;
  if (file) {
    fprintf(
        file,
        "# Transport of tracks between the planes of UT and SciFi; made by scripts/calibrate from %u tracks in the\n"
        "# field of %s. README.md has the form of the polynomials.\n",
        shots, map ? "a map" : "the simulation");
    kalman_write(file, d);
    if (fclose(file) != 0) status = SL_ENOMEM;
  }
  if (status == SL_OK && kalman_read(text, bytes, d, reason, sizeof reason) != 0) {
    fprintf(stderr, "the constants cannot be written: %s\n", reason);
    status = SL_EINVAL;
  }
  if (status == SL_OK) status = write_text(path, text, bytes);
  free(text);
  return status;
}

static int transport(const char *path, const char *map_path, uint32_t shots) {
  struct kalman_description *d = (struct kalman_description *)calloc(1, sizeof *d);
  struct kalman_gun_sample sample = {0}, test = {0};
  struct field_map map = {0};
  const struct field_map *field = map_path ? &map : NULL;
  int status = d ? SL_OK : SL_ENOMEM;
  if (status == SL_OK && map_path) status = field_map_load(&services, map_path, &map);
  if (status == SL_OK) status = kalman_sample_shoot(field, SEED, shots, &sample);
  if (status == SL_OK) status = kalman_fit(&sample, d);
  if (status == SL_OK) status = write_transport(path, field, shots, d);
  if (status == SL_OK) status = kalman_sample_shoot(field, TEST_SEED, shots / 2, &test);
  if (status == SL_OK) status = kalman_closure_print(stdout, d, &test);
  free(sample.tracks);
  free(test.tracks);
  field_map_free(&map);
  free(d);
  return status;
}

/* ---------------------------------------------------------------------------------------------- command line */

static uint32_t shots_of(int count, char **arguments, int index, long by_default) {
  const long shots = index < count ? strtol(arguments[index], NULL, 10) : by_default;
  return shots >= 1000 && shots <= 10000000 ? (uint32_t)shots : 0;
}

/* FILE [SHOTS] [--field MAP] */
static int transport_command(int count, char **arguments) {
  const int has_map = count >= 3 && strcmp(arguments[count - 2], "--field") == 0;
  const int words = has_map ? count - 2 : count;
  const uint32_t shots = shots_of(words, arguments, 1, KALMAN_SHOTS);
  if (words < 1 || words > 2 || shots == 0) return SL_EINVAL;
  return transport(arguments[0], has_map ? arguments[count - 1] : NULL, shots);
}

int main(int count, char **arguments) {
  const char *command = count > 1 ? arguments[1] : "";
  int status = SL_EINVAL;
  if (strcmp(command, "derive") == 0 && count >= 3 && shots_of(count, arguments, 3, SHOTS) > 0)
    status = derive(arguments[2], shots_of(count, arguments, 3, SHOTS));
  if (strcmp(command, "closure") == 0 && count >= 4 && shots_of(count, arguments, 4, SHOTS) > 0)
    status = closure(arguments[2], arguments[3], shots_of(count, arguments, 4, SHOTS));
  if (strcmp(command, "kalman") == 0) status = transport_command(count - 2, arguments + 2);
  if (status < 0)
    fprintf(stderr,
            "calibrate derive FILE [SHOTS] | calibrate closure NOMINAL LHCB [SHOTS] | calibrate kalman FILE [SHOTS] "
            "[--field MAP]: %s\n",
            status == SL_EINVAL ? "bad arguments, or too few tracks" : "failed");
  return status < 0;
}
