/* main.c: train: trains a small dense network with examples. scripts/train calls it.
 *
 *     train -o FILE --target COLUMN --inputs NAME,... [OPTION...] TRAINING.csv [EXAMPLES.csv SCORES]...
 *
 * Writes the network to FILE (plugins/network/README.md, "The file"), and the probability of each row of EXAMPLES.csv
 * to SCORES, one per line. Prints the mean cross entropy of each file. The same arguments give the same bytes on every
 * machine.
 */
#include "examples.h"
#include "training.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: train -o FILE --target COLUMN --inputs NAME,... [OPTION...] TRAINING.csv [EXAMPLES.csv SCORES]...\n"
    "  -o FILE                 the network\n"
    "  --target COLUMN         1 or 0\n"
    "  --inputs NAME,...       columns, in the order of the network's inputs\n"
    "  --layers N,...          units of the hidden layers (32)\n"
    "  --activation NAME       relu or group_sort\n"
    "  --slope S               group_sort: largest slope in a scaled input, without the linear term (2)\n"
    "  --directions D,...      group_sort: for each input 1 (the output must rise), -1 (fall) or 0; a magnitude M "
    "below 1\n"
    "                          also limits the slope in this input to M S\n"
    "  --match-spectrum COLUMN weights that give both classes the same distribution of this column\n"
    "  --epochs N              (16)\n"
    "  --batch N               (512)\n"
    "  --rate R                at the start; falls to zero (0.003)\n"
    "  --seed N                of first weights and the order of examples (1)\n"
    "  --about TEXT            comment in FILE; \\n begins another line\n";

struct options {
  const char *output, *target, *spectrum, *about;
  char *inputs, *directions;
  struct shape shape;
  struct training training;
};

static int wrong(const char *what, const char *value) {
  fprintf(stderr, "train: %s is \"%s\"; see train --help\n", what, value);
  return 1;
}

static int read_number(const char *what, const char *text, double low, double high, double *number) {
  char *end;
  *number = strtod(text, &end);
  return end == text || *end || !(*number >= low && *number <= high) ? wrong(what, text) : 0;
}

static int read_count(const char *what, const char *text, double high, uint32_t *count) {
  double number;
  if (read_number(what, text, 1, high, &number) != 0) return 1;
  *count = (uint32_t)number;
  return *count == number ? 0 : wrong(what, text);
}

static int read_layers(char *text, struct shape *n) {
  n->layers = 0;
  for (char *rest = text, *word; (word = strsep(&rest, ","));) {
    if (n->layers == NETWORK_LAYERS_MAX) return wrong("number of layers", "more than 8");
    if (read_count("--layers", word, NETWORK_WIDTH_MAX, &n->units[n->layers++]) != 0) return 1;
  }
  n->units[n->layers] = 1;
  return 0;
}

static int read_activation(const char *text, struct shape *n) {
  static const char *const activations[] = NETWORK_ACTIVATION_NAMES;
  for (n->activation = NETWORK_RELU; n->activation < NETWORK_ACTIVATIONS; n->activation++)
    if (strcmp(text, activations[n->activation]) == 0) return 0;
  return wrong("--activation", text);
}

static int read_directions(char *text, struct shape *n) {
  uint32_t count = 0;
  for (char *rest = text, *word; text && (word = strsep(&rest, ","));) {
    if (count == n->inputs) return wrong("--directions", "longer than --inputs");
    double *direction = &n->direction[count++];
    if (read_number("--directions", word, -1, 1, direction) != 0) return 1;
    if (*direction != 0 && fabs(*direction) < 1e-6) return wrong("--directions", word);
  }
  return text && count < n->inputs ? wrong("--directions", "shorter than --inputs") : 0;
}

static int check(const struct options *o, double slope) {
  const struct shape *n = &o->shape;
  if (!o->output || !o->target || !o->inputs) {
    fputs(help, stderr);
    return 1;
  }
  if (n->activation == NETWORK_RELU)
    return o->directions || slope > 0 ? wrong("--activation", "relu, which has no --slope and no --directions") : 0;
  for (uint32_t l = 0; l < n->layers; l++)
    if (n->units[l] % 2) return wrong("--layers", "odd, but group_sort needs an even number of units");
  return 0;
}

static int read_options(int count, char **words, struct options *o) {
  enum {
    TARGET = 256,
    INPUTS,
    LAYERS,
    ACTIVATION,
    SLOPE,
    DIRECTIONS,
    SPECTRUM,
    EPOCHS,
    BATCH,
    RATE,
    SEED,
    ABOUT,
    HELP
  };
  static const struct option known[] = {{"target", 1, NULL, TARGET},
                                        {"inputs", 1, NULL, INPUTS},
                                        {"layers", 1, NULL, LAYERS},
                                        {"activation", 1, NULL, ACTIVATION},
                                        {"slope", 1, NULL, SLOPE},
                                        {"directions", 1, NULL, DIRECTIONS},
                                        {"match-spectrum", 1, NULL, SPECTRUM},
                                        {"epochs", 1, NULL, EPOCHS},
                                        {"batch", 1, NULL, BATCH},
                                        {"rate", 1, NULL, RATE},
                                        {"seed", 1, NULL, SEED},
                                        {"about", 1, NULL, ABOUT},
                                        {"help", 0, NULL, HELP},
                                        {NULL, 0, NULL, 0}};
  double slope = 0, seed = 1;
  int status = 0;
  for (int option; status == 0 && (option = getopt_long(count, words, "o:", known, NULL)) >= 0;) switch (option) {
      case 'o':
        o->output = optarg;
        break;
      case TARGET:
        o->target = optarg;
        break;
      case INPUTS:
        o->inputs = optarg;
        break;
      case LAYERS:
        status = read_layers(optarg, &o->shape);
        break;
      case ACTIVATION:
        status = read_activation(optarg, &o->shape);
        break;
      case SLOPE:
        status = read_number("--slope", optarg, 1e-6, 1e6, &slope);
        break;
      case DIRECTIONS:
        o->directions = optarg;
        break;
      case SPECTRUM:
        o->spectrum = optarg;
        break;
      case EPOCHS:
        status = read_count("--epochs", optarg, 1e6, &o->training.epochs);
        break;
      case BATCH:
        status = read_count("--batch", optarg, 1e6, &o->training.batch);
        break;
      case RATE:
        status = read_number("--rate", optarg, 1e-9, 1, &o->training.rate);
        break;
      case SEED:
        status = read_number("--seed", optarg, 0, 1e15, &seed);
        break;
      case ABOUT:
        o->about = optarg;
        break;
      case HELP:
        fputs(help, stdout);
        exit(0);
      default:
        status = 1;
    }
  if (status != 0 || check(o, slope) != 0) return 1;
  o->training.seed = (uint64_t)seed;
  network_set_slope(&o->shape, slope > 0 ? slope : 2);
  if ((count - optind) % 2 == 1) return 0;
  fputs(help, stderr);
  return 1;
}

/* Origin and width of the scaled inputs. relu: mean and standard deviation; group_sort, which needs bounded inputs: the
 * 1st percentile, and the distance to the 99th. */
struct scale {
  const char *names[NETWORK_INPUTS_MAX];
  double origin[NETWORK_INPUTS_MAX], width[NETWORK_INPUTS_MAX];
};

static int scale_of(const struct examples *e, int column, uint32_t activation, double *origin, double *width) {
  if (activation == NETWORK_GROUP_SORT) {
    *origin = examples_quantile(e, column, 0.01);
    *width = examples_quantile(e, column, 0.99) - *origin;
  } else {
    examples_moments(e, column, origin, width);
  }
  if (*width > 0) return 0;
  fprintf(stderr, "train: %s: the column \"%s\" is constant\n", e->path, e->names[column]);
  return 1;
}

static int find_inputs(const struct examples *e, char *inputs, struct shape *n, struct scale *s) {
  n->inputs = 0;
  for (char *rest = inputs, *word; (word = strsep(&rest, ","));) {
    if (n->inputs == NETWORK_INPUTS_MAX) return wrong("number of inputs", "more than 64");
    if (examples_column(e, word) < 0) return 1;
    s->names[n->inputs++] = word;
  }
  return 0;
}

/* An input with a direction of magnitude M < 1 gets 1 / M of its width, so that its slope is limited to M times that of
 * the other inputs. */
static int find_scales(const struct examples *e, struct shape *n, struct scale *s) {
  for (uint32_t i = 0; i < n->inputs; i++) {
    double *direction = &n->direction[i];
    if (scale_of(e, examples_column(e, s->names[i]), n->activation, &s->origin[i], &s->width[i]) != 0) return 1;
    if (*direction == 0) continue;
    s->width[i] /= fabs(*direction);
    *direction = *direction > 0 ? 1 : -1;
  }
  return 0;
}

static int check_count(const struct examples *e, uint32_t batch) {
  if (e->row_count >= batch) return 0;
  fprintf(stderr, "train: %s: %u examples are too few to train with, expected %u at least\n", e->path, e->row_count,
          batch);
  return 1;
}

/* Scaled inputs, targets and weights of examples. */
struct prepared {
  double *inputs, *targets, *weights;
};

static void free_prepared(struct prepared *p) {
  free(p->inputs);
  free(p->targets);
  free(p->weights);
}

static int prepare(const struct examples *e, const struct options *o, const struct scale *s, struct prepared *p) {
  const size_t rows = e->row_count, inputs = o->shape.inputs;
  const int target = examples_column(e, o->target), spectrum = o->spectrum ? examples_column(e, o->spectrum) : 0;
  *p = (struct prepared){malloc((rows * inputs + 1) * sizeof(double)), malloc((rows + 1) * sizeof(double)),
                         malloc((rows + 1) * sizeof(double))};
  if (target < 0 || spectrum < 0) return 1;
  if (!p->inputs || !p->targets || !p->weights) return wrong("memory", "not enough");
  for (size_t i = 0; i < inputs; i++) {
    const int column = examples_column(e, s->names[i]);
    if (column < 0) return 1;
    for (size_t r = 0; r < rows; r++)
      p->inputs[r * inputs + i] = (e->values[r * e->column_count + (size_t)column] - s->origin[i]) / s->width[i];
  }
  for (size_t r = 0; r < rows; r++) {
    p->targets[r] = e->values[r * e->column_count + (size_t)target];
    p->weights[r] = 1;
    if (p->targets[r] == 0 || p->targets[r] == 1) continue;
    fprintf(stderr, "train: %s:%zu: column \"%s\" is %g, expected 0 or 1\n", e->path, r + 2, o->target, p->targets[r]);
    return 1;
  }
  return o->spectrum ? examples_match_spectrum(e, target, spectrum, p->weights) : 0;
}

static struct training training_of(const struct options *o, const struct examples *e, const struct prepared *p) {
  struct training t = o->training;
  t.inputs = p->inputs;
  t.targets = p->targets;
  t.weights = p->weights;
  t.count = e->row_count;
  return t;
}

static int write_network(const struct options *o, const struct scale *s, const double *weights) {
  FILE *file = fopen(o->output, "w");
  if (!file) {
    perror(o->output);
    return 1;
  }
  for (const char *at = o->about; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
    fprintf(file, "# %.*s\n", (int)strcspn(at, "\n"), at);
  fprintf(file, "inputs");
  for (uint32_t i = 0; i < o->shape.inputs; i++) fprintf(file, " %s", s->names[i]);
  fprintf(file, "\n");
  for (uint32_t i = 0; i < o->shape.inputs; i++)
    fprintf(file, "scale %s %.9g %.9g\n", s->names[i], s->origin[i], s->width[i]);
  network_write(file, &o->shape, weights);
  const int failed = ferror(file);
  if (fclose(file) == 0 && !failed) return 0;
  perror(o->output);
  return 1;
}

static int train(struct options *o, const char *path, struct scale *s, double **weights) {
  struct examples e;
  struct prepared p = {NULL, NULL, NULL};
  int status = examples_read(path, &e);
  if (status == 0) status = find_inputs(&e, o->inputs, &o->shape, s);
  if (status == 0) status = read_directions(o->directions, &o->shape);
  if (status == 0) status = check_count(&e, o->training.batch);
  if (status == 0) status = find_scales(&e, &o->shape, s);
  if (status == 0) status = prepare(&e, o, s, &p);
  if (status == 0) {
    const struct training t = training_of(o, &e, &p);
    *weights = malloc(network_size(&o->shape) * sizeof **weights);
    status = *weights && training_run(&t, &o->shape, *weights) == 0 ? 0 : wrong("memory", "not enough");
    if (status == 0)
      printf("%s: %u examples, loss %.6f\n", path, e.row_count, training_loss(&t, &o->shape, *weights, NULL));
  }
  free_prepared(&p);
  examples_free(&e);
  return status;
}

static int score(const struct options *o, const struct scale *s, const double *weights, const char *path,
                 const char *scores) {
  struct examples e;
  struct prepared p = {NULL, NULL, NULL};
  FILE *file = NULL;
  int status = examples_read(path, &e);
  if (status == 0) status = prepare(&e, o, s, &p);
  if (status == 0 && !(file = fopen(scores, "w"))) {
    perror(scores);
    status = 1;
  }
  if (status == 0) {
    const struct training t = training_of(o, &e, &p);
    printf("%s: %u examples, loss %.6f\n", path, e.row_count, training_loss(&t, &o->shape, weights, file));
  }
  if (file && fclose(file) != 0) status = wrong("scores", scores);
  free_prepared(&p);
  examples_free(&e);
  return status;
}

int main(int count, char **words) {
  struct options o = {.shape = {.activation = NETWORK_RELU, .layers = 1, .units = {32, 1}},
                      .training = {.epochs = 16, .batch = 512, .rate = 0.003, .seed = 1}};
  struct scale scale;
  double *weights = NULL;
  int status = read_options(count, words, &o);
  if (status == 0) status = train(&o, words[optind], &scale, &weights);
  for (int i = optind + 1; status == 0 && i < count; i += 2)
    status = score(&o, &scale, weights, words[i], words[i + 1]);
  if (status == 0) status = write_network(&o, &scale, weights);
  free(weights);
  return status;
}
