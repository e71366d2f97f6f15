/* pendulum
 * Written by dynamis VERSION. SI units. Matrices are stored row by row.
 * input x: 2 numbers
 * input t: 1 number
 * input h: 1 number
 * output y: 2 numbers
 */
#ifndef PENDULUM_H
#define PENDULUM_H
#ifdef __cplusplus
extern "C" {
#endif

void pendulum(const double x[2], const double t[1], const double h[1], double y[2]);

#ifdef __cplusplus
}
#endif
#endif
/* pendulum */
#include "pendulum.h"
#include <math.h>

/* Sine and cosine within 2 units in the last place; large angles are left to the C library. */
static inline void pendulum_sincos(double x, double *sine, double *cosine)
{
    if (!(fabs(x) <= 100000.0)) {
        *sine = sin(x);
        *cosine = cos(x);
        return;
    }
    const int n = (int)(x * 0.6366197723675814 + (x < 0.0 ? -0.5 : 0.5));
    const double r = ((x - n * 1.5707963267341256) - n * 6.077100506303966e-11) - n * 2.0222662487959506e-21;
    const double z = r * r;
    const double s = r + r * (z * (((((1.5896230157654656e-10 * z - 2.5050747762857807e-08) * z + 2.7557313621385722e-06) * z - 0.0001984126982958954) * z + 0.008333333333322118) * z - 0.1666666666666663));
    const double c = (((((((-1.1358536521387682e-11) * z + 2.087570084197473e-09) * z - 2.755731417929674e-07) * z + 2.4801587288851704e-05) * z - 0.0013888888888873056) * z + 0.041666666666666595) * z - 0.5) * z + 1.0;
    const double odd = n & 1 ? c : s, even = n & 1 ? s : c;
    *sine = n & 2 ? -odd : odd;
    *cosine = (n + 1) & 2 ? -even : even;
}

void pendulum(const double x[2], const double t[1], const double h[1], double y[2])
{
    (void)t;
    (void)h;
    double v4, v5;
    pendulum_sincos(x[0], &v4, &v5);
    const double v6 = (-9.81) * v4;
    const double v7 = x[1] * v5;
    const double v8 = v6 - 0.1 * v7;
    y[0] = x[1];
    y[1] = v8;
}

#ifdef PENDULUM_SELFTEST
#include <stdio.h>
static const double test_x[1][2] = {{0.25, 0.5}};
static const double test_t[1][1] = {{0.0}};
static const double test_h[1][1] = {{1.0}};
static const double test_y[1][2] = {{0.5, (-2.4754784613724024)}};

int main(void)
{
    int bad = 0;
    for (int s = 0; s < 1; ++s) {
        double y[2];
        pendulum(test_x[s], test_t[s], test_h[s], y);
        double scale0 = 1.0;
        for (int k = 0; k < 2; ++k)
            scale0 = fmax(scale0, fabs(test_y[s][k]));
        for (int k = 0; k < 2; ++k)
            bad += !(fabs(y[k] - test_y[s][k]) <= 1e-9 * scale0);
    }
    printf("pendulum: %d wrong of 1 states\n", bad);
    return bad != 0;
}
#endif
