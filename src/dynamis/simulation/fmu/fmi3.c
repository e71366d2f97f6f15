/* The interface of FMI 3.0, for model exchange and co-simulation. */
#include <stdbool.h>
#include <stdint.h>

#include "plant.h"

#ifdef FMI3_FUNCTION_PREFIX /* given where FMUs are linked statically */
#define PREFIX JOINED_VALUES(FMI3_FUNCTION_PREFIX, fmi3)
#else
#define PREFIX fmi3
#endif
typedef bool Bool;
typedef void (*Logger)(void *environment, int status, const char *category, const char *message);
typedef void (*Callback)(void);
typedef struct {
    Plant plant;
    Logger log;
    void *environment;
    char *name;
} Instance;

static void log_error(const Instance *own, const char *reason)
{
    if (own->log)
        own->log(own->environment, 3, "logStatusError", reason);
}

#include "interface.h"

EXPORT Text FMI(GetVersion)(void) { return "3.0"; }

static void *instantiated(Text name, Text token, void *environment, Logger log)
{
    Instance given;
    memset(&given, 0, sizeof given);
    given.log = log;
    given.environment = environment;
    return new_instance(&given, name, token);
}

EXPORT void *FMI(InstantiateModelExchange)(Text name, Text token, Text resources, Bool visible, Bool logging, void *environment,
                                           Logger log)
{
    (void)resources, (void)visible, (void)logging;
    return instantiated(name, token, environment, log);
}

EXPORT void *FMI(InstantiateCoSimulation)(Text name, Text token, Text resources, Bool visible, Bool logging, Bool events,
                                          Bool early_return, const uint32_t *intermediate, size_t count, void *environment,
                                          Logger log, Callback intermediate_update)
{
    (void)resources, (void)visible, (void)logging, (void)events, (void)early_return, (void)intermediate, (void)count;
    (void)intermediate_update;
    return instantiated(name, token, environment, log);
}

EXPORT void *FMI(InstantiateScheduledExecution)(Text name, Text token, Text resources, Bool visible, Bool logging,
                                                void *environment, Logger log, Callback clock_update, Callback lock,
                                                Callback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)clock_update, (void)lock, (void)unlock;
    if (log)
        log(environment, ERROR, "logStatusError", "this FMU has no scheduled execution");
    return NULL;
}

EXPORT Status FMI(EnterInitializationMode)(void *instance, Bool with_tolerance, double tolerance, double start, Bool with_stop,
                                           double stop)
{
    (void)with_tolerance, (void)tolerance, (void)with_stop, (void)stop;
    PLANT->value[TIME] = start;
    return OK;
}

WITHOUT_ACTION(EnterStepMode)
WITHOUT_ACTION(EnterConfigurationMode)
WITHOUT_ACTION(ExitConfigurationMode)
WITHOUT_ACTION(EvaluateDiscreteStates)

EXPORT Status FMI(GetFloat64)(void *instance, const uint32_t *reference, size_t count, double *value, size_t values)
{
    return answer(instance, values == count ? get_values(PLANT, reference, count, value) : "all variables are scalars");
}

EXPORT Status FMI(SetFloat64)(void *instance, const uint32_t *reference, size_t count, const double *value, size_t values)
{
    return answer(instance, values == count ? set_values(PLANT, reference, count, value) : "all variables are scalars");
}

EXPORT Status FMI(GetDirectionalDerivative)(void *instance, const uint32_t *unknown, size_t unknowns, const uint32_t *known,
                                            size_t knowns, const double *seed, size_t seeds, double *sensitivity,
                                            size_t sensitivities)
{
    if (seeds != knowns || sensitivities != unknowns)
        return answer(instance, "all variables are scalars");
    return answer(instance, directional_derivatives(PLANT, unknown, unknowns, known, knowns, seed, sensitivity));
}

EXPORT Status FMI(UpdateDiscreteStates)(void *instance, Bool *needed, Bool *terminate, Bool *nominals_changed,
                                        Bool *states_changed, Bool *next_event_defined, double *next_event)
{
    (void)instance, (void)next_event;
    *needed = *terminate = *nominals_changed = *states_changed = *next_event_defined = false;
    return OK;
}

EXPORT Status FMI(GetNumberOfEventIndicators)(void *instance, size_t *count)
{
    (void)instance;
    *count = 0;
    return OK;
}

EXPORT Status FMI(GetNumberOfContinuousStates)(void *instance, size_t *count)
{
    (void)instance;
    *count = NX;
    return OK;
}

EXPORT Status FMI(DoStep)(void *instance, double start, double duration, Bool final, Bool *events, Bool *terminate,
                          Bool *early_return, double *last)
{
    (void)final;
    *events = *terminate = *early_return = false;
    const char *reason = advance(PLANT, start, duration);
    *last = PLANT->value[TIME];
    return answer(instance, reason);
}

#if defined __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define TYPE(name, type) \
    EXPORT Status FMI(Get##name)(void *instance, const uint32_t *reference, size_t count, type *value, size_t values) \
    { \
        return answer(instance, NO_SUCH_TYPE); \
    } \
    EXPORT Status FMI(Set##name)(void *instance, const uint32_t *reference, size_t count, const type *value, size_t values) \
    { \
        return answer(instance, NO_SUCH_TYPE); \
    }
TYPE(Float32, float)
TYPE(Int8, int8_t)
TYPE(UInt8, uint8_t)
TYPE(Int16, int16_t)
TYPE(UInt16, uint16_t)
TYPE(Int32, int32_t)
TYPE(UInt32, uint32_t)
TYPE(Int64, int64_t)
TYPE(UInt64, uint64_t)
TYPE(Boolean, Bool)
TYPE(String, Text)
typedef const uint8_t *Binary;
REFUSED(GetBinary, const uint32_t *reference, size_t count, size_t *sizes, Binary *value, size_t values)
REFUSED(SetBinary, const uint32_t *reference, size_t count, const size_t *sizes, const Binary *value, size_t values)
REFUSED(GetClock, const uint32_t *reference, size_t count, Bool *value)
REFUSED(SetClock, const uint32_t *reference, size_t count, const Bool *value)
REFUSED(GetNumberOfVariableDependencies, uint32_t reference, size_t *count)
REFUSED(GetVariableDependencies, uint32_t dependent, size_t *elements, uint32_t *independents, size_t *their_elements,
        int *kinds, size_t count)
REFUSED(GetAdjointDerivative, const uint32_t *unknown, size_t unknowns, const uint32_t *known, size_t knowns,
        const double *seed, size_t seeds, double *sensitivity, size_t sensitivities)
REFUSED(GetOutputDerivatives, const uint32_t *reference, size_t count, const int32_t *order, double *value, size_t values)
REFUSED(GetIntervalDecimal, const uint32_t *clock, size_t count, double *interval, int *qualifier)
REFUSED(GetIntervalFraction, const uint32_t *clock, size_t count, uint64_t *counter, uint64_t *resolution, int *qualifier)
REFUSED(GetShiftDecimal, const uint32_t *clock, size_t count, double *shift)
REFUSED(GetShiftFraction, const uint32_t *clock, size_t count, uint64_t *counter, uint64_t *resolution)
REFUSED(SetIntervalDecimal, const uint32_t *clock, size_t count, const double *interval)
REFUSED(SetIntervalFraction, const uint32_t *clock, size_t count, const uint64_t *counter, const uint64_t *resolution)
REFUSED(SetShiftDecimal, const uint32_t *clock, size_t count, const double *shift)
REFUSED(SetShiftFraction, const uint32_t *clock, size_t count, const uint64_t *counter, const uint64_t *resolution)
REFUSED(ActivateModelPartition, uint32_t clock, double time)
