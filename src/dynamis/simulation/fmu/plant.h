/* What the interfaces of FMI 2 and FMI 3 share: variables, evaluation, and integration by Runge-Kutta steps.
 *
 * All variables are real numbers in one array; a value reference is a place in it:
 * time, states x, inputs u, parameters p, rates of the states, outputs computed from them.
 * A function that fails returns the reason, otherwise NULL. */
#ifndef PLANT_H
#define PLANT_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "dynamis_rates.h"
#include "model.h"
#ifdef WITH_SLOPES
#include "dynamis_slopes.h"
#endif

enum {
    TIME = 0,
    STATES = 1,
    INPUTS = STATES + NX,
    PARAMETERS = INPUTS + NU, /* the first is the step of the integration */
    RATES = PARAMETERS + NP,
    COUNT = RATES + NX + NY
};
#define MAX_STEPS 1e9 /* in one call */

typedef struct {
    double value[COUNT];
    int evaluated;   /* rates and outputs belong to the present states, inputs and parameters */
    int initialized; /* states and parameters have their start values */
    unsigned char given[NX]; /* states whose start values were set */
} Plant;

static void restart(Plant *plant)
{
    memset(plant, 0, sizeof *plant);
    memcpy(plant->value + STATES, start_values, sizeof start_values);
}

static const char *rates_at(const Plant *plant, const double *x, double *rates)
{
    dynamis_rates(x, plant->value + INPUTS, plant->value + PARAMETERS, rates);
    for (int k = 0; k < NX; ++k)
        if (!isfinite(rates[k]))
            return "the accelerations are not finite: the mass matrix is singular, or the motion diverged";
    return NULL;
}

static const char *evaluate(Plant *plant)
{
    if (plant->evaluated)
        return NULL;
    const char *reason = rates_at(plant, plant->value + STATES, plant->value + RATES);
    plant->evaluated = reason == NULL;
    return reason;
}

static void normalize(double *x)
{
    for (const int *place = quaternions; *place >= 0; ++place) {
        double *h = x + *place;
        const double norm = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2] + h[3] * h[3]);
        for (int k = 0; k < 4; ++k)
            h[k] /= norm;
    }
}

/* States of drives begin at the position or velocity of their joint unless they were set. */
static const char *initialize(Plant *plant)
{
    double *const x = plant->value + STATES;
    for (const int *pair = followers; *pair >= 0; pair += 2)
        if (!plant->given[pair[0]])
            x[pair[0]] = x[pair[1]];
    normalize(x);
    plant->evaluated = 0;
    plant->initialized = 1;
    return evaluate(plant);
}

static const char *get_values(Plant *plant, const unsigned *reference, size_t count, double *value)
{
    for (size_t k = 0; k < count; ++k) {
        if (reference[k] >= COUNT)
            return "there is no variable with this value reference";
        const char *reason = reference[k] >= RATES ? evaluate(plant) : NULL;
        if (reason)
            return reason;
        value[k] = plant->value[reference[k]];
    }
    return NULL;
}

static const char *set_values(Plant *plant, const unsigned *reference, size_t count, const double *value)
{
    for (size_t k = 0; k < count; ++k) {
        const unsigned place = reference[k];
        if (place == TIME || place >= RATES)
            return "only states, inputs and parameters can be set";
        if (plant->initialized && (place < INPUTS || place >= PARAMETERS))
            return "states and parameters cannot be set after initialization";
        if (!isfinite(value[k]))
            return "a value to be set is not a finite number";
        if (place == PARAMETERS && !(value[k] > 0.0))
            return "the step must be positive";
        plant->value[place] = value[k];
        plant->evaluated = 0;
        if (place < INPUTS)
            plant->given[place - STATES] = 1;
    }
    return NULL;
}

/* Derivatives of unknowns along a direction of states, inputs and parameters. */
static const char *directional_derivatives(const Plant *plant, const unsigned *unknown, size_t unknowns, const unsigned *known,
                                           size_t knowns, const double *seed, double *sensitivity)
{
#ifdef WITH_SLOPES
    double direction[RATES] = {0.0}, slopes[NX + NY];
    for (size_t k = 0; k < knowns; ++k) {
        if (known[k] >= RATES)
            return "derivatives are with respect to states, inputs and parameters";
        direction[known[k]] += seed[k];
    }
    const double *const at = plant->value;
    dynamis_slopes(at + STATES, at + INPUTS, at + PARAMETERS, direction + STATES, direction + INPUTS, direction + PARAMETERS, slopes);
    for (size_t k = 0; k < unknowns; ++k) {
        if (unknown[k] >= COUNT)
            return "there is no variable with this value reference";
        sensitivity[k] = unknown[k] < RATES ? direction[unknown[k]] : slopes[unknown[k] - RATES];
        if (!isfinite(sensitivity[k]))
            return "the derivatives are not finite: the mass matrix is singular, or the motion diverged";
    }
    return NULL;
#else
    (void)plant, (void)unknown, (void)unknowns, (void)known, (void)knowns, (void)seed, (void)sensitivity;
    return "this FMU was written without derivatives";
#endif
}

static void set_states(Plant *plant, const double *x)
{
    memcpy(plant->value + STATES, x, NX * sizeof *x);
    plant->evaluated = 0;
}

static const char *one_step(Plant *plant, double h)
{
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double *const x = plant->value + STATES;
    double at[NX], rates[NX + NY] = {0.0}, sum[NX] = {0.0};
    for (int stage = 0; stage < 4; ++stage) {
        for (int k = 0; k < NX; ++k)
            at[k] = x[k] + part[stage] * h * rates[k];
        const char *reason = rates_at(plant, at, rates);
        if (reason)
            return reason;
        for (int k = 0; k < NX; ++k)
            sum[k] += weight[stage] * rates[k];
    }
    for (int k = 0; k < NX; ++k)
        x[k] += h * sum[k] / 6.0;
    normalize(x);
    plant->value[TIME] += h;
    plant->evaluated = 0;
    return NULL;
}

/* Equal steps, none longer than the parameter; inputs are constant. */
static const char *advance(Plant *plant, double start, double duration)
{
    const double count = fmax(1.0, ceil(duration / plant->value[PARAMETERS] - 1e-6));
    if (!(duration >= 0.0 && count <= MAX_STEPS))
        return "the communication step is negative, or too long for the step of the integration";
    plant->value[TIME] = start;
    for (double k = 0.0; k < count; ++k) {
        const char *reason = one_step(plant, duration / count);
        if (reason)
            return reason;
    }
    plant->value[TIME] = start + duration;
    return NULL;
}

#endif
