/* routing_bits: writes one HltRoutingBits bank per event of the node (reports.md).
 *
 * `prepare` matches the patterns of each bit against the names of the lines once, and stores masks over the lines. The
 * kernel tests the decisions of an event against the masks.
 * Parallelism: one block per event, one thread per bit.
 */
#include "fixed_banks.h"
#include "selections/event_model.h"

#include <regex.h>
#include <stdio.h>

enum { ROUTING_BITS = 32, WORD_LINES = 32, PATTERN_MAX = 512, REASON_MAX = 256 };

/* The default patterns of each bit. */
/* clang-format off */
#define ROUTING_PATTERNS(P, M)                                                              \
  P(M, 0, "")                                                                               \
  P(M, 1, "Hlt1.*Lumi.*")                                                                   \
  P(M, 2, "Hlt1VeloMicroBias Hlt1BeamGas Hlt1NMaterialVertexSeeds Hlt1NVELODisplacedTrack") \
  P(M, 3, "Hlt1D2KPiAlignment Hlt1DiMuonHighMassAlignment Hlt1DisplacedDiMuonAlignment")    \
  P(M, 4, "Hlt1DiMuonHighMassAlignment Hlt1DiMuonJpsiMassAlignment")                        \
  P(M, 5, "Hlt1RICH1Alignment")                                                             \
  P(M, 6, "Hlt1TAEPassthrough")                                                             \
  P(M, 7, "Hlt1RICH2Alignment")                                                             \
  P(M, 8, "Hlt1ODINVelo.*")                                                                 \
  P(M, 9, "Hlt1Pi02GammaGamma")                                                             \
  P(M, 10, "")                                                                              \
  P(M, 11, "")                                                                              \
  P(M, 12, "")                                                                              \
  P(M, 13, "")                                                                              \
  P(M, 14, "Hlt1.* !Hlt1(ODIN|L0|Lumi|Tell1|MB|NZS|Velo|BeamGas|Incident).*")               \
  P(M, 15, "")                                                                              \
  P(M, 16, "Hlt1.*NoBias")                                                                  \
  P(M, 17, "")                                                                              \
  P(M, 18, "")                                                                              \
  P(M, 19, "")                                                                              \
  P(M, 20, "")                                                                              \
  P(M, 21, "")                                                                              \
  P(M, 22, "")                                                                              \
  P(M, 23, "")                                                                              \
  P(M, 24, "")                                                                              \
  P(M, 25, "Hlt1Tell1Error")                                                                \
  P(M, 26, "")                                                                              \
  P(M, 27, "")                                                                              \
  P(M, 28, "")                                                                              \
  P(M, 29, "")                                                                              \
  P(M, 30, "")                                                                              \
  P(M, 31, "")
/* clang-format on */
#define PATTERN_ARGUMENT(M, bit, pattern) \
  M(STRING, bit_##bit, pattern, "lines that set this bit: patterns of names; a pattern after ! excludes lines")
#define PATTERN_OF_ARGUMENT(a, bit, pattern) (a)->bit_##bit,

#define SL_ARGS routing_bits_args
#define ROUTING_BITS_TABLE(M)                                                                            \
  M(IN, decisions, event_decisions, "", "decisions of all lines")                                        \
  M(LIST_IN, lines, line_decisions, "made_by", "lines that `decisions` were made from, for their names") \
  M(OUT, banks, routing_bits_banks, "one bank per event", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(1, 0))),        \
    SL_SUBITEMS(SL_ONE(SL_EVENTS_TERM(ROUTING_WORDS, 0))))                                               \
  M(TABLE, masks, u32, "lines that set a routing bit: one mask per bit, one bit per line")               \
  M(COMPUTED, key, uint32_t, "hash of ids and names of the lines")                                       \
  ROUTING_PATTERNS(PATTERN_ARGUMENT, M)
SL_ARGUMENTS(routing_bits, ROUTING_BITS_TABLE);

enum { OTHER_LINES = 1 };
static const struct sl_event_error errors[] = {{OTHER_LINES, 0, "`decisions` were made from other lines than `lines`"}};

/* -------------------------------------------------------------------------------------------------- kernel */

SL_KERNEL(route_events, struct routing_bits_args) {
  const struct io_made_banks banks = FIXED_BANKS(a.banks);
  const uint32_t width = (a.lines.count + WORD_LINES - 1) / WORD_LINES, is_same = *a.decisions.key == a.key;
  if (sl_grid_thread() == 0) FIXED_BANKS_BEGIN(a.events, a.banks, ROUTING_WORDS);
  for (uint32_t item = blockIdx.x; item < *a.events.count; item += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, item);
    uint32_t *bank = a.banks.word + (uint64_t)item * ROUTING_WORDS;
    fixed_bank_offsets(&a.events, &banks, item, ROUTING_WORDS);
    if (threadIdx.x == 0) {
      for (uint32_t w = 0; w < ROUTING_WORDS; w++) bank[w] = 0;
      if (!is_same) sl_event_fail(&a.events, event, OTHER_LINES, 0);
    }
    __syncthreads();
    for (uint32_t bit = threadIdx.x; is_same && bit < ROUTING_BITS; bit += blockDim.x) {
      uint32_t found = 0;
      for (uint32_t w = 0; w < width; w++)
        found |= event_decisions_word(&a.decisions, event, w) & a.masks[bit * width + w];
      if (found) atomicOr(&bank[0], 1u << bit);
    }
  }
}

static int run(const struct sl_launch *l, const struct routing_bits_args *a) {
  return SL_LAUNCH(l, route_events, SL_PER_EVENT, *a);
}

/* ------------------------------------------------------------------------------------------------ patterns */

/* Iterator over the patterns of a bit. */
struct pattern {
  const char *rest;
  uint32_t is_excluding, reserved;
  regex_t compiled;
};

/* Compiles the next pattern. Returns 1, 0 at the end, or -1 with the error in `reason`. */
static int next_pattern(struct pattern *p, char *reason) {
  char word[PATTERN_MAX];
  p->rest += strspn(p->rest, " ");
  p->is_excluding = *p->rest == '!';
  p->rest += p->is_excluding;
  const size_t length = strcspn(p->rest, " ");
  if (length == 0 && !p->is_excluding) return 0;
  if (length == 0 || length >= sizeof word) {
    (void)snprintf(reason, REASON_MAX, "%s", length == 0 ? "no pattern follows !" : "a pattern is too long");
    return -1;
  }
  memcpy(word, p->rest, length);
  word[length] = '\0';
  p->rest += length;
  const int error = regcomp(&p->compiled, word, REG_EXTENDED);
  if (!error) return 1;
  char text[REASON_MAX / 2];
  (void)regerror(error, &p->compiled, text, sizeof text);
  (void)snprintf(reason, REASON_MAX, "`%.*s` is not a regular expression: %s", REASON_MAX / 4, word, text);
  return -1;
}

/* Whether the pattern matches the whole name. regexec finds the longest of the leftmost matches. */
static int is_match(const struct pattern *p, const char *name) {
  regmatch_t match;
  return regexec(&p->compiled, name, 1, &match, 0) == 0 && match.rm_so == 0 && name[match.rm_eo] == '\0';
}

/* Sets the mask of a bit from its patterns. Returns SL_EINVAL, with the error in `reason`, for a wrong pattern. */
static int find_lines(const char *patterns, const struct line_decisions_views *lines, uint32_t *mask, char *reason) {
  struct pattern p = {patterns, 0, 0, {0}};
  int more;
  for (uint32_t pass = 0; pass < 2; pass++) { /* the second pass excludes lines */
    p.rest = patterns;
    while ((more = next_pattern(&p, reason)) > 0) {
      for (uint32_t k = 0; k < lines->count && p.is_excluding == pass; k++) {
        const uint32_t bit = 1u << k % WORD_LINES;
        if (!is_match(&p, lines->names[k])) continue;
        if (pass)
          mask[k / WORD_LINES] &= ~bit;
        else
          mask[k / WORD_LINES] |= bit;
      }
      regfree(&p.compiled);
    }
    if (more < 0) return SL_EINVAL;
  }
  return SL_OK;
}

static int check(const struct sl_services *s, const void *args) {
  const struct routing_bits_args *a = (const struct routing_bits_args *)args;
  const char *const patterns[] = {ROUTING_PATTERNS(PATTERN_OF_ARGUMENT, a)};
  const struct line_decisions_views none = {NULL, NULL, 0, 0};
  int status = SL_OK;
  for (uint32_t bit = 0; bit < ROUTING_BITS; bit++) {
    char reason[REASON_MAX];
    if (!find_lines(patterns[bit], &none, NULL, reason)) continue;
    s->message(s->context, SL_ERROR, "bit_%u: %s", bit, reason);
    status = SL_EINVAL;
  }
  return status;
}

static int prepare(const struct sl_services *s, void *args) {
  struct routing_bits_args *a = (struct routing_bits_args *)args;
  const char *const patterns[] = {ROUTING_PATTERNS(PATTERN_OF_ARGUMENT, a)};
  const uint32_t width = (a->lines.count + WORD_LINES - 1) / WORD_LINES;
  uint32_t *masks = (uint32_t *)s->make_table(s->context, "masks", (uint64_t)ROUTING_BITS * width);
  char reason[REASON_MAX];
  if (!masks) return SL_ENOMEM;
  a->key = lines_key(a->lines.names, a->lines.count);
  for (uint32_t bit = 0; bit < ROUTING_BITS; bit++)
    if (find_lines(patterns[bit], &a->lines, masks + (uint64_t)bit * width, reason)) return SL_EINVAL;
  return SL_OK;
}

SL_ALGORITHM(routing_bits, "writes which kinds of lines passed as HltRoutingBits banks", 32, run, SL_ERRORS_OF(errors),
             SL_CHECK(check), SL_PREPARE(prepare));
