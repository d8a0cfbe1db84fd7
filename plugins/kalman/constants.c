/* kalman.constants: transport between planes, scattering, energy loss and resolution for kalman.fit.
 */
#include "kalman/description.h"
#include "kalman/event_model.h"

#include <math.h>
#include <stdlib.h>

#define SL_ARGS constants_args
#define CONSTANTS(M)                                                                                                 \
  M(FILE_IN, path, "", "", "polynomials of the transport (README.md, \"The file\"); empty: the nominal ones")        \
  M(F64, velo_to_ut, 1, 0, 100, "", "factor on the scattering between VELO and UT")                                  \
  M(F64_ARRAY, energy_loss, 4, "[1.5, 3.6, 4.3, 6]", 0, 1000, "MeV",                                                 \
    "energy loss from the end of the VELO to the middle of a leg: VELO to UT, in the UT, UT to SciFi, in the SciFi") \
  M(F64, ut_error, 1, 1e-3, 100, "", "standard deviation of a UT hit in units of pitch / sqrt(12)")                  \
  M(F64_ARRAY, scifi_error, 6, "[0.45, 0.08, 0.36, 0.47, 0.5, 0.55]", 1e-3, 10, "mm",                                \
    "standard deviation of a SciFi hit by pseudo_size of scifi_hits: pieces of wide clusters (0), then 4 to 8")      \
  M(OUT, kalman, kalman_constants, "constants of the Kalman fit")
SL_HOST_ARGUMENTS(constants, CONSTANTS);

/* Material between VELO and SciFi that scatters: z in mm and radiation lengths (README.md, "Material"). */
static const struct {
  double z, x0;
} scatterers[] = {{835, 0.105},    {1000, 0.060},   {1450, 0.050},   {1800, 0.070},   {2165, 0.050},   {2270, 0.020},
                  {2327.5, 0.011}, {2372.5, 0.011}, {2597.5, 0.011}, {2642.5, 0.011}, {2700, 0.005},   {5168.12, 0.017},
                  {7826.1, 0.011}, {7895.9, 0.011}, {7966.1, 0.011}, {8035.9, 0.011}, {8508.1, 0.011}, {8577.9, 0.011},
                  {8648.1, 0.011}, {8717.9, 0.011}, {9193.1, 0.011}, {9262.9, 0.011}, {9333.1, 0.011}, {9402.9, 0.011}};
static const double plane_thickness = 1; /* mm: a scatterer up to here downstream of a plane is that of its layer */

/* ln(x) for 0 < x <= 1, by atanh's series: the same bits on all machines. */
static double log_of(double x) {
  double sum = 0, series = 0;
  while (x < 0.7) {
    sum -= 0.693147180559945309;
    x *= 2;
  }
  const double t = (x - 1) / (x + 1), t2 = t * t;
  for (int k = 39; k > 0; k -= 2) series = series * t2 + 1.0 / k;
  return sum + 2 * t * series;
}

static void sum_noise(const struct kalman_leg *leg, int l, double factor, float *noise) {
  double sums[KALMAN_LEG_NOISES] = {0, 0, 0};
  const double begin = leg->z_begin + plane_thickness, end = leg->z_end + plane_thickness;
  for (size_t i = 0; i < sizeof scatterers / sizeof scatterers[0]; i++) {
    if (scatterers[i].z <= begin || scatterers[i].z > end) continue;
    const double x0 = scatterers[i].x0, root = 1 + 0.038 * log_of(x0), away = leg->z_end - scatterers[i].z;
    const double lever = away < plane_thickness ? 0 : away;
    double k = x0 * root * root * (l == KALMAN_V && lever > 0 ? factor : 1);
    for (int n = 0; n < KALMAN_LEG_NOISES; n++, k *= lever) sums[n] += k;
  }
  for (int n = 0; n < KALMAN_LEG_NOISES; n++) noise[n] = (float)sums[n];
}

static int part_of(int leg) { return leg == KALMAN_V ? 0 : leg + 1 < KALMAN_T0 ? 1 : leg + 1 == KALMAN_T0 ? 2 : 3; }

static int make(const struct sl_services *s, const struct constants_args *args) {
  float *scales = s->make_array(s->context, "kalman", "scales", KALMAN_LEGS * KALMAN_LEG_SCALES);
  float *coefficients = s->make_array(s->context, "kalman", "coefficients", KALMAN_COEFFICIENTS);
  float *plane_z = s->make_array(s->context, "kalman", "plane_z", KALMAN_PLANES);
  float *noise = s->make_array(s->context, "kalman", "noise", KALMAN_LEGS * KALMAN_LEG_NOISES);
  float *energy_loss = s->make_array(s->context, "kalman", "energy_loss", KALMAN_LEGS);
  float *ut_variance = s->make_array(s->context, "kalman", "ut_variance", 1);
  float *scifi_variance = s->make_array(s->context, "kalman", "scifi_variance", KALMAN_SIZES);
  struct kalman_description *d = malloc(sizeof *d);
  struct kalman_polynomials *p = malloc(sizeof *p);
  int status = scales && coefficients && plane_z && noise && energy_loss && ut_variance && scifi_variance && d && p
                   ? kalman_load_path(s, args->path, d)
                   : SL_ENOMEM;
  if (status == SL_OK) {
    kalman_round(d, p);
    for (int l = 0; l < KALMAN_LEGS; l++) {
      const struct kalman_leg_scales *from = &p->legs[l];
      const float values[KALMAN_LEG_SCALES] = {from->dz, from->x, from->y, from->u, from->v, from->pivot, from->bend};
      memcpy(scales + l * KALMAN_LEG_SCALES, values, sizeof values);
      sum_noise(&d->legs[l], l, args->velo_to_ut, noise + l * KALMAN_LEG_NOISES);
      energy_loss[l] = (float)args->energy_loss[part_of(l)];
      plane_z[l] = (float)d->legs[l].z_begin;
      plane_z[l + 1] = (float)d->legs[l].z_end;
    }
    memcpy(coefficients, p->coefficients, sizeof p->coefficients);
    *ut_variance = (float)(args->ut_error * args->ut_error);
    for (int size = 0; size < KALMAN_SIZES; size++) {
      const double error = args->scifi_error[size < 4 ? 0 : size - 3];
      scifi_variance[size] = (float)(error * error);
    }
  }
  free(d);
  free(p);
  return status;
}

SL_CONSTANT(constants, "transport, scattering, energy loss and resolution for the Kalman fit of long tracks", make);
