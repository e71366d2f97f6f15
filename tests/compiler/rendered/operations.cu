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

DEVICE void f_state(const T *in0, T *out0)
{
    const T v3 = in0[0] + in0[1];
    const T v4 = in0[0] - in0[1];
    const T v5 = in0[0] * in0[1];
    const T v6 = in0[0] / in0[1];
    const T v7 = -in0[0];
    const T v8 = fabs(in0[0]);
    const T v9 = in0[0] > 0.0 ? 1.0 : in0[0] < 0.0 ? -1.0 : in0[0] + 0.0;
    const T v10 = sqrt(in0[0]);
    T s11, c11;
    sine_cosine(in0[0], &s11, &c11);
    const T v11 = s11;
    const T v12 = c11;
    const T v13 = asin(in0[0]);
    const T v14 = acos(in0[0]);
    const T v15 = atan2(in0[0], in0[1]);
    const T v16 = pow(in0[0], in0[1]);
    const T v17 = exp(in0[0]);
    const T v18 = log(in0[0]);
    const T v19 = tanh(in0[0]);
    const T v20 = floor(in0[0]);
    const T v21 = in0[0] < in0[1] || in0[0] != in0[0] ? in0[0] : in0[1];
    const T v22 = in0[0] > in0[1] || in0[0] != in0[0] ? in0[0] : in0[1];
    const T v23 = in0[0] < in0[1] ? 1.0 : 0.0;
    const T v24 = in0[0] <= in0[1] ? 1.0 : 0.0;
    const T v25 = in0[0] == in0[1] ? 1.0 : 0.0;
    const T v26 = in0[0] == 0.0 ? 1.0 : 0.0;
    const T v27 = in0[0] < in0[1] || in0[0] != in0[0] ? in0[0] : in0[1];
    const T v28 = in0[0] > in0[1] || in0[0] != in0[0] ? in0[0] : in0[1];
    const T v29 = in0[0] > 1e-11 * in0[1] ? in0[0] : 0.0;
    const T v30 = in0[0] != 0.0 ? in0[1] : in0[2];
    out0[0] = v3;
    out0[1] = v4;
    out0[2] = v5;
    out0[3] = v6;
    out0[4] = v7;
    out0[5] = v8;
    out0[6] = v9;
    out0[7] = v10;
    out0[8] = v11;
    out0[9] = v12;
    out0[10] = v13;
    out0[11] = v14;
    out0[12] = v15;
    out0[13] = v16;
    out0[14] = v17;
    out0[15] = v18;
    out0[16] = v19;
    out0[17] = v20;
    out0[18] = v21;
    out0[19] = v22;
    out0[20] = v23;
    out0[21] = v24;
    out0[22] = v25;
    out0[23] = v26;
    out0[24] = v27;
    out0[25] = v28;
    out0[26] = in0[0];
    out0[27] = v29;
    out0[28] = v30;
}

#ifdef __CUDACC__
template <int SIZE> DEVICE void copy_row(const T *from, T *to)
{
#pragma unroll
    for (int k = 0; k < SIZE; ++k)
        to[k] = from[k];
}

template <int SIZE, int WIDTH> DEVICE void write_rows(T *to, int rows, const T *row, T *tile)
{
    constexpr int UNROLLED = SIZE <= 512 ? SIZE : 1;  // a longer row is in memory anyway
#pragma unroll UNROLLED
    for (int start = 0; start < SIZE; start += WIDTH) {
        const int width = SIZE - start < WIDTH ? SIZE - start : WIDTH;
        __syncthreads();
#pragma unroll UNROLLED
        for (int k = 0; k < width; ++k)
            tile[threadIdx.x * width + k] = row[start + k];
        __syncthreads();
        for (int k = threadIdx.x; k < rows * width; k += BLOCK)
            to[(k / width) * SIZE + start + k % width] = tile[k];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) f(const T *__restrict__ in0, long long step0, T *__restrict__ out0, long long n)
{
    const long long first = (long long)blockIdx.x * BLOCK, own = first + threadIdx.x;
    const long long from = own < n ? own : n - 1;
    T x0[3];
    copy_row<3>(in0 + from * step0, x0);
    T y0[29];
    f_state(x0, y0);
    __shared__ T tile[BLOCK * 29];
    const int rows = n - first < BLOCK ? (int)(n - first) : BLOCK;
    write_rows<29, 29>(out0 + first * 29, rows, y0, tile);
}
#endif
