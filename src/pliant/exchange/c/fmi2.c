/* The functions of FMI 2.0 (fmi-standard.org) on top of a run. */
#include "fmi.c"

#ifdef FMI2_FUNCTION_PREFIX /* of importers that link several units into one program */
#define FMI(name) PASTE(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif

#define OF(name) FMI(fmi2##name)
#define fmi2GetFMUState fmi2GetFMUstate
#define fmi2SetFMUState fmi2SetFMUstate
#define fmi2FreeFMUState fmi2FreeFMUstate
#define fmi2SerializedFMUStateSize fmi2SerializedFMUstateSize
#define fmi2SerializeFMUState fmi2SerializeFMUstate
#define fmi2DeserializeFMUState fmi2DeSerializeFMUstate
#define fmi2GetContinuousStateDerivatives fmi2GetDerivatives

typedef int Bool;
typedef char Byte;
typedef struct {
    void (*log)(void *, Text, Status, Text, Text, ...);
    void *(*allocate)(size_t, size_t);
    void (*free)(void *);
    void (*finished)(void *, Status);
    void *environment;
} Callbacks;
typedef struct { Bool again, terminate, nominals, states, defined; double next; } EventInfo;

static void pass(void *self, const char *name, int status, const char *category, const char *message) {
    Instance *it = self;
    const Callbacks *calls = it->callback;
    if (calls && calls->log) calls->log(it->environment, name, status, category, "%s", message);
}

#include "both.c"

API Text FMI(fmi2GetTypesPlatform)(void) { return "default"; }
API Text FMI(fmi2GetVersion)(void) { return "2.0"; }
API void *FMI(fmi2Instantiate)(Text name, int kind, Text token, Text resources, const Callbacks *calls, Bool visible, Bool logging) {
    (void)resources; (void)visible; (void)logging;
#ifdef HOSTED
    if (kind != 0) return NULL;
#else
    if (kind != 1) return NULL;
#endif
    return make_instance(name, token, pass, (void *)(intptr_t)calls, calls ? calls->environment : NULL);
}
API Status FMI(fmi2SetupExperiment)(void *self, Bool has_tolerance, double tolerance, double start, Bool has_stop, double stop) {
    Instance *it = self;
    (void)has_tolerance; (void)tolerance;
    return has_times(it, start, has_stop, stop) ? OK : ERROR;
}
API Status FMI(fmi2EnterInitializationMode)(void *it) { (void)it; return OK; }

API Status FMI(fmi2GetReal)(void *it, const Ref refs[], size_t n, double values[]) {
    for (size_t k = 0; k < n; k++)
        if (!get_real(it, refs[k], &values[k])) return ERROR;
    return OK;
}
API Status FMI(fmi2SetReal)(void *it, const Ref refs[], size_t n, const double values[]) {
    for (size_t k = 0; k < n; k++)
        if (!set_real(it, refs[k], values[k])) return ERROR;
    return OK;
}
API Status FMI(fmi2GetInteger)(void *self, const Ref refs[], size_t n, int values[]) {
    Run *run = ((Instance *)self)->run;
    if (!run->begun) begin(run);
    for (size_t k = 0; k < n; k++) {
        if (refs[k] >= N_VARIABLES || variables[refs[k]].kind != TOUCHES) return ERROR;
        values[k] = (int)touches_of(run, variables[refs[k]].place);
    }
    return OK;
}
/* there are no variables of other types */
#define NO_GET(name, type) API Status FMI(name)(void *it, const Ref refs[], size_t n, type values[]) { \
    (void)it; (void)refs; (void)values; return n ? ERROR : OK; }
NO_GET(fmi2GetBoolean, Bool) NO_GET(fmi2GetString, Text)
NO_GET(fmi2SetInteger, const int) NO_GET(fmi2SetBoolean, const Bool) NO_GET(fmi2SetString, const Text)

API Status FMI(fmi2GetDirectionalDerivative)(void *it, const Ref unknowns[], size_t n, const Ref knowns[], size_t m, const double seed[],
                                             double sensitivity[]) {
    return get_slopes(it, unknowns, n, knowns, m, seed, sensitivity) ? OK : ERROR;
}

#ifdef HOSTED
API Status FMI(fmi2EnterEventMode)(void *it) { (void)it; return OK; }
API Status FMI(fmi2NewDiscreteStates)(void *self, EventInfo *info) {
    Instance *it = self;
    const EventInfo none = {0, 0, 0, 1, 0, 0.0};
    const int64_t code = happen(it->run);
    *info = none;
    info->terminate = code == AT_EVENT;
    if (code > AT_EVENT) { tell_failure(it); return ERROR; }
    const double next = next_time(it->run);
    info->defined = next < REAL_INFINITY;
    info->next = info->defined ? next : 0.0;
    return OK;
}
ABSENT(SetRealInputDerivatives) ABSENT(GetRealOutputDerivatives) ABSENT(DoStep) ABSENT(CancelStep)
ABSENT(GetStatus) ABSENT(GetRealStatus) ABSENT(GetIntegerStatus) ABSENT(GetBooleanStatus)
ABSENT(GetStringStatus)
#else
API Status FMI(fmi2SetRealInputDerivatives)(void *it, const Ref refs[], size_t n, const int orders[], const double values[]) {
    (void)it; (void)refs; (void)orders; (void)values;
    return n ? ERROR : OK;
}
API Status FMI(fmi2GetRealOutputDerivatives)(void *it, const Ref refs[], size_t n, const int orders[], double values[]) {
    (void)it; (void)refs; (void)orders; (void)values;
    return n ? ERROR : OK;
}
API Status FMI(fmi2DoStep)(void *self, double t, double dt, Bool no_set) {
    Instance *it = self;
    (void)no_set;
    if (!follows(it, t, dt)) return ERROR;
    const int64_t code = go_to(it->run, t + dt);
    if (code == AT_EVENT) return DISCARD; /* terminated: see the status */
    if (code != 0) { tell_failure(it); return ERROR; }
    return OK;
}
API Status FMI(fmi2CancelStep)(void *it) { (void)it; return ERROR; }
API Status FMI(fmi2GetStatus)(void *it, int kind, Status *value) { (void)it; (void)kind; *value = OK; return DISCARD; }
API Status FMI(fmi2GetRealStatus)(void *it, int kind, double *value) {
    *value = ((Instance *)it)->run->t; /* the last successful time */
    return kind == 2 ? OK : DISCARD;
}
API Status FMI(fmi2GetIntegerStatus)(void *it, int kind, int *value) { (void)it; (void)kind; *value = 0; return DISCARD; }
API Status FMI(fmi2GetBooleanStatus)(void *it, int kind, Bool *value) {
    *value = ((Instance *)it)->run->code == AT_EVENT;
    return kind == 3 ? OK : DISCARD;
}
API Status FMI(fmi2GetStringStatus)(void *it, int kind, Text *value) { (void)it; (void)kind; *value = ""; return DISCARD; }
ABSENT(EnterEventMode) ABSENT(NewDiscreteStates)
#endif
