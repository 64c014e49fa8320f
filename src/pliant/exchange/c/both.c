/* The functions that both versions of FMI have, for one of them: OF(name) is its name, Bool and Byte are its types. */

API Status OF(SetDebugLogging)(void *it, Bool on, size_t n, const Text categories[]) {
    (void)it; (void)on; (void)n; (void)categories;
    return OK;
}
API void OF(FreeInstance)(void *it) { free_instance(it); }
API Status OF(ExitInitializationMode)(void *it) { return initialized(it) ? OK : ERROR; }
API Status OF(Terminate)(void *it) { (void)it; return OK; }
API Status OF(Reset)(void *self) { make_run(((Instance *)self)->run); return OK; }

/* ---- states of the unit */

API Status OF(GetFMUState)(void *self, void **copy) {
    if (!*copy && !(*copy = malloc(RUN_SIZE))) return ERROR;
    memcpy(*copy, ((Instance *)self)->run, RUN_SIZE);
    return OK;
}
API Status OF(SetFMUState)(void *self, void *copy) { take_copy(((Instance *)self)->run, copy); return OK; }
API Status OF(FreeFMUState)(void *it, void **copy) { (void)it; free(*copy); *copy = NULL; return OK; }
API Status OF(SerializedFMUStateSize)(void *it, void *copy, size_t *size) { (void)it; (void)copy; *size = RUN_SIZE; return OK; }
API Status OF(SerializeFMUState)(void *it, void *copy, Byte bytes[], size_t size) {
    (void)it;
    if (size < RUN_SIZE) return ERROR;
    memcpy(bytes, copy, RUN_SIZE);
    return OK;
}
API Status OF(DeserializeFMUState)(void *it, const Byte bytes[], size_t size, void **copy) {
    (void)it;
    if (size < RUN_SIZE || (!*copy && !(*copy = malloc(RUN_SIZE)))) return ERROR;
    memcpy(*copy, bytes, RUN_SIZE);
    return OK;
}

#ifdef HOSTED
API Status OF(EnterContinuousTimeMode)(void *it) { (void)it; return OK; }
API Status OF(CompletedIntegratorStep)(void *self, Bool no_set, Bool *event, Bool *terminate) {
    Run *run = ((Instance *)self)->run;
    (void)no_set;
    take_changes(run);
    *event = pl_has_work(AT(run));
    *terminate = 0;
    return OK;
}
API Status OF(SetTime)(void *self, double t) {
    Run *run = ((Instance *)self)->run;
    if (!run->begun) begin(run);
    run->t = t, REAL(t) = t, run->known = 0;
    return OK;
}
API Status OF(SetContinuousStates)(void *self, const double x[], size_t n) {
    Run *run = ((Instance *)self)->run;
    if (n != N) return ERROR;
    if (!run->begun) begin(run);
    memcpy(state(run), x, 8 * N);
    run->known = 0;
    return OK;
}
API Status OF(GetContinuousStateDerivatives)(void *it, double out[], size_t n) {
    if (n != N) return ERROR;
    memcpy(out, rates(it), 8 * N);
    return OK;
}
API Status OF(GetEventIndicators)(void *it, double out[], size_t n) {
    if (n != N_EVENTS) return ERROR;
    memcpy(out, indicators(it), 8 * N_EVENTS);
    return OK;
}
API Status OF(GetContinuousStates)(void *self, double out[], size_t n) {
    Run *run = ((Instance *)self)->run;
    if (n != N) return ERROR;
    if (!run->begun) begin(run);
    memcpy(out, state(run), 8 * N);
    return OK;
}
API Status OF(GetNominalsOfContinuousStates)(void *it, double out[], size_t n) {
    (void)it;
    for (size_t k = 0; k < n; k++) out[k] = 1.0;
    return n == N ? OK : ERROR;
}
#else
ABSENT(EnterContinuousTimeMode) ABSENT(CompletedIntegratorStep) ABSENT(SetTime) ABSENT(SetContinuousStates)
ABSENT(GetContinuousStateDerivatives) ABSENT(GetEventIndicators) ABSENT(GetContinuousStates)
ABSENT(GetNominalsOfContinuousStates)
#endif
