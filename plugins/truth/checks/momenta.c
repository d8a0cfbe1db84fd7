/* momenta.c: see momenta.h. */
#include "momenta.h"

#include "tally.h"

#include <inttypes.h>
#include <math.h>

static const struct {
  const char *name;
  float end; /* MeV */
} bins[MOMENTUM_BINS + 1] = {{"p < 3 GeV", 3e3f},    {"3 to 5 GeV", 5e3f},   {"5 to 10 GeV", 1e4f},
                             {"10 to 20 GeV", 2e4f}, {"20 to 50 GeV", 5e4f}, {"p > 50 GeV", INFINITY},
                             {"all", INFINITY}};

static void add(struct momenta *m, uint32_t bin, double range, double relative) {
  spread_add(&m->qop[bin], range, relative - 1);
  spread_add(&m->p[bin], range, 1 / fabs(relative) - 1);
  m->right_charges[bin] += relative > 0;
}

static const double pull_range = 20;

static int is_counted(const struct mc_particle *particle, uint32_t flags) {
  return (particle->flags & flags) == flags && !mc_is_electron(particle) && particle->p > 0 && particle->charge != 0;
}

static uint32_t bin_of(const struct mc_particle *particle) {
  uint32_t bin = 0;
  while (bin + 1 < MOMENTUM_BINS && particle->p >= bins[bin].end) bin++;
  return bin;
}

void momenta_add(struct momenta *m, double range, const struct mc_particle *particle, uint32_t flags, double qop) {
  if (!is_counted(particle, flags)) return;
  const double relative = qop * (double)particle->p / (double)particle->charge;
  const uint32_t bin = bin_of(particle);
  add(m, bin, range, relative);
  add(m, ALL_MOMENTA, range, relative);
}

void momenta_add_pull(struct momenta *m, const struct mc_particle *particle, uint32_t flags, double qop,
                      double variance) {
  if (!is_counted(particle, flags)) return;
  const double error = variance > 0 ? sqrt(variance) : NAN;
  const double pull = (qop - (double)particle->charge / (double)particle->p) / error;
  const double towards_charge = particle->charge > 0 ? pull : -pull; /* positive: momentum too low */
  spread_add(&m->pull[bin_of(particle)], pull_range, towards_charge);
  spread_add(&m->pull[ALL_MOMENTA], pull_range, towards_charge);
}

static void report_pull(const struct spread *pull, const struct sl_report *r) {
  r->number(r->context, "pull_median", spread_median(pull, pull_range));
  r->number(r->context, "pull_median_error", spread_median_error(pull, pull_range));
  r->number(r->context, "pull_width", spread_width(pull, pull_range));
  r->number(r->context, "pull_width_error", spread_width_error(pull, pull_range));
}

static void report_bin(const struct momenta *m, uint32_t bin, double range, const struct sl_report *r) {
  const struct spread *qop = &m->qop[bin], *p = &m->p[bin];
  const double charge = ratio((double)m->right_charges[bin], (double)qop->count);
  r->begin_object(r->context, NULL);
  r->text(r->context, "name", bins[bin].name);
  r->integer(r->context, "tracks", (int64_t)qop->count);
  r->number(r->context, "mean", spread_mean(qop));
  r->number(r->context, "median", spread_median(qop, range));
  r->number(r->context, "median_error", spread_median_error(qop, range));
  r->number(r->context, "width", spread_width(qop, range));
  r->number(r->context, "width_error", spread_width_error(qop, range));
  r->number(r->context, "p_median", spread_median(p, range));
  r->number(r->context, "p_median_error", spread_median_error(p, range));
  r->number(r->context, "p_width", spread_width(p, range));
  r->number(r->context, "p_width_error", spread_width_error(p, range));
  r->number(r->context, "right_charge", charge);
  if (m->pull[ALL_MOMENTA].count > 0) report_pull(&m->pull[bin], r);
  r->end_object(r->context);
  if (qop->count == 0) return;
  r->line(r->context,
          "q/p, %-29s %7" PRIu64
          " tracks  width %6.2f +- %5.2f %%  median %6.2f +- %5.2f %%  p: width %6.2f %%  median %6.2f %%  "
          "right charge %6.2f %%",
          bins[bin].name, qop->count, 100 * spread_width(qop, range), 100 * spread_width_error(qop, range),
          100 * spread_median(qop, range), 100 * spread_median_error(qop, range), 100 * spread_width(p, range),
          100 * spread_median(p, range), 100 * charge);
  if (m->pull[bin].count > 0)
    r->line(r->context, "pull of q/p, %-21s %7" PRIu64 " tracks  width %6.3f +- %5.3f    median %6.3f +- %5.3f",
            bins[bin].name, m->pull[bin].count, spread_width(&m->pull[bin], pull_range),
            spread_width_error(&m->pull[bin], pull_range), spread_median(&m->pull[bin], pull_range),
            spread_median_error(&m->pull[bin], pull_range));
}

void momenta_report(const struct momenta *m, double range, const struct sl_report *r) {
  r->begin_array(r->context, "momentum");
  for (uint32_t bin = 0; bin <= MOMENTUM_BINS; bin++) report_bin(m, bin, range, r);
  r->end_array(r->context);
  spread_report_ignored(&m->qop[ALL_MOMENTA], "q/p", r);
  spread_report_ignored(&m->p[ALL_MOMENTA], "p", r);
  spread_report_ignored(&m->pull[ALL_MOMENTA], "the pull of q/p", r);
}
