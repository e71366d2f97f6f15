/* pendulum, with the function interface of CasADi.
 * Compile this file alone: cc -O1 -shared -fPIC pendulum.c -o pendulum.so -lm, then casadi.external("pendulum", "./pendulum.so"). */
#include "pendulum_values.c"
#include "pendulum_jacobian.c"
#if defined _WIN32
#define DYNAMIS_EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define DYNAMIS_EXPORT __attribute__((visibility("default")))
#else
#define DYNAMIS_EXPORT
#endif

static const double pendulum_zeros[2] = {0};
static const long long pendulum_i0[] = {2, 1, 0, 2, 0, 1};
static const long long pendulum_i1[] = {1, 1, 0, 1, 0};
static const long long pendulum_i2[] = {1, 1, 0, 1, 0};
static const long long pendulum_o0[] = {2, 1, 0, 2, 0, 1};
static const int pendulum_w0[] = {0, 1};
DYNAMIS_EXPORT int pendulum(const double **arg, double **res, long long *iw, double *w, int mem)
{
    (void)res, (void)iw, (void)mem;
    pendulum_values(arg[0] ? arg[0] : pendulum_zeros, arg[1] ? arg[1] : pendulum_zeros, arg[2] ? arg[2] : pendulum_zeros, w);
    if (res[0])
        for (int k = 0; k < 2; ++k)
            res[0][k] = w[pendulum_w0[k]];
    return 0;
}

DYNAMIS_EXPORT long long pendulum_n_in(void) { return 3; }
DYNAMIS_EXPORT long long pendulum_n_out(void) { return 1; }

DYNAMIS_EXPORT const char *pendulum_name_in(long long i)
{
    static const char *const names[] = {"x", "t", "h"};
    return i >= 0 && i < 3 ? names[i] : 0;
}

DYNAMIS_EXPORT const char *pendulum_name_out(long long i)
{
    static const char *const names[] = {"y"};
    return i >= 0 && i < 1 ? names[i] : 0;
}

DYNAMIS_EXPORT const long long *pendulum_sparsity_in(long long i)
{
    static const long long *const patterns[] = {pendulum_i0, pendulum_i1, pendulum_i2};
    return i >= 0 && i < 3 ? patterns[i] : 0;
}

DYNAMIS_EXPORT const long long *pendulum_sparsity_out(long long i)
{
    static const long long *const patterns[] = {pendulum_o0};
    return i >= 0 && i < 1 ? patterns[i] : 0;
}

DYNAMIS_EXPORT int pendulum_work(long long *sz_arg, long long *sz_res, long long *sz_iw, long long *sz_w)
{
    if (sz_arg)
        *sz_arg = 3;
    if (sz_res)
        *sz_res = 1;
    if (sz_iw)
        *sz_iw = 0;
    if (sz_w)
        *sz_w = 2;
    return 0;
}

static const double jac_pendulum_zeros[2] = {0};
static const long long jac_pendulum_i0[] = {2, 1, 0, 2, 0, 1};
static const long long jac_pendulum_i1[] = {1, 1, 0, 1, 0};
static const long long jac_pendulum_i2[] = {1, 1, 0, 1, 0};
static const long long jac_pendulum_i3[] = {2, 1, 0, 2, 0, 1};
static const long long jac_pendulum_o0[] = {2, 2, 0, 1, 3, 1, 0, 1};
static const long long jac_pendulum_o1[] = {2, 0, 0};
static const long long jac_pendulum_o2[] = {2, 0, 0};
static const int jac_pendulum_w0[] = {2, 1, 3};
DYNAMIS_EXPORT int jac_pendulum(const double **arg, double **res, long long *iw, double *w, int mem)
{
    (void)res, (void)iw, (void)mem;
    pendulum_jacobian(arg[0] ? arg[0] : jac_pendulum_zeros, arg[1] ? arg[1] : jac_pendulum_zeros, arg[2] ? arg[2] : jac_pendulum_zeros, w);
    if (res[0])
        for (int k = 0; k < 3; ++k)
            res[0][k] = w[jac_pendulum_w0[k]];
    return 0;
}

DYNAMIS_EXPORT long long jac_pendulum_n_in(void) { return 4; }
DYNAMIS_EXPORT long long jac_pendulum_n_out(void) { return 3; }

DYNAMIS_EXPORT const char *jac_pendulum_name_in(long long i)
{
    static const char *const names[] = {"x", "t", "h", "out_y"};
    return i >= 0 && i < 4 ? names[i] : 0;
}

DYNAMIS_EXPORT const char *jac_pendulum_name_out(long long i)
{
    static const char *const names[] = {"jac_y_x", "jac_y_t", "jac_y_h"};
    return i >= 0 && i < 3 ? names[i] : 0;
}

DYNAMIS_EXPORT const long long *jac_pendulum_sparsity_in(long long i)
{
    static const long long *const patterns[] = {jac_pendulum_i0, jac_pendulum_i1, jac_pendulum_i2, jac_pendulum_i3};
    return i >= 0 && i < 4 ? patterns[i] : 0;
}

DYNAMIS_EXPORT const long long *jac_pendulum_sparsity_out(long long i)
{
    static const long long *const patterns[] = {jac_pendulum_o0, jac_pendulum_o1, jac_pendulum_o2};
    return i >= 0 && i < 3 ? patterns[i] : 0;
}

DYNAMIS_EXPORT int jac_pendulum_work(long long *sz_arg, long long *sz_res, long long *sz_iw, long long *sz_w)
{
    if (sz_arg)
        *sz_arg = 4;
    if (sz_res)
        *sz_res = 3;
    if (sz_iw)
        *sz_iw = 0;
    if (sz_w)
        *sz_w = 4;
    return 0;
}
