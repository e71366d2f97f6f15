// f: one state a thread
typedef double T;
#define DEVICE static __device__ __forceinline__
#define BLOCK 128
#define FMA fma
#define ABS fabs

DEVICE void sine_cosine(T x, T *sine, T *cosine)
{
    if (!(ABS(x) <= T(100000.0))) {
        sincos(x, sine, cosine);
        return;
    }
    const T times = FMA(x, T(0.6366197723675814), T(6755399441055744.0)) - T(6755399441055744.0);
    const int quadrant = (int)times;
    T r = x;
    r = FMA(-times, T(1.5707963267948966), r);
    r = FMA(-times, T(6.123233995736765e-17), r);
    r = FMA(-times, T(1.0828566739219139e-32), r);
    const T z = r * r;
    T s = T(1.5896230157654656e-10), c = T(-1.1358536521387682e-11);
    s = FMA(s, z, T(-2.5050747762857807e-08));
    s = FMA(s, z, T(2.7557313621385722e-06));
    s = FMA(s, z, T(-0.0001984126982958954));
    s = FMA(s, z, T(0.008333333333322118));
    s = FMA(s, z, T(-0.1666666666666663));
    c = FMA(c, z, T(2.087570084197473e-09));
    c = FMA(c, z, T(-2.755731417929674e-07));
    c = FMA(c, z, T(2.4801587288851704e-05));
    c = FMA(c, z, T(-0.0013888888888873056));
    c = FMA(c, z, T(0.041666666666666595));
    c = FMA(c, z, T(-0.5));
    c = FMA(c, z, T(1.0));
    s = FMA(s * z, r, r);
    const T a = quadrant & 1 ? c : s, b = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -a : a;
    *cosine = (quadrant + 1) & 2 ? -b : b;
}

DEVICE void f_state(const T *in0, const T *in1, const T *in2, T *out0)
{
    T s4, c4;
    sine_cosine(in0[0], &s4, &c4);
    const T v4 = s4;
    const T v5 = c4;
    const T v6 = in0[1] * v5;
    const T v7 = (-9.81) * v4;
    const T v8 = fma(-0.1, v6, v7);
    out0[0] = in0[1];
    out0[1] = v8;
}
#ifdef __CUDACC__
__constant__ T PART[] = {T(0.0), T(0.5), T(0.5), T(1.0)};
__constant__ T WEIGHT[] = {T(0.16666666666666666), T(0.3333333333333333), T(0.3333333333333333), T(0.16666666666666666)};
extern "C" __global__ void __launch_bounds__(BLOCK) f(const T *__restrict__ in0, long long step0,
    T *__restrict__ out, long long n, T begin, T length, int first, int reports, int every)
{
    const long long own = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (own >= n)
        return;
    T y[2];
    T t[1], h[1] = {length}, z[2];
    for (int k = 0; k < 2; ++k)
        y[k] = in0[own * step0 + k];
#pragma unroll 1
    for (int r = 0; r < reports; ++r) {
#pragma unroll 1
        for (int s = 0; s < every; ++s) {
            const T now = begin + T(first + r * every + s) * length;
            T before[2], rate[2];
#pragma unroll
            for (int k = 0; k < 2; ++k)
                before[k] = z[k] = y[k];
#pragma unroll 1
            for (int j = 0; j < 4; ++j) {
                t[0] = now + PART[j] * length;
                f_state(z, t, h, rate);
                const T weight = WEIGHT[j] * length;
                const T part = j + 1 < 4 ? PART[j + 1] * length : T(0);
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    y[k] = FMA(weight, rate[k], y[k]);
                    z[k] = FMA(part, rate[k], before[k]);
                }
            }
        }
        for (int k = 0; k < 2; ++k)
            out[((long long)r * n + own) * 2 + k] = y[k];
    }
}
#endif
