/* The functions of FMI 3.0 (fmi-standard.org) on top of a run. */
#include <stdbool.h>
#include "fmi.c"

#ifdef FMI3_FUNCTION_PREFIX /* of importers that link several units into one program */
#define FMI(name) PASTE(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif

#define OF(name) FMI(fmi3##name)

typedef bool Bool;
typedef uint8_t Byte;
typedef void Update(void *, double, bool, bool, bool, bool, bool *, double *);

static void pass(void *environment, const char *name, int status, const char *category, const char *message) {
    Instance *it = environment;
    (void)name;
    if (it->callback) ((void (*)(void *, Status, const char *, const char *))(intptr_t)it->callback)(it->environment, status, category, message);
}

#include "both.c"

API const char *FMI(fmi3GetVersion)(void) { return "3.0"; }
API void *FMI(fmi3InstantiateModelExchange)(const char *name, const char *token, const char *resources, bool visible, bool logging,
                                            void *environment, void *log) {
    (void)resources; (void)visible; (void)logging;
#ifdef HOSTED
    return make_instance(name, token, pass, log, environment);
#else
    (void)name; (void)token; (void)environment; (void)log;
    return NULL;
#endif
}
API void *FMI(fmi3InstantiateCoSimulation)(const char *name, const char *token, const char *resources, bool visible, bool logging,
                                           bool event_mode, bool early, const Ref required[], size_t n, void *environment, void *log,
                                           Update *update) {
    (void)resources; (void)visible; (void)logging; (void)event_mode; (void)early; (void)required; (void)n; (void)update;
#ifdef HOSTED
    (void)name; (void)token; (void)environment; (void)log;
    return NULL;
#else
    return make_instance(name, token, pass, log, environment);
#endif
}
API void *FMI(fmi3InstantiateScheduledExecution)(const char *a, const char *b, const char *c, bool d, bool e, void *f, void *g, void *h,
                                                 void *i, void *j) {
    (void)a; (void)b; (void)c; (void)d; (void)e; (void)f; (void)g; (void)h; (void)i; (void)j;
    return NULL;
}

API Status FMI(fmi3EnterInitializationMode)(void *self, bool has_tolerance, double tolerance, double start, bool has_stop, double stop) {
    Instance *it = self;
    (void)has_tolerance; (void)tolerance;
    return has_times(it, start, has_stop, stop) ? OK : ERROR;
}
API Status FMI(fmi3EnterEventMode)(void *it) { (void)it; return OK; }

API Status FMI(fmi3GetFloat64)(void *it, const Ref refs[], size_t n, double values[], size_t m) {
    (void)m;
    for (size_t k = 0; k < n; k++)
        if (!get_real(it, refs[k], &values[k])) return ERROR;
    return OK;
}
API Status FMI(fmi3SetFloat64)(void *it, const Ref refs[], size_t n, const double values[], size_t m) {
    (void)m;
    for (size_t k = 0; k < n; k++)
        if (!set_real(it, refs[k], values[k])) return ERROR;
    return OK;
}
API Status FMI(fmi3GetInt64)(void *self, const Ref refs[], size_t n, int64_t values[], size_t m) {
    Run *run = ((Instance *)self)->run;
    (void)m;
    if (!run->begun) begin(run);
    for (size_t k = 0; k < n; k++) {
        if (refs[k] >= N_VARIABLES || variables[refs[k]].kind != TOUCHES) return ERROR;
        values[k] = touches_of(run, variables[refs[k]].place);
    }
    return OK;
}
/* there are no variables of other types */
#define NONE(name, type) \
    API Status FMI(fmi3Get##name)(void *it, const Ref refs[], size_t n, type values[], size_t m) { \
        (void)it; (void)refs; (void)values; (void)m; return n ? ERROR : OK; } \
    API Status FMI(fmi3Set##name)(void *it, const Ref refs[], size_t n, const type values[], size_t m) { \
        (void)it; (void)refs; (void)values; (void)m; return n ? ERROR : OK; }
NONE(Float32, float) NONE(Int8, int8_t) NONE(UInt8, uint8_t) NONE(Int16, int16_t) NONE(UInt16, uint16_t)
NONE(Int32, int32_t) NONE(UInt32, uint32_t) NONE(UInt64, uint64_t) NONE(Boolean, bool) NONE(String, Text)
API Status FMI(fmi3SetInt64)(void *it, const Ref refs[], size_t n, const int64_t values[], size_t m) {
    (void)it; (void)refs; (void)values; (void)m;
    return n ? ERROR : OK;
}
API Status FMI(fmi3GetBinary)(void *it, const Ref refs[], size_t n, size_t sizes[], const uint8_t *values[], size_t m) {
    (void)it; (void)refs; (void)sizes; (void)values; (void)m;
    return n ? ERROR : OK;
}
API Status FMI(fmi3SetBinary)(void *it, const Ref refs[], size_t n, const size_t sizes[], const uint8_t *const values[], size_t m) {
    (void)it; (void)refs; (void)sizes; (void)values; (void)m;
    return n ? ERROR : OK;
}
API Status FMI(fmi3GetClock)(void *it, const Ref refs[], size_t n, bool values[]) {
    (void)it; (void)refs; (void)values; return n ? ERROR : OK; }
API Status FMI(fmi3SetClock)(void *it, const Ref refs[], size_t n, const bool values[]) {
    (void)it; (void)refs; (void)values; return n ? ERROR : OK; }

API Status FMI(fmi3GetDirectionalDerivative)(void *it, const Ref unknowns[], size_t n, const Ref knowns[], size_t m, const double seed[],
                                             size_t n_seed, double sensitivity[], size_t n_out) {
    (void)n_seed; (void)n_out;
    return get_slopes(it, unknowns, n, knowns, m, seed, sensitivity) ? OK : ERROR;
}
API Status FMI(fmi3GetAdjointDerivative)(void *it, const Ref unknowns[], size_t n, const Ref knowns[], size_t m, const double seed[],
                                         size_t n_seed, double sensitivity[], size_t n_out) {
    (void)it; (void)unknowns; (void)n; (void)knowns; (void)m; (void)seed; (void)n_seed; (void)sensitivity; (void)n_out;
    return ERROR;
}
API Status FMI(fmi3GetNumberOfVariableDependencies)(void *it, Ref ref, size_t *n) { (void)it; (void)ref; *n = 0; return ERROR; }
API Status FMI(fmi3GetVariableDependencies)(void *it, Ref ref, size_t a[], Ref b[], size_t c[], int d[], size_t n) {
    (void)it; (void)ref; (void)a; (void)b; (void)c; (void)d; (void)n;
    return ERROR;
}
API Status FMI(fmi3EnterConfigurationMode)(void *it) { (void)it; return OK; }
API Status FMI(fmi3ExitConfigurationMode)(void *it) { (void)it; return OK; }
/* nor clocks */
#define NO_CLOCK(name, ...) API Status FMI(name)(void *it, const Ref refs[], size_t n, __VA_ARGS__) { (void)it; (void)refs; return n ? ERROR : OK; }
NO_CLOCK(fmi3GetIntervalDecimal, double a[], int b[])
NO_CLOCK(fmi3GetIntervalFraction, uint64_t a[], uint64_t b[], int c[])
NO_CLOCK(fmi3GetShiftDecimal, double a[])
NO_CLOCK(fmi3GetShiftFraction, uint64_t a[], uint64_t b[])
NO_CLOCK(fmi3SetIntervalDecimal, const double a[])
NO_CLOCK(fmi3SetIntervalFraction, const uint64_t a[], const uint64_t b[])
NO_CLOCK(fmi3SetShiftDecimal, const double a[])
NO_CLOCK(fmi3SetShiftFraction, const uint64_t a[], const uint64_t b[])
API Status FMI(fmi3EvaluateDiscreteStates)(void *it) { (void)it; return OK; }
API Status FMI(fmi3EnterStepMode)(void *it) { (void)it; return OK; }
API Status FMI(fmi3ActivateModelPartition)(void *it, Ref ref, double t) { (void)it; (void)ref; (void)t; return ERROR; }

API Status FMI(fmi3UpdateDiscreteStates)(void *self, bool *again, bool *terminate, bool *nominals, bool *states, bool *defined,
                                         double *next) {
    *again = *terminate = *nominals = *states = *defined = false;
#ifdef HOSTED
    Instance *it = self;
    if (!it->run->begun && begin(it->run) > 0) { tell_failure(it); return ERROR; }
    const int64_t code = happen(it->run);
    *states = true;
    *terminate = code == AT_EVENT;
    if (code > AT_EVENT) { tell_failure(it); return ERROR; }
    *next = next_time(it->run);
    *defined = *next < REAL_INFINITY;
#else
    (void)self; (void)next;
#endif
    return OK;
}

#ifdef HOSTED
API Status FMI(fmi3GetNumberOfEventIndicators)(void *it, size_t *n) { (void)it; *n = N_EVENTS; return OK; }
API Status FMI(fmi3GetNumberOfContinuousStates)(void *it, size_t *n) { (void)it; *n = N; return OK; }
ABSENT(DoStep) ABSENT(GetOutputDerivatives)
#else
API Status FMI(fmi3DoStep)(void *self, double t, double dt, bool no_set, bool *event, bool *terminate, bool *early, double *last) {
    Instance *it = self;
    (void)no_set;
    *event = *terminate = *early = false;
    if (!follows(it, t, dt)) return ERROR;
    const int64_t code = go_to(it->run, t + dt);
    *last = it->run->t;
    if (code == AT_EVENT) { *terminate = *early = true; return OK; }
    if (code != 0) { tell_failure(it); return ERROR; }
    return OK;
}
API Status FMI(fmi3GetOutputDerivatives)(void *it, const Ref refs[], size_t n, const int32_t orders[], double values[], size_t m) {
    (void)it; (void)refs; (void)n; (void)orders; (void)values; (void)m;
    return ERROR;
}
ABSENT(GetNumberOfEventIndicators) ABSENT(GetNumberOfContinuousStates)
#endif
