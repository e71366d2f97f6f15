/* The interface of FMI 2.0, for model exchange and co-simulation. */
#include "plant.h"

#ifdef FMI2_FUNCTION_PREFIX /* given where FMUs are linked statically */
#define PREFIX JOINED_VALUES(FMI2_FUNCTION_PREFIX, fmi2)
#else
#define PREFIX fmi2
#endif
#define GetFMUState GetFMUstate
#define SetFMUState SetFMUstate
#define FreeFMUState FreeFMUstate
#define SerializedFMUStateSize SerializedFMUstateSize
#define SerializeFMUState SerializeFMUstate
#define DeserializeFMUState DeSerializeFMUstate
#define GetContinuousStateDerivatives GetDerivatives

typedef int Bool;
typedef struct {
    void (*log)(void *environment, const char *name, int status, const char *category, const char *message, ...);
    void *(*allocate)(size_t count, size_t size);
    void (*release)(void *memory);
    void (*step_finished)(void *environment, int status);
    void *environment;
} Callbacks;
typedef struct {
    Plant plant;
    Callbacks callbacks;
    char *name;
} Instance;

static void log_error(const Instance *own, const char *reason)
{
    if (own->callbacks.log)
        own->callbacks.log(own->callbacks.environment, own->name, 3, "logStatusError", reason);
}

#include "interface.h"

EXPORT Text FMI(GetTypesPlatform)(void) { return "default"; }
EXPORT Text FMI(GetVersion)(void) { return "2.0"; }

EXPORT void *FMI(Instantiate)(Text name, int type, Text guid, Text resources, const Callbacks *callbacks, Bool visible, Bool logging)
{
    (void)type, (void)resources, (void)visible, (void)logging;
    Instance given;
    memset(&given, 0, sizeof given);
    if (callbacks)
        given.callbacks = *callbacks;
    given.name = (char *)name; /* of the message, if the token is refused */
    return new_instance(&given, name, guid);
}

EXPORT Status FMI(SetupExperiment)(void *instance, Bool with_tolerance, double tolerance, double start, Bool with_stop, double stop)
{
    (void)with_tolerance, (void)tolerance, (void)with_stop, (void)stop;
    PLANT->value[TIME] = start;
    return OK;
}

WITHOUT_ACTION(EnterInitializationMode)

EXPORT Status FMI(GetReal)(void *instance, const unsigned *reference, size_t count, double *value)
{
    return answer(instance, get_values(PLANT, reference, count, value));
}

EXPORT Status FMI(SetReal)(void *instance, const unsigned *reference, size_t count, const double *value)
{
    return answer(instance, set_values(PLANT, reference, count, value));
}

EXPORT Status FMI(GetDirectionalDerivative)(void *instance, const unsigned *unknown, size_t unknowns, const unsigned *known,
                                            size_t knowns, const double *seed, double *sensitivity)
{
    return answer(instance, directional_derivatives(PLANT, unknown, unknowns, known, knowns, seed, sensitivity));
}

typedef struct {
    Bool states_needed, terminate, nominals_changed, states_changed, next_event_defined;
    double next_event;
} EventInfo;

EXPORT Status FMI(NewDiscreteStates)(void *instance, EventInfo *info)
{
    (void)instance;
    memset(info, 0, sizeof *info);
    return OK;
}

EXPORT Status FMI(DoStep)(void *instance, double start, double duration, Bool final)
{
    (void)final;
    return answer(instance, advance(PLANT, start, duration));
}

EXPORT Status FMI(GetRealStatus)(void *instance, int kind, double *value)
{
    *value = PLANT->value[TIME];
    return kind == 2 ? OK : DISCARD; /* 2: the last successful time */
}

EXPORT Status FMI(CancelStep)(void *instance) { return answer(instance, "steps are not asynchronous"); }

#if defined __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define TYPE(name, type) \
    EXPORT Status FMI(Get##name)(void *instance, const unsigned *reference, size_t count, type *value) \
    { \
        return answer(instance, NO_SUCH_TYPE); \
    } \
    EXPORT Status FMI(Set##name)(void *instance, const unsigned *reference, size_t count, const type *value) \
    { \
        return answer(instance, NO_SUCH_TYPE); \
    }
TYPE(Integer, int)
TYPE(Boolean, Bool)
TYPE(String, Text)
REFUSED(SetRealInputDerivatives, const unsigned *reference, size_t count, const int *order, const double *value)
REFUSED(GetRealOutputDerivatives, const unsigned *reference, size_t count, const int *order, double *value)
REFUSED(GetStatus, int kind, Status *value)
REFUSED(GetIntegerStatus, int kind, int *value)
REFUSED(GetBooleanStatus, int kind, Bool *value)
REFUSED(GetStringStatus, int kind, Text *value)
