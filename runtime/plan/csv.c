/* csv.c: see csv.h. The file is read into memory and divided into lines and cells in place. Cells are separated by
 * commas; there are no quotes. Blank lines are skipped, a line may end in CR LF, and the file may begin with a UTF-8
 * byte-order mark. A column with a constraint that the planner does not support is refused if it has a value; other
 * unknown columns are a warning.
 */
#include "plan/csv.h"

#include "base/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ID, LOWER, UPPER, SIZE, NEEDED, ALIGNMENT = NEEDED, COLUMN_COUNT, CELLS_MAX = 64 };
static const char *const column_names[COLUMN_COUNT] = {"id", "lower", "upper", "size", "alignment"};
/* Columns with constraints of other planners, and their meaning. */
static const struct {
  const char *name, *meaning;
} constraints[] = {{"offset", "would fix the offset of the buffer"},
                   {"gaps", "would free parts of the buffer for a time"}};
enum { CONSTRAINTS = sizeof constraints / sizeof constraints[0], UNREAD = COLUMN_COUNT + CONSTRAINTS };
#define SIZE_MAX_BYTES (UINT64_C(1) << 62) /* limit of the planner for the sum of sizes */

struct cell {
  const char *text;
  uint32_t column; /* column in the line, from 1 */
};

struct reader {
  struct sl_diagnostics *d;
  const char *path;
  char *copy;                    /* copy of the present line, for messages; as long as the longest line */
  uint32_t line;                 /* line, from 1 */
  uint32_t column_of[CELLS_MAX]; /* column of a cell, or COLUMN_COUNT + index of a constraint */
  uint32_t cell_count;           /* number of cells per line, from the line of names */
  uint32_t *lines;               /* line of each buffer */
  uint64_t total_bytes;          /* sum of sizes and of alignments above 1 */
  uint32_t refused[CONSTRAINTS]; /* 1 if the constraint was refused */
  int failed;
};

static void warn(const struct reader *r, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void warn(const struct reader *r, uint32_t column, const char *format, ...) {
  const struct sl_location location = {r->path, *r->copy ? r->copy : NULL, r->line, column};
  va_list arguments;
  va_start(arguments, format);
  sl_vdiagnose(r->d, SL_WARNING, &location, NULL, NULL, format, arguments);
  va_end(arguments);
}

static void report(struct reader *r, uint32_t column, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void report(struct reader *r, uint32_t column, const char *hint, const char *format, ...) {
  const struct sl_location location = {r->path, *r->copy ? r->copy : NULL, r->line, column};
  va_list arguments;
  va_start(arguments, format);
  sl_vdiagnose(r->d, SL_ERROR, &location, NULL, hint, format, arguments);
  va_end(arguments);
  r->failed = 1;
}

/* ------------------------------------------------------------------------------------------------- cutting */

static int read_text(const char *path, struct sl_diagnostics *d, char **text) {
  const struct sl_location location = {path, NULL, 0, 0};
  char reason[128];
  const int descriptor = sl_open_stream(path, reason, sizeof reason);
  if (descriptor < 0) {
    sl_diagnose(d, SL_ERROR, &location, NULL, NULL, "%s", reason);
    return SL_EIO;
  }
  FILE *file = fdopen(descriptor, "rb");
  if (!file) {
    close(descriptor);
    return SL_ENOMEM;
  }
  size_t allocated = 0;
  const ssize_t length = getdelim(text, &allocated, '\0', file); /* reads up to a zero byte or the end */
  int status = SL_OK;
  if (length < 0 && !feof(file)) {
    sl_diagnose(d, SL_ERROR, &location, NULL, NULL, "%s", strerror(errno));
    status = SL_EIO;
  } else if (length < 0 && !(*text = realloc(*text, 1))) {
    status = SL_ENOMEM;
  } else if (length < 0) {
    **text = '\0';
  } else if ((*text)[length - 1] == '\0') {
    sl_diagnose(d, SL_ERROR, &location, NULL, NULL, "this is not a text file: it contains a zero byte");
    status = SL_EFORMAT;
  }
  fclose(file);
  return status;
}

/* Ends the first line with a zero and returns the text after it, NULL after the last line. */
static char *cut_line(char *text) {
  char *end = strchr(text, '\n');
  if (end) *end = '\0';
  const size_t length = strlen(text);
  if (length > 0 && text[length - 1] == '\r') text[length - 1] = '\0';
  return end ? end + 1 : NULL;
}

static uint32_t cut_cells(struct reader *r, char *line, struct cell cells[CELLS_MAX]) {
  uint32_t count = 0;
  memcpy(r->copy, line, strlen(line) + 1);
  for (uint32_t i = 0; i < CELLS_MAX; i++) cells[i] = (struct cell){"", 1};
  for (char *at = line; at; count++) {
    char *comma = strchr(at, ',');
    if (comma) *comma = '\0';
    if (count < CELLS_MAX) cells[count] = (struct cell){at, (uint32_t)(at - line) + 1};
    at = comma ? comma + 1 : NULL;
  }
  return count;
}

/* ------------------------------------------------------------------------------------------------- reading */

/* Column of that name, COLUMN_COUNT + index of a constraint, or UNREAD. */
static uint32_t find_column(const char *name) {
  for (uint32_t c = 0; c < COLUMN_COUNT; c++)
    if (strcmp(name, column_names[c]) == 0) return c;
  for (uint32_t k = 0; k < CONSTRAINTS; k++)
    if (strcmp(name, constraints[k].name) == 0) return COLUMN_COUNT + k;
  return UNREAD;
}

static void read_names(struct reader *r, char *line) {
  struct cell cells[CELLS_MAX];
  uint32_t seen[COLUMN_COUNT] = {0};
  r->cell_count = cut_cells(r, line, cells);
  if (r->cell_count > CELLS_MAX) {
    report(r, 1, NULL, "%" PRIu32 " columns; at most %d are read", r->cell_count, CELLS_MAX);
    return;
  }
  for (uint32_t i = 0; i < r->cell_count; i++) {
    const uint32_t c = r->column_of[i] = find_column(cells[i].text);
    if (c < COLUMN_COUNT && seen[c]++) report(r, cells[i].column, NULL, "a second column `%s`", column_names[c]);
  }
  char missing[64] = "";
  uint32_t missing_count = 0;
  for (uint32_t c = 0; c < NEEDED; c++) {
    const size_t length = strlen(missing);
    if (!seen[c])
      snprintf(missing + length, sizeof missing - length, "%s`%s`", missing_count++ ? ", " : "", column_names[c]);
  }
  if (missing_count > 0)
    report(r, 1, "the first line is `id,lower,upper,size`, in any order", "there is no column %s", missing);
  for (uint32_t i = 0; missing_count == 0 && i < r->cell_count; i++)
    if (r->column_of[i] == UNREAD) warn(r, cells[i].column, "the column `%s` is not read", cells[i].text);
}

/* Refuses a constraint, once per column. */
static void refuse_constraint(struct reader *r, uint32_t column, const struct cell *cell) {
  const uint32_t k = column - COLUMN_COUNT;
  if (!*cell->text || r->refused[k]++) return;
  report(r, cell->column, "omit the column or leave its cells empty", "`%s` %s, which this planner does not support",
         constraints[k].name, constraints[k].meaning);
}

static uint64_t read_number(struct reader *r, const struct cell *cell, const char *name, uint64_t maximum) {
  char *end = NULL;
  errno = 0;
  const uint64_t value = strtoull(cell->text, &end, 10);
  if (*cell->text < '0' || *cell->text > '9' || *end)
    report(r, cell->column, NULL, "`%s` must be a whole number, not `%s`", name, cell->text);
  else if (errno || value > maximum)
    report(r, cell->column, NULL, "`%s` is at most %" PRIu64 ", not %s", name, maximum, cell->text);
  return value;
}

/* Makes room for one more buffer in csv and reader. */
static int grow(struct reader *r, struct sl_plan_csv *csv) {
  if (csv->count & (csv->count - 1)) return SL_OK; /* the capacity doubles at powers of two */
  const size_t room = csv->count ? 2 * (size_t)csv->count : 1;
  struct sl_plan_buffer *buffers = realloc(csv->buffers, room * sizeof *buffers);
  if (buffers) csv->buffers = buffers;
  const char **ids = realloc((void *)csv->ids, room * sizeof *ids);
  if (ids) csv->ids = ids;
  uint32_t *lines = realloc(r->lines, room * sizeof *lines);
  if (lines) r->lines = lines;
  return buffers && ids && lines ? SL_OK : SL_ENOMEM;
}

static int read_buffer(struct reader *r, char *line, struct sl_plan_csv *csv) {
  struct cell cells[CELLS_MAX];
  const uint32_t count = cut_cells(r, line, cells);
  if (count != r->cell_count) {
    report(r, 1, NULL, "%" PRIu32 " cells, but there are %" PRIu32 " columns", count, r->cell_count);
    return SL_OK;
  }
  struct cell by_column[COLUMN_COUNT] = {{"", 1}, {"", 1}, {"", 1}, {"", 1}, {"", 1}};
  const int failed_before = r->failed;
  r->failed = 0;
  for (uint32_t i = 0; i < count; i++)
    if (r->column_of[i] < COLUMN_COUNT)
      by_column[r->column_of[i]] = cells[i];
    else if (r->column_of[i] != UNREAD)
      refuse_constraint(r, r->column_of[i], &cells[i]);
  struct sl_plan_buffer b = {.lower = (uint32_t)read_number(r, &by_column[LOWER], "lower", UINT32_MAX),
                             .upper = (uint32_t)read_number(r, &by_column[UPPER], "upper", UINT32_MAX),
                             .size = read_number(r, &by_column[SIZE], "size", SIZE_MAX_BYTES)};
  if (*by_column[ALIGNMENT].text) {
    b.alignment = read_number(r, &by_column[ALIGNMENT], "alignment", SIZE_MAX_BYTES);
    csv->has_alignment = 1;
    if (!r->failed && b.alignment == 0)
      report(r, by_column[ALIGNMENT].column, NULL, "`alignment` is at least 1, not 0");
  }
  if (!*by_column[ID].text) report(r, by_column[ID].column, NULL, "`id` is empty");
  if (!r->failed && b.lower >= b.upper)
    report(r, by_column[UPPER].column, "a buffer is live from `lower` up to, not including, `upper`",
           "`upper` must be above `lower`, %" PRIu32, b.lower);
  const uint64_t padding = b.alignment > 1 ? b.alignment : 0;
  if (!r->failed && b.size > SIZE_MAX_BYTES - r->total_bytes)
    report(r, by_column[SIZE].column, NULL, "the sizes sum up to more than %" PRIu64, SIZE_MAX_BYTES);
  else if (!r->failed && padding > SIZE_MAX_BYTES - r->total_bytes - b.size)
    report(r, by_column[ALIGNMENT].column, NULL, "the sizes and alignments sum up to more than %" PRIu64,
           SIZE_MAX_BYTES);
  const int good = !r->failed;
  r->failed |= failed_before;
  if (!good) return SL_OK;
  if (grow(r, csv) < 0) return SL_ENOMEM;
  r->total_bytes += b.size + padding;
  r->lines[csv->count] = r->line;
  csv->ids[csv->count] = by_column[ID].text;
  csv->buffers[csv->count++] = b;
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------- equal names */

struct named {
  const char *id;
  uint32_t line;
};

static int named_compare(const void *a, const void *b) {
  const struct named *x = a, *y = b;
  const int order = strcmp(x->id, y->id);
  return order ? order : x->line < y->line ? -1 : 1;
}

static int find_twins(struct reader *r, const struct sl_plan_csv *csv) {
  struct named *sorted = malloc((csv->count + (size_t)1) * sizeof *sorted);
  if (!sorted) return SL_ENOMEM;
  for (uint32_t i = 0; i < csv->count; i++) sorted[i] = (struct named){csv->ids[i], r->lines[i]};
  qsort(sorted, csv->count, sizeof *sorted, named_compare);
  for (uint32_t i = 1; i < csv->count; i++) {
    if (strcmp(sorted[i].id, sorted[i - 1].id) != 0) continue;
    const struct sl_location location = {r->path, NULL, sorted[i].line, 0};
    sl_diagnose(r->d, SL_ERROR, &location, NULL, NULL, "the id `%s` stands in line %" PRIu32 " already", sorted[i].id,
                sorted[i - 1].line);
    r->failed = 1;
  }
  free(sorted);
  return SL_OK;
}

/* -------------------------------------------------------------------------------------------------- the file */

static int read_lines(struct reader *r, struct sl_plan_csv *csv) {
  int status = SL_OK;
  static const char byte_order_mark[] = "\xEF\xBB\xBF";
  const size_t mark_bytes = strlen(byte_order_mark);
  char *begin = csv->text + (strncmp(csv->text, byte_order_mark, mark_bytes) == 0 ? mark_bytes : 0);
  for (char *line = begin, *next; line && status == SL_OK; line = next) {
    next = cut_line(line);
    r->line++;
    if (!*line) continue;
    if (r->cell_count > 0) {
      status = read_buffer(r, line, csv);
    } else {
      read_names(r, line);
      if (r->failed) return SL_OK; /* cells have no meaning without names */
    }
  }
  if (status == SL_OK && r->cell_count == 0) {
    *r->copy = '\0';
    r->line = 1;
    report(r, 1, "the first line is `id,lower,upper,size`, in any order", "the file is empty");
  }
  return status == SL_OK ? find_twins(r, csv) : status;
}

int sl_plan_csv_read(const char *path, struct sl_diagnostics *d, struct sl_plan_csv *csv) {
  *csv = (struct sl_plan_csv){0};
  struct reader r = {.d = d, .path = path};
  int status = read_text(path, d, &csv->text);
  if (status < 0) goto failed;
  r.copy = malloc(strlen(csv->text) + 1);
  status = r.copy ? read_lines(&r, csv) : SL_ENOMEM;
  if (status == SL_OK && r.failed) status = SL_EFORMAT;
failed:
  free(r.copy);
  free(r.lines);
  if (status == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "out of memory while reading %s", path);
  if (status < 0) sl_plan_csv_free(csv);
  return status;
}

void sl_plan_csv_write(const struct sl_plan_csv *csv, FILE *file) {
  fprintf(file, "id,lower,upper,size,offset%s\n", csv->has_alignment ? ",alignment" : "");
  for (uint32_t i = 0; i < csv->count; i++) {
    const struct sl_plan_buffer *b = &csv->buffers[i];
    fprintf(file, "%s,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64, csv->ids[i], b->lower, b->upper, b->size,
            b->offset);
    if (csv->has_alignment) fprintf(file, ",%" PRIu64, b->alignment ? b->alignment : 1);
    fputc('\n', file);
  }
}

void sl_plan_csv_free(struct sl_plan_csv *csv) {
  free(csv->buffers);
  free((void *)csv->ids);
  free(csv->text);
  *csv = (struct sl_plan_csv){0};
}
