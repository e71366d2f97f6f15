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

void every_operation(const float x[3], float y[29]);

#ifdef __cplusplus
}
#endif
#endif
/* every_operation */
#include "every_operation.h"
#include <math.h>

void every_operation(const float x[3], float y[29])
{
    const float v3 = x[0] != 0.0f ? x[1] : x[2];
    const float v4 = x[0] > 9.999999974752427e-07f * x[1] ? x[0] : 0.0f;
    const float v5 = x[0] > x[1] || x[0] != x[0] ? x[0] : x[1];
    const float v6 = x[0] < x[1] || x[0] != x[0] ? x[0] : x[1];
    const float v7 = x[0] == 0.0f ? 1.0f : 0.0f;
    const float v8 = x[0] == x[1] ? 1.0f : 0.0f;
    const float v9 = x[0] <= x[1] ? 1.0f : 0.0f;
    const float v10 = x[0] < x[1] ? 1.0f : 0.0f;
    const float v11 = x[0] > x[1] || x[0] != x[0] ? x[0] : x[1];
    const float v12 = x[0] < x[1] || x[0] != x[0] ? x[0] : x[1];
    const float v13 = floorf(x[0]);
    const float v14 = tanhf(x[0]);
    const float v15 = logf(x[0]);
    const float v16 = expf(x[0]);
    const float v17 = powf(x[0], x[1]);
    const float v18 = atan2f(x[0], x[1]);
    const float v19 = acosf(x[0]);
    const float v20 = asinf(x[0]);
    const float v21 = cosf(x[0]);
    const float v22 = sinf(x[0]);
    const float v23 = sqrtf(x[0]);
    const float v24 = x[0] > 0.0f ? 1.0f : x[0] < 0.0f ? -1.0f : x[0] + 0.0f;
    const float v25 = fabsf(x[0]);
    const float v26 = -x[0];
    const float v27 = x[0] / x[1];
    const float v28 = x[0] * x[1];
    const float v29 = x[0] - x[1];
    const float v30 = x[0] + x[1];
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
