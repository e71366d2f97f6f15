/* The functions that FMI 2 and FMI 3 have in common, but for the prefix of their names.
 *
 * Before, a file defines PREFIX, the type Bool, and Instance with the members plant and name, and
 * static void log_error(const Instance *, const char *). */
#include <stdlib.h>

#define JOINED(a, b) a##b
#define JOINED_VALUES(a, b) JOINED(a, b)
#define FMI(name) JOINED_VALUES(PREFIX, name)
#if defined _WIN32
#define EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif
#define PLANT (&((Instance *)instance)->plant)

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } Status;
typedef const char *Text;

static Status answer(const void *instance, const char *reason)
{
    if (reason)
        log_error(instance, reason);
    return reason ? ERROR : OK;
}

static void *new_instance(const Instance *given, const char *name, const char *token)
{
    if (!token || strcmp(token, TOKEN)) {
        log_error(given, "the token is not that of this FMU");
        return NULL;
    }
    Instance *own = malloc(sizeof *own);
    if (!own)
        return NULL;
    *own = *given;
    own->name = malloc(strlen(name ? name : "") + 1);
    if (!own->name) {
        free(own);
        return NULL;
    }
    strcpy(own->name, name ? name : "");
    restart(&own->plant);
    return own;
}

EXPORT void FMI(FreeInstance)(void *instance)
{
    if (instance)
        free(((Instance *)instance)->name);
    free(instance);
}

EXPORT Status FMI(ExitInitializationMode)(void *instance) { return answer(instance, initialize(PLANT)); }

EXPORT Status FMI(Reset)(void *instance)
{
    restart(PLANT);
    return OK;
}

EXPORT Status FMI(SetDebugLogging)(void *instance, Bool on, size_t count, const Text *categories)
{
    (void)instance, (void)on, (void)count, (void)categories; /* errors are always logged, and nothing else is */
    return OK;
}

#define WITHOUT_ACTION(name) \
    EXPORT Status FMI(name)(void *instance) \
    { \
        (void)instance; \
        return OK; \
    }
WITHOUT_ACTION(Terminate)
WITHOUT_ACTION(EnterEventMode)
WITHOUT_ACTION(EnterContinuousTimeMode)

/* copies of the state */

static Status copied(const void *instance, const void *from, void **state)
{
    if (!*state)
        *state = malloc(sizeof(Plant));
    if (!*state)
        return answer(instance, "no memory for a copy of the state");
    memcpy(*state, from, sizeof(Plant));
    return OK;
}

EXPORT Status FMI(GetFMUState)(void *instance, void **state) { return copied(instance, PLANT, state); }

EXPORT Status FMI(SetFMUState)(void *instance, void *state)
{
    memcpy(PLANT, state, sizeof(Plant));
    return OK;
}

EXPORT Status FMI(FreeFMUState)(void *instance, void **state)
{
    (void)instance;
    free(*state);
    *state = NULL;
    return OK;
}

EXPORT Status FMI(SerializedFMUStateSize)(void *instance, void *state, size_t *size)
{
    (void)instance, (void)state;
    *size = sizeof(Plant);
    return OK;
}

EXPORT Status FMI(SerializeFMUState)(void *instance, void *state, char *bytes, size_t size)
{
    if (size < sizeof(Plant))
        return answer(instance, "the buffer is too short for the state");
    memcpy(bytes, state, sizeof(Plant));
    return OK;
}

EXPORT Status FMI(DeserializeFMUState)(void *instance, const char *bytes, size_t size, void **state)
{
    return size == sizeof(Plant) ? copied(instance, bytes, state) : answer(instance, "the bytes are no state of this FMU");
}

/* model exchange: there are no events */

EXPORT Status FMI(SetTime)(void *instance, double time)
{
    PLANT->value[TIME] = time;
    return OK;
}

EXPORT Status FMI(CompletedIntegratorStep)(void *instance, Bool final, Bool *enter_event_mode, Bool *terminate)
{
    (void)instance, (void)final;
    *enter_event_mode = *terminate = 0;
    return OK;
}

static const char *wrong_count(size_t count) { return count == NX ? NULL : "this is not the number of states"; }

EXPORT Status FMI(SetContinuousStates)(void *instance, const double *x, size_t count)
{
    if (count == NX)
        set_states(PLANT, x);
    return answer(instance, wrong_count(count));
}

EXPORT Status FMI(GetContinuousStates)(void *instance, double *x, size_t count)
{
    if (count == NX)
        memcpy(x, PLANT->value + STATES, NX * sizeof *x);
    return answer(instance, wrong_count(count));
}

EXPORT Status FMI(GetContinuousStateDerivatives)(void *instance, double *rates, size_t count)
{
    const char *reason = count == NX ? evaluate(PLANT) : wrong_count(count);
    if (!reason)
        memcpy(rates, PLANT->value + RATES, NX * sizeof *rates);
    return answer(instance, reason);
}

EXPORT Status FMI(GetNominalsOfContinuousStates)(void *instance, double *nominals, size_t count)
{
    (void)instance;
    for (size_t k = 0; k < count; ++k)
        nominals[k] = 1.0;
    return OK;
}

EXPORT Status FMI(GetEventIndicators)(void *instance, double *indicators, size_t count)
{
    (void)indicators;
    return answer(instance, count ? "this FMU has no event indicators" : NULL);
}

/* what this FMU does not provide */

#define NO_SUCH_TYPE (count ? "all variables of this FMU are real numbers" : NULL)
#define REFUSED(name, ...) \
    EXPORT Status FMI(name)(void *instance, __VA_ARGS__) { return answer(instance, "this FMU does not provide " #name); }
