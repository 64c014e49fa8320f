/* The functions of FMI 2.0 (fmi-standard.org) on top of a run. */
#include "fmi.c"

#ifdef FMI2_FUNCTION_PREFIX /* of importers that link several units into one program */
#define FMI(name) PASTE(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif

typedef unsigned int Ref;
typedef int Status, Bool;
typedef const char *Text;
enum { OK, WARNING, DISCARD, ERROR, FATAL };
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

API Text FMI(fmi2GetTypesPlatform)(void) { return "default"; }
API Text FMI(fmi2GetVersion)(void) { return "2.0"; }
API Status FMI(fmi2SetDebugLogging)(void *it, Bool on, size_t n, const Text categories[]) {
    (void)it; (void)on; (void)n; (void)categories;
    return OK;
}
API void *FMI(fmi2Instantiate)(Text name, int kind, Text token, Text resources, const Callbacks *calls, Bool visible, Bool logging) {
    (void)resources; (void)visible; (void)logging;
#ifdef HOSTED
    if (kind != 0) return NULL;
#else
    if (kind != 1) return NULL;
#endif
    return make_instance(name, token, pass, (void *)(intptr_t)calls, calls ? calls->environment : NULL);
}
API void FMI(fmi2FreeInstance)(void *it) { free_instance(it); }
API Status FMI(fmi2SetupExperiment)(void *self, Bool has_tolerance, double tolerance, double start, Bool has_stop, double stop) {
    Instance *it = self;
    (void)has_tolerance; (void)tolerance;
    return has_times(it, start, has_stop, stop) ? OK : ERROR;
}
API Status FMI(fmi2EnterInitializationMode)(void *it) { (void)it; return OK; }
API Status FMI(fmi2ExitInitializationMode)(void *it) { return initialized(it) ? OK : ERROR; }
API Status FMI(fmi2Terminate)(void *it) { (void)it; return OK; }
API Status FMI(fmi2Reset)(void *self) { make_run(((Instance *)self)->run); return OK; }

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

/* ---- states of the unit */

API Status FMI(fmi2GetFMUstate)(void *self, void **copy) {
    if (!*copy && !(*copy = malloc(RUN_SIZE))) return ERROR;
    memcpy(*copy, ((Instance *)self)->run, RUN_SIZE);
    return OK;
}
API Status FMI(fmi2SetFMUstate)(void *self, void *copy) { take_copy(((Instance *)self)->run, copy); return OK; }
API Status FMI(fmi2FreeFMUstate)(void *it, void **copy) { (void)it; free(*copy); *copy = NULL; return OK; }
API Status FMI(fmi2SerializedFMUstateSize)(void *it, void *copy, size_t *size) { (void)it; (void)copy; *size = RUN_SIZE; return OK; }
API Status FMI(fmi2SerializeFMUstate)(void *it, void *copy, char bytes[], size_t size) {
    (void)it;
    if (size < RUN_SIZE) return ERROR;
    memcpy(bytes, copy, RUN_SIZE);
    return OK;
}
API Status FMI(fmi2DeSerializeFMUstate)(void *it, const char bytes[], size_t size, void **copy) {
    (void)it;
    if (size < RUN_SIZE || (!*copy && !(*copy = malloc(RUN_SIZE)))) return ERROR;
    memcpy(*copy, bytes, RUN_SIZE);
    return OK;
}
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
API Status FMI(fmi2EnterContinuousTimeMode)(void *it) { (void)it; return OK; }
API Status FMI(fmi2CompletedIntegratorStep)(void *self, Bool no_set, Bool *event, Bool *terminate) {
    Run *run = ((Instance *)self)->run;
    (void)no_set;
    take_changes(run);
    *event = pl_has_work(AT(run));
    *terminate = 0;
    return OK;
}
API Status FMI(fmi2SetTime)(void *self, double t) {
    Run *run = ((Instance *)self)->run;
    if (!run->begun) begin(run);
    run->t = t, REAL(t) = t, run->known = 0;
    return OK;
}
API Status FMI(fmi2SetContinuousStates)(void *self, const double x[], size_t n) {
    Run *run = ((Instance *)self)->run;
    if (n != N) return ERROR;
    if (!run->begun) begin(run);
    memcpy(state(run), x, 8 * N);
    run->known = 0;
    return OK;
}
API Status FMI(fmi2GetDerivatives)(void *it, double out[], size_t n) {
    if (n != N) return ERROR;
    memcpy(out, rates(it), 8 * N);
    return OK;
}
API Status FMI(fmi2GetEventIndicators)(void *it, double out[], size_t n) {
    if (n != N_EVENTS) return ERROR;
    memcpy(out, indicators(it), 8 * N_EVENTS);
    return OK;
}
API Status FMI(fmi2GetContinuousStates)(void *self, double out[], size_t n) {
    Run *run = ((Instance *)self)->run;
    if (n != N) return ERROR;
    if (!run->begun) begin(run);
    memcpy(out, state(run), 8 * N);
    return OK;
}
API Status FMI(fmi2GetNominalsOfContinuousStates)(void *it, double out[], size_t n) {
    (void)it;
    for (size_t k = 0; k < n; k++) out[k] = 1.0;
    return n == N ? OK : ERROR;
}
ABSENT(fmi2SetRealInputDerivatives) ABSENT(fmi2GetRealOutputDerivatives) ABSENT(fmi2DoStep) ABSENT(fmi2CancelStep)
ABSENT(fmi2GetStatus) ABSENT(fmi2GetRealStatus) ABSENT(fmi2GetIntegerStatus) ABSENT(fmi2GetBooleanStatus)
ABSENT(fmi2GetStringStatus)
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
ABSENT(fmi2EnterEventMode) ABSENT(fmi2NewDiscreteStates) ABSENT(fmi2EnterContinuousTimeMode)
ABSENT(fmi2CompletedIntegratorStep) ABSENT(fmi2SetTime) ABSENT(fmi2SetContinuousStates) ABSENT(fmi2GetDerivatives)
ABSENT(fmi2GetEventIndicators) ABSENT(fmi2GetContinuousStates) ABSENT(fmi2GetNominalsOfContinuousStates)
#endif
