/* description.h: reads a description of the VELO, as nominal.velo is one: sensors and material, as text.
 *
 * For host code of plugins that need the detector itself, not its collection in a graph: static functions, no library.
 * A description is complete or refused: each statement must appear once (sensors 0 to 3, modules 0 to 51). Numbers are
 * decimal, whatever the locale.
 */
#ifndef VELO_DESCRIPTION_H
#define VELO_DESCRIPTION_H

#include "velo/event_model.h"

#include <sluice/math.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { VELO_CHIP_COLUMNS = 256, VELO_CHIPS = 3, VELO_MODULE_SENSORS = 4, VELO_TRANSFORM_VALUES = 12 };

struct velo_description {
  float module_z[VELO_MODULES];
  float local_x[VELO_SENSOR_COLUMNS], x_pitch[VELO_SENSOR_COLUMNS]; /* as in velo_geometry */
  float column_edge[VELO_SENSOR_COLUMNS + 1];                       /* local x */
  float transform[VELO_SENSORS][VELO_TRANSFORM_VALUES];             /* as in velo_geometry */
  float pixel, wide_pixel, silicon;
  float sensor_radiation, sensor_interaction; /* fractions of a length, a crossing */
  float foil_radius, foil_thickness, foil_longest, foil_radiation_length, foil_interaction_length;
};

/* --------------------------------------------------------------------------------------------- statements */

struct velo_description_reader {
  const char *next, *end; /* rest of the line */
  char *reason;
  size_t reason_size;
  float corner[VELO_MODULE_SENSORS][3], x_axis[VELO_MODULE_SENSORS], y_axis[VELO_MODULE_SENSORS];
  uint8_t is_right[VELO_MODULES];
  uint32_t seen_sensors, seen_words;
  uint64_t seen_modules;
};

static inline int velo_description_refuse(struct velo_description_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline int velo_description_refuse(struct velo_description_reader *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->reason, r->reason_size, format, arguments);
  va_end(arguments);
  return 0;
}

/* The next word of the line, cut to the buffer; 0 at the line's end. */
static inline int velo_description_word(struct velo_description_reader *r, char *word, size_t size) {
  while (r->next < r->end && (*r->next == ' ' || *r->next == '\t' || *r->next == '\r')) r->next++;
  size_t length = 0;
  for (; r->next < r->end && *r->next != ' ' && *r->next != '\t' && *r->next != '\r' && *r->next != '#'; r->next++)
    if (length + 1 < size) word[length++] = *r->next;
  word[length] = '\0';
  if (length == 0) r->next = r->end; /* a comment, or nothing */
  return length > 0;
}

static inline int velo_description_number(struct velo_description_reader *r, const char *what, float low, float high,
                                          float *value) {
  char word[32];
  if (!velo_description_word(r, word, sizeof word)) return velo_description_refuse(r, "%s is missing", what);
  const char *c = word + (*word == '-');
  double number = 0, scale = 1;
  int digits = 0, after_point = 0;
  for (; *c; c++) {
    if (*c == '.' && !after_point) {
      after_point = 1;
    } else if (*c >= '0' && *c <= '9' && digits < 15) {
      number = number * 10 + (*c - '0');
      if (after_point) scale *= 10;
      digits++;
    } else {
      return velo_description_refuse(r, "%s is no number: %s", what, word);
    }
  }
  if (digits == 0) return velo_description_refuse(r, "%s is no number: %s", what, word);
  *value = (float)(*word == '-' ? -number / scale : number / scale);
  if (*value >= low && *value <= high) return 1;
  return velo_description_refuse(r, "%s is %s, expected %g to %g", what, word, (double)low, (double)high);
}

static inline int velo_description_expect(struct velo_description_reader *r, const char *keyword) {
  char word[32];
  if (velo_description_word(r, word, sizeof word) && strcmp(word, keyword) == 0) return 1;
  return velo_description_refuse(r, "expected \"%s\", found \"%s\"", keyword, word);
}

/* KEYWORD VALUE */
static inline int velo_description_pair(struct velo_description_reader *r, const char *keyword, float low, float high,
                                        float *value) {
  return velo_description_expect(r, keyword) && velo_description_number(r, keyword, low, high, value);
}

static inline int velo_description_index(struct velo_description_reader *r, const char *what, uint32_t count,
                                         uint32_t *index) {
  float value = 0;
  if (!velo_description_number(r, what, 0, (float)(count - 1), &value)) return 0;
  *index = (uint32_t)value;
  return (float)*index == value ? 1 : velo_description_refuse(r, "%s is no integer", what);
}

static inline int velo_description_sensor(struct velo_description_reader *r) {
  uint32_t k;
  if (!velo_description_index(r, "sensor", VELO_MODULE_SENSORS, &k)) return 0;
  if (r->seen_sensors & 1u << k) return velo_description_refuse(r, "sensor %u a second time", k);
  r->seen_sensors |= 1u << k;
  return velo_description_pair(r, "x_axis", -180, 180, &r->x_axis[k]) &&
         velo_description_pair(r, "y_axis", -180, 180, &r->y_axis[k]) && velo_description_expect(r, "corner") &&
         velo_description_number(r, "x of the corner", -100, 100, &r->corner[k][0]) &&
         velo_description_number(r, "y of the corner", -100, 100, &r->corner[k][1]) &&
         velo_description_number(r, "z of the corner", -5, 5, &r->corner[k][2]);
}

static inline int velo_description_module(struct velo_description_reader *r, struct velo_description *d) {
  uint32_t m;
  char side[8];
  if (!velo_description_index(r, "module", VELO_MODULES, &m)) return 0;
  if (r->seen_modules >> m & 1) return velo_description_refuse(r, "module %u a second time", m);
  if (!velo_description_pair(r, "z", -2000, 2000, &d->module_z[m])) return 0;
  if (m > 0 && r->seen_modules >> (m - 1) & 1 && d->module_z[m] <= d->module_z[m - 1])
    return velo_description_refuse(r, "module %u is not behind module %u", m, m - 1);
  r->seen_modules |= 1ull << m;
  velo_description_word(r, side, sizeof side);
  r->is_right[m] = strcmp(side, "right") == 0;
  if (r->is_right[m] != m % 2 || (!r->is_right[m] && strcmp(side, "left") != 0))
    return velo_description_refuse(r, "even modules are left, odd ones are right, but module %u is \"%s\"", m, side);
  return 1;
}

static inline int velo_description_foil(struct velo_description_reader *r, struct velo_description *d) {
  return velo_description_pair(r, "radius", 0.1f, 5.2f, &d->foil_radius) &&
         velo_description_pair(r, "thickness", 0, 2, &d->foil_thickness) &&
         velo_description_pair(r, "longest", 0, 100, &d->foil_longest) &&
         velo_description_pair(r, "radiation_length", 1, 1e6f, &d->foil_radiation_length) &&
         velo_description_pair(r, "interaction_length", 1, 1e6f, &d->foil_interaction_length);
}

/* One line; 0 if it is wrong. */
static inline int velo_description_line(struct velo_description_reader *r, struct velo_description *d) {
  static const char *const words[] = {"pixel", "wide_pixel", "silicon", "sensor_material", "foil"};
  char word[32];
  if (!velo_description_word(r, word, sizeof word)) return 1;
  uint32_t k = 0;
  while (k < 5 && strcmp(word, words[k]) != 0) k++;
  if (k < 5 && r->seen_words & 1u << k) return velo_description_refuse(r, "%s a second time", word);
  if (k < 5) r->seen_words |= 1u << k;
  int fine;
  if (k == 0) {
    fine = velo_description_number(r, word, 0.01f, 1, &d->pixel);
  } else if (k == 1) {
    fine = velo_description_number(r, word, 0.01f, 1, &d->wide_pixel);
  } else if (k == 2) {
    fine = velo_description_number(r, word, 0.01f, 2, &d->silicon);
  } else if (k == 3) {
    fine = velo_description_number(r, "radiation", 0, 1, &d->sensor_radiation) &&
           velo_description_number(r, "interaction", 0, 1, &d->sensor_interaction);
  } else if (k == 4) {
    fine = velo_description_foil(r, d);
  } else if (strcmp(word, "sensor") == 0) {
    fine = velo_description_sensor(r);
  } else if (strcmp(word, "module") == 0) {
    fine = velo_description_module(r, d);
  } else {
    fine = velo_description_refuse(r, "there is no statement \"%s\"", word);
  }
  if (fine && velo_description_word(r, word, sizeof word))
    fine = velo_description_refuse(r, "\"%s\" is one word too many", word);
  return fine;
}

/* ------------------------------------------------------------------------------------------ what follows */

static inline void velo_description_columns(struct velo_description *d) {
  d->column_edge[0] = 0;
  uint32_t wide = 0;
  for (uint32_t c = 0; c < VELO_SENSOR_COLUMNS; c++) {
    const uint32_t in_chip = c % VELO_CHIP_COLUMNS, chip = c / VELO_CHIP_COLUMNS;
    wide += (in_chip == 0 && chip > 0) || (in_chip == VELO_CHIP_COLUMNS - 1 && chip + 1 < VELO_CHIPS);
    d->column_edge[c + 1] = (float)(c + 1 - wide) * d->pixel + (float)wide * d->wide_pixel;
  }
  for (uint32_t c = 0; c < VELO_SENSOR_COLUMNS; c++) d->local_x[c] = 0.5f * (d->column_edge[c] + d->column_edge[c + 1]);
  for (uint32_t c = 0; c + 1 < VELO_SENSOR_COLUMNS; c++) d->x_pitch[c] = d->local_x[c + 1] - d->local_x[c];
  d->x_pitch[VELO_SENSOR_COLUMNS - 1] = d->pixel;
}

/* Rotation by rows, then translation; the third axis completes a right-handed frame. */
static inline void velo_description_transform(const struct velo_description_reader *r, struct velo_description *d,
                                              uint32_t sensor) {
  const uint32_t k = sensor % VELO_MODULE_SENSORS, module = sensor / VELO_MODULE_SENSORS;
  const float degree = 0.0174532925f, turn = r->is_right[module] ? -1.0f : 1.0f;
  float xx, xy, yx, yy; /* local axis, global component */
  sl_sincosf(r->x_axis[k] * degree, &xy, &xx);
  sl_sincosf(r->y_axis[k] * degree, &yy, &yx);
  const float values[VELO_TRANSFORM_VALUES] = {turn * xx,
                                               turn * yx,
                                               0,
                                               turn * xy,
                                               turn * yy,
                                               0,
                                               0,
                                               0,
                                               xx * yy - xy * yx > 0 ? 1.0f : -1.0f,
                                               turn * r->corner[k][0],
                                               turn * r->corner[k][1],
                                               d->module_z[module] + r->corner[k][2]};
  memcpy(d->transform[sensor], values, sizeof values);
}

/* Reads a description: 0, or the number of the line that is wrong (the last one, if something is missing), with the
 * reason. */
static inline uint32_t velo_description_read(const char *text, size_t bytes, struct velo_description *d, char *reason,
                                             size_t reason_size) {
  struct velo_description_reader r;
  uint32_t line = 0;
  memset(&r, 0, sizeof r);
  r.reason = reason;
  r.reason_size = reason_size;
  memset(d, 0, sizeof *d);
  for (const char *at = text; at < text + bytes;) {
    const char *newline = (const char *)memchr(at, '\n', (size_t)(text + bytes - at));
    r.next = at;
    r.end = newline ? newline : text + bytes;
    line++;
    if (!velo_description_line(&r, d)) return line;
    at = r.end + 1;
  }
  if (r.seen_words != 31 || r.seen_sensors != 15 || r.seen_modules != (1ull << VELO_MODULES) - 1) {
    velo_description_refuse(&r,
                            "the description ends without all of pixel, wide_pixel, silicon, sensor_material, foil, "
                            "sensors 0 to 3 and modules 0 to %d",
                            VELO_MODULES - 1);
    return line > 0 ? line : 1;
  }
  for (uint32_t m = 1; m < VELO_MODULES; m++) {
    if (d->module_z[m] > d->module_z[m - 1]) continue;
    velo_description_refuse(&r, "module %u is not behind module %u", m, m - 1);
    return line;
  }
  velo_description_columns(d);
  for (uint32_t sensor = 0; sensor < VELO_SENSORS; sensor++) velo_description_transform(&r, d, sensor);
  return 0;
}

/* NULL with the reason, if there is no such regular file. To open a pipe would be to wait for its writer. */
static inline FILE *velo_description_open(const char *path, const char **reason) {
  struct stat about;
  const int is_other = stat(path, &about) == 0 && !S_ISREG(about.st_mode);
  *reason = is_other ? "is no regular file" : "cannot be opened";
  return is_other ? NULL : fopen(path, "rb");
}

/* The description in file `path`, or `nominal` where the path is empty: 0, or an error with its message. */
static inline int velo_description_load(const struct sl_services *s, const char *path, const char *nominal,
                                        struct velo_description *d) {
  enum { BYTES_MAX = 65536 };
  char reason[256], text[BYTES_MAX];
  const char *fault = NULL;
  const int is_nominal = path == NULL || path[0] == '\0';
  const char *from = nominal;
  size_t bytes = is_nominal ? strlen(nominal) : 0;
  if (!is_nominal) {
    FILE *file = velo_description_open(path, &fault);
    if (file) bytes = fread(text, 1, sizeof text, file);
    const int failed = !file || ferror(file) || bytes == sizeof text;
    if (failed)
      s->message(s->context, SL_ERROR, "%s: %s", path,
                 !file                  ? fault
                 : bytes == sizeof text ? "is no description: too long"
                                        : "cannot be read");
    if (file) fclose(file);
    if (failed) return SL_EIO;
    from = text;
  }
  const uint32_t line = velo_description_read(from, bytes, d, reason, sizeof reason);
  if (line == 0) return SL_OK;
  s->message(s->context, SL_ERROR, "%s:%u: %s", is_nominal ? "nominal.velo" : path, line, reason);
  return SL_EFORMAT;
}

#endif
