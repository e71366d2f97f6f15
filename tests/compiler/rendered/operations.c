/* every_operation
 * Written by dynamis VERSION. SI units. Matrices are stored row by row.
 * input x: 3 numbers
 * output y: 29 numbers
 */
#ifndef EVERY_OPERATION_H
#define EVERY_OPERATION_H
#ifdef __cplusplus
extern "C" {
#endif

void every_operation(const double x[3], double y[29]);

#ifdef __cplusplus
}
#endif
#endif
/* every_operation */
#include "every_operation.h"
#include <math.h>

/* Sine and cosine within 2 units in the last place; large angles are left to the C library. */
static inline void every_operation_sincos(double x, double *sine, double *cosine)
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

void every_operation(const double x[3], double y[29])
{
    const double v3 = x[0] != 0.0 ? x[1] : x[2];
    const double v4 = x[0] > 1e-11 * x[1] ? x[0] : 0.0;
    const double v5 = x[0] > x[1] || x[0] != x[0] ? x[0] : x[1];
    const double v6 = x[0] < x[1] || x[0] != x[0] ? x[0] : x[1];
    const double v7 = x[0] == 0.0 ? 1.0 : 0.0;
    const double v8 = x[0] == x[1] ? 1.0 : 0.0;
    const double v9 = x[0] <= x[1] ? 1.0 : 0.0;
    const double v10 = x[0] < x[1] ? 1.0 : 0.0;
    const double v11 = x[0] > x[1] || x[0] != x[0] ? x[0] : x[1];
    const double v12 = x[0] < x[1] || x[0] != x[0] ? x[0] : x[1];
    const double v13 = floor(x[0]);
    const double v14 = tanh(x[0]);
    const double v15 = log(x[0]);
    const double v16 = exp(x[0]);
    const double v17 = pow(x[0], x[1]);
    const double v18 = atan2(x[0], x[1]);
    const double v19 = acos(x[0]);
    const double v20 = asin(x[0]);
    double v22, v21;
    every_operation_sincos(x[0], &v22, &v21);
    const double v23 = sqrt(x[0]);
    const double v24 = x[0] > 0.0 ? 1.0 : x[0] < 0.0 ? -1.0 : x[0] + 0.0;
    const double v25 = fabs(x[0]);
    const double v26 = -x[0];
    const double v27 = x[0] / x[1];
    const double v28 = x[0] * x[1];
    const double v29 = x[0] - x[1];
    const double v30 = x[0] + x[1];
    y[0] = v30;
    y[1] = v29;
    y[2] = v28;
    y[3] = v27;
    y[4] = v26;
    y[5] = v25;
    y[6] = v24;
    y[7] = v23;
    y[8] = v22;
    y[9] = v21;
    y[10] = v20;
    y[11] = v19;
    y[12] = v18;
    y[13] = v17;
    y[14] = v16;
    y[15] = v15;
    y[16] = v14;
    y[17] = v13;
    y[18] = v12;
    y[19] = v11;
    y[20] = v10;
    y[21] = v9;
    y[22] = v8;
    y[23] = v7;
    y[24] = v6;
    y[25] = v5;
    y[26] = x[0];
    y[27] = v4;
    y[28] = v3;
}
