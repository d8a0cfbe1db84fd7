/* source.c: sim.source, simulated events as raw banks, on the ports of io.mdf_source.
 *
 * Event k of a seed is the same whatever the slices: it is made from seed and k alone (random.h), one after the other.
 * One that does not fit into what is left of a slice is kept for the next one. Banks lie on the ports in the order in
 * which they would stand in a file, by ascending type and sensor.
 *
 * Budgets are those of a reader of files: for banks and for 32-bit words of each kind, per event, with a minimum for
 * slices of few events.
 */
#include "io/raw_banks.h"
#include "simulation.h"
#include "velo_nominal_text.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <string.h>

/* B(port, banks an event, banks a slice at least, words an event, words a slice at least). */
#define BUDGETS(B)                            \
  B(odin, 1, 64, 16, 1024)                    \
  B(velo_superpixels, 256, 1024, 4096, 65536) \
  B(velo_clusters, 256, 1024, 4096, 65536)    \
  B(mc_particles, 4, 64, 32768, 262144)       \
  B(mc_vertices, 1, 64, 128, 16384)

#define PORT_(port, collection, doc, ...)                      struct collection port;
#define BUDGET_ARGS_(port, banks, banks_min, words, words_min) uint32_t port##_banks, port##_words;
struct source_args {
  IO_RAW_BANK_KINDS(PORT_)
  BUDGETS(BUDGET_ARGS_)
  uint64_t seed, events;
  const char *velo;
  float mu, luminosity_fraction, beam_gas_fraction, empty_fraction, velo_efficiency;
  uint32_t signal, run, odin_version, superpixel_version, cluster_version;
};
#define SL_ARGS source_args

#define KIND_ENUM_(port, collection, doc, ...)                 KIND_##port,
#define BUDGET_ENUM_(port, banks, banks_min, words, words_min) BUDGET_##port,
#define BUDGET_CHECK_(port, banks, banks_min, words, words_min) \
  SL_STATIC_ASSERT((int)BUDGET_##port == (int)KIND_##port, "one budget a kind, in their order");
enum { IO_RAW_BANK_KINDS(KIND_ENUM_) KIND_COUNT };
enum { BUDGETS(BUDGET_ENUM_) BUDGET_COUNT };
BUDGETS(BUDGET_CHECK_)
SL_STATIC_ASSERT((int)BUDGET_COUNT == (int)KIND_COUNT, "one budget a kind");

#define BUDGET_MIN_(port, banks, banks_min, words, words_min) \
  port##_banks_min = banks_min, port##_words_min = words_min,
enum { BUDGETS(BUDGET_MIN_) BUDGET_MIN_END_ };

#define OUT_(port, collection, doc, ...)                                                          \
  SL_OUT(port, collection, doc, SL_ITEMS(SL_ONE(SL_BUDGET_TERM(port##_banks, port##_banks_min))), \
         SL_SUBITEMS(SL_ONE(SL_BUDGET_TERM(port##_words, port##_words_min)))),
#define BUDGET_MEMBERS_(port, banks, banks_min, words, words_min)                           \
  SL_BUDGET(port##_banks, banks, 0, 100000, "banks of this kind, on average over a slice"), \
      SL_BUDGET(port##_words, words, 0, 10000000, "32-bit words of their payloads, on average over a slice"),

static const struct sl_member source_members[] = {
    IO_RAW_BANK_KINDS(OUT_) BUDGETS(BUDGET_MEMBERS_)
        SL_U64(seed, 1, 0, 0x1p64, "", "what the events follow from, together with their numbers"),
    SL_U64(events, 1000, 0, 0x1p64, "", "how many events are made; 0: no end"),
    SL_ENUM(signal, "none", "a heavy hadron in each event, and its decay", SIM_SIGNAL_NAMES),
    SL_STRING(velo, "", "a description of the VELO; empty: the nominal one"),
    SL_F32(mu, 5.3, 0, 60, "", "collisions in a crossing of two bunches, on average"),
    SL_F32(luminosity_fraction, 0.01, 0, 1, "", "of the events: taken for luminosity, at all kinds of crossings"),
    SL_F32(beam_gas_fraction, 0, 0, 1, "", "of the events: one beam on gas"),
    SL_F32(empty_fraction, 0, 0, 1, "", "of the events: no beam"),
    SL_F32(velo_efficiency, 0.99, 0, 1, "", "chance that a sensor sees a track"),
    SL_U32(run, 1, 0, UINT32_MAX, "", "run number"),
    SL_U32(odin_version, 7, 6, 7, "", "of the ODIN bank"),
    SL_U32(superpixel_version, 2, 2, 4, "", "of the super-pixel banks"),
    SL_U32(cluster_version, 3, 2, 4, "", "of the retina cluster banks, and of the ids in the truth"),
};

/* -------------------------------------------------------------------------------------------------- the ports */

/* One port while a slice is filled. */
struct port {
  struct odin_banks out; /* of any kind: their structs are alike; fields that nobody reads are null */
  const char *name;
  uint64_t banks, words;             /* of the events in the slice */
  uint64_t event_banks, event_words; /* of the event at hand */
};

struct source {
  struct sim_simulation simulation;
  struct port ports[KIND_COUNT];
  uint8_t kind_of_type[256]; /* KIND_COUNT: none */
  uint64_t next;             /* number of the next event */
  uint32_t is_pending;       /* that event is made already */
  uint32_t reserved;
};

enum { TYPES_MAX = 4 };
#define KIND_TYPES_(port, collection, doc, ...) {__VA_ARGS__},
static const uint8_t kind_types[KIND_COUNT][TYPES_MAX] = {IO_RAW_BANK_KINDS(KIND_TYPES_)};

static void begin_ports(struct source *m, const struct source_args *args) {
#define SET_PORT_(port_, collection, doc, ...)                                                         \
  SL_STATIC_ASSERT(sizeof args->port_ == sizeof(struct odin_banks), "all kinds have the same fields"); \
  m->ports[KIND_##port_] = (struct port){.name = #port_};                                              \
  memcpy(&m->ports[KIND_##port_].out, &args->port_, sizeof(struct odin_banks));
  IO_RAW_BANK_KINDS(SET_PORT_)
  memset(m->kind_of_type, KIND_COUNT, sizeof m->kind_of_type);
  for (uint32_t kind = 0; kind < KIND_COUNT; kind++) {
    if (m->ports[kind].out.offsets) m->ports[kind].out.offsets[0] = 0;
    for (uint32_t i = 0; i < TYPES_MAX && kind_types[kind][i] != 0; i++)
      m->kind_of_type[kind_types[kind][i]] = (uint8_t)kind;
  }
}

static int is_wanted(const struct odin_banks *p) {
  return p->offsets || p->source_id || p->type || p->version || p->size_bytes || p->first_word || p->payload;
}

static void count_banks(struct source *m) {
  const struct sim_bank_list *list = &m->simulation.banks;
  for (uint32_t kind = 0; kind < KIND_COUNT; kind++) m->ports[kind].event_banks = m->ports[kind].event_words = 0;
  for (uint32_t i = 0; i < list->banks.count; i++) {
    const uint32_t kind = m->kind_of_type[list->banks.at[i].type];
    if (kind == KIND_COUNT || !is_wanted(&m->ports[kind].out)) continue;
    m->ports[kind].event_banks++;
    m->ports[kind].event_words += (list->banks.at[i].size_bytes + 3u) / 4u;
  }
}

enum fit { FITS, SLICE_IS_FULL, TOO_LARGE };

static enum fit fit_of(const struct source *m, const struct port **port) {
  enum fit worst = FITS;
  for (uint32_t kind = 0; kind < KIND_COUNT && worst != TOO_LARGE; kind++) {
    const struct port *p = &m->ports[kind];
    const uint64_t banks_max = p->out.bound.capacity, words_max = p->out.payload_bound.capacity;
    if (p->banks + p->event_banks <= banks_max && p->words + p->event_words <= words_max) continue;
    worst = p->event_banks > banks_max || p->event_words > words_max ? TOO_LARGE : SLICE_IS_FULL;
    *port = p;
  }
  return worst;
}

static void put_bank(struct port *p, const struct sim_bank *bank, const uint32_t *payload) {
  const struct odin_banks *out = &p->out;
  const uint32_t words = (bank->size_bytes + 3u) / 4u;
  if (out->source_id) out->source_id[p->banks] = bank->source_id;
  if (out->type) out->type[p->banks] = bank->type;
  if (out->version) out->version[p->banks] = bank->version;
  if (out->size_bytes) out->size_bytes[p->banks] = bank->size_bytes;
  if (out->first_word) out->first_word[p->banks] = (uint32_t)p->words;
  if (out->payload && words > 0) memcpy(out->payload + p->words, payload, 4 * (size_t)words);
  p->banks++;
  p->words += words;
}

/* The banks of the event at hand, or none of them. */
static void put_event(struct source *m, uint32_t place, int with_banks) {
  const struct sim_bank_list *list = &m->simulation.banks;
  for (uint32_t i = 0; with_banks && i < list->banks.count; i++) {
    const struct sim_bank *bank = &list->banks.at[i];
    const uint32_t kind = m->kind_of_type[bank->type];
    if (kind == KIND_COUNT || !is_wanted(&m->ports[kind].out)) continue;
    put_bank(&m->ports[kind], bank, list->words.at + bank->first_word);
  }
  for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
    if (m->ports[kind].out.offsets) m->ports[kind].out.offsets[place + 1] = (uint32_t)m->ports[kind].banks;
}

static void finish_ports(struct source *m) {
  for (uint32_t kind = 0; kind < KIND_COUNT; kind++) {
    const struct port *p = &m->ports[kind];
    if (p->out.bound.used && *p->out.bound.used < p->banks) *p->out.bound.used = (uint32_t)p->banks;
    if (p->out.payload_bound.used && *p->out.payload_bound.used < p->words)
      *p->out.payload_bound.used = (uint32_t)p->words;
  }
}

/* ------------------------------------------------------------------------------------------------- the source */

static int source_check(const struct sl_services *s, const void *args_) {
  const struct source_args *args = (const struct source_args *)args_;
  const float sum = args->luminosity_fraction + args->beam_gas_fraction + args->empty_fraction;
  int status = SL_OK;
  if (sum > 1.0f) {
    s->message(s->context, SL_ERROR,
               "luminosity_fraction: more than 1 together with beam_gas_fraction and empty_fraction: %g", (double)sum);
    status = SL_EINVAL;
  }
  struct velo_description velo;
  const int velo_status = velo_description_load(s, args->velo, velo_nominal_text, &velo);
  return velo_status < 0 ? velo_status : status;
}

static int source_open(void *state, const struct sl_services *s, const void *args_, const struct sl_inputs *inputs) {
  const struct source_args *args = (const struct source_args *)args_;
  struct source *m = (struct source *)state;
  if (inputs->path_count > 0) { /* else the runtime had taken the source that reads it */
    s->message(s->context, SL_ERROR, "%s: no source recognises this file", inputs->names[0]);
    return SL_EFORMAT;
  }
  m->simulation.settings = (struct sim_settings){.seed = args->seed,
                                                 .mu = args->mu,
                                                 .luminosity_fraction = args->luminosity_fraction,
                                                 .beam_gas_fraction = args->beam_gas_fraction,
                                                 .empty_fraction = args->empty_fraction,
                                                 .signal = sim_signal_species[args->signal],
                                                 .run = args->run,
                                                 .efficiency = args->velo_efficiency};
  m->simulation.odin_version = args->odin_version;
  m->simulation.superpixel_version = args->superpixel_version;
  m->simulation.cluster_version = args->cluster_version;
  const int status = velo_description_load(s, args->velo, velo_nominal_text, &m->simulation.velo);
  if (status == SL_OK) sim_near_make(&m->simulation.velo, &m->simulation.near);
  return status;
}

static void source_close(void *state) { sim_simulation_free(&((struct source *)state)->simulation); }

/* Appends the event at hand: 0 if the slice is full, else 1. */
static int append(struct source *m, const struct sl_services *s, const struct source_args *args, struct sl_fill *fill) {
  struct sl_event out = {.number = m->next, .offset = m->next, .run = args->run};
  const struct port *port = NULL;
  count_banks(m);
  const enum fit fit = fit_of(m, &port);
  if (fit == SLICE_IS_FULL) return 0;
  if (fit == TOO_LARGE) {
    out.error = SL_EVENT_TOO_LARGE;
    s->message(s->context, SL_WARNING,
               "event %" PRIu64 ": %" PRIu64 " banks and %" PRIu64 " words of %s; a whole slice has room for %" PRIu32
               " and %" PRIu32 " (budgets %s_banks, %s_words)",
               m->next, port->event_banks, port->event_words, port->name, port->out.bound.capacity,
               port->out.payload_bound.capacity, port->name, port->name);
  }
  put_event(m, fill->event_count, fit == FITS);
  fill->events[fill->event_count++] = out;
  return 1;
}

static int source_fill(void *state, const struct sl_services *s, const void *args_, struct sl_fill *fill) {
  const struct source_args *args = (const struct source_args *)args_;
  struct source *m = (struct source *)state;
  int more = 1;
  begin_ports(m, args);
  m->simulation.with_superpixels = is_wanted(&m->ports[KIND_velo_superpixels].out) != 0;
  m->simulation.with_truth = is_wanted(&m->ports[KIND_mc_particles].out) || is_wanted(&m->ports[KIND_mc_vertices].out);
  while (fill->event_count < fill->events_max) {
    more = args->events == 0 || m->next < args->events;
    if (!more) break;
    const int status = m->is_pending ? SL_OK : sim_simulate(&m->simulation, m->next);
    if (status < 0) return status;
    m->is_pending = !append(m, s, args, fill);
    if (m->is_pending) break;
    m->next++;
  }
  finish_ports(m);
  fill->progress_done = m->next;
  fill->progress_total = args->events;
  return more;
}

static const struct sl_source source_functions = {source_open, source_fill, source_close, NULL};

SL_SOURCE(source, "simulated events", struct source, source_functions, SL_CHECK(source_check));
