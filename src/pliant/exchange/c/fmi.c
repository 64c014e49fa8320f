/* What both versions of FMI have in common: an instance, its variables, its sentences. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "run.c"

#if defined _WIN32
#define API __declspec(dllexport)
#elif defined __GNUC__
#define API __attribute__((visibility("default")))
#else
#define API
#endif
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

/* functions of the other kind of unit, which some importers look up nevertheless */
#define ABSENT(name) API int OF(name)(void) { return 3; }

enum { TIME, GIVEN, STATE, RATE, OBSERVED, INDICATOR, TOUCHES, BEGAN }; /* kinds of variables */
typedef unsigned int Ref;
typedef int Status;
typedef const char *Text;
enum { OK, WARNING, DISCARD, ERROR, FATAL };
typedef void Log(void *environment, const char *name, int status, const char *category, const char *message);

typedef struct {
    Run *run;
    Log *log;
    void *environment, *callback;
    char name[256];
    double rates[N + 1], indicators[N_EVENTS + 1];
} Instance;

static void say(Instance *it, int status, const char *form, ...) {
    char text[512];
    va_list more;
    va_start(more, form);
    vsnprintf(text, sizeof text, form, more);
    va_end(more);
    if (it->log) it->log(it, it->name, status, status > 1 ? "logStatusError" : "logStatusWarning", text);
}

static Instance *make_instance(const char *name, const char *token, Log *log, void *callback, void *environment) {
    Instance *it = calloc(1, sizeof *it);
    void *memory = calloc(1, RUN_SIZE);
    if (!it || !memory) { free(it); free(memory); return NULL; }
    it->log = log, it->callback = callback, it->environment = environment;
    snprintf(it->name, sizeof it->name, "%s", name ? name : "");
    it->run = make_run(memory);
    if (!token || strcmp(token, TOKEN) != 0) {
        say(it, 3, "the description and the library are not of the same FMU: %s instead of %s", token ? token : "nothing", TOKEN);
        free(memory); free(it);
        return NULL;
    }
    return it;
}

static void free_instance(Instance *it) { if (it) { free(it->run); free(it); } }

static void tell_failure(Instance *it) {
    const int64_t code = it->run->code;
    for (int k = 0; k < N_SENTENCES; k++)
        if (sentences[k].code == code) { say(it, 3, sentences[k].text, it->run->t); return; }
    say(it, 3, "the run ended with code %d at t = %.10g s", (int)code, it->run->t);
}

/* Whether a step begins where the last has ended, up to the round-off of the importer's clock. */
static int follows(Instance *it, double t, double dt) {
    const double off = t - it->run->t, allowed = NEARLY * dt;
    if (!(dt > 0.0)) say(it, 3, "the step must be > 0 s, got %.17g", dt);
    else if (off <= allowed && -off <= allowed) return 1;
    else say(it, 3, "a step must begin at t = %.17g s, where the last has ended, not at %.17g s", it->run->t, t);
    return 0;
}

/* Whether the run is to be one that this unit was made for. */
static int has_times(Instance *it, double start, int has_stop, double stop) {
    if (start != T_START) say(it, 3, "the start time must be %.17g s, got %.17g", T_START, start);
    else if (has_stop && stop - T_END > NEARLY * (T_END - T_START)) say(it, 3, "the stop time must be <= %.17g s, got %.17g", T_END, stop);
    else return 1;
    return 0;
}

/* Whether the run is at its start, with the numbers that were set. */
static int initialized(Instance *it) {
    Run *run = it->run;
    if (!run->begun || run->changed) begin(run);
    if (run->code > 0) { tell_failure(it); return 0; }
#ifdef HOSTED
    run->steps = 1;
#endif
    return 1;
}

static const double *rates(Instance *it) {
    Run *run = it->run;
    if (!run->begun) begin(run);
    take_changes(run);
    pl_rhs(run->t, (char *)state(run), AT(run_p), (char *)it->rates, AT(run_work));
    return it->rates;
}

#ifdef HOSTED
static const double *indicators(Instance *it) {
    if (!it->run->begun) begin(it->run);
    take_changes(it->run);
    pl_indicate(it->run->memory + PLACE_run, (int64_t)(intptr_t)it->indicators);
    return it->indicators;
}
#endif

/* The value of a variable; 0 if there is none of this number. */
static int get_real(Instance *it, unsigned int vr, double *value) {
    Run *run = it->run;
    if (vr >= N_VARIABLES) return 0;
    const int place = variables[vr].place;
    if (!run->begun && variables[vr].kind > GIVEN) begin(run);
    switch (variables[vr].kind) {
    case TIME: *value = run->t; return 1;
    case GIVEN: *value = run->given[place]; return 1;
    case STATE: take_changes(run); *value = state(run)[place]; return 1;
    case RATE: *value = rates(it)[place]; return 1;
    case OBSERVED: *value = observed(run)[place]; return 1;
#ifdef HOSTED
    case INDICATOR: *value = indicators(it)[place]; return 1;
#endif
    case BEGAN: *value = began(run, place); return 1;
    default: return 0;
    }
}

static int set_real(Instance *it, unsigned int vr, double value) {
    if (vr >= N_VARIABLES) return 0;
    const int place = variables[vr].place;
    if (variables[vr].kind == GIVEN) {
        const int trouble = set_given(it->run, place, value);
        if (trouble == OUTSIDE) say(it, 3, "%s must be within %g and %g, got %.17g", given[place].name, given[place].low, given[place].high, value);
        if (trouble == TOO_LATE) say(it, 3, "%s is a start and cannot be set any more", given[place].name);
        return trouble == 0;
    }
#ifdef HOSTED
    if (variables[vr].kind == STATE && it->run->steps == 0) say(it, 3, "states are set after the initialization, starts by parameters");
    else if (variables[vr].kind == STATE && value - value == 0.0) {
        state(it->run)[place] = value;
        it->run->known = 0;
        return 1;
    }
#endif
    return 0;
}

/* Directional derivatives; 0 if a variable has none. */
static int get_slopes(Instance *it, const unsigned int *unknowns, size_t n, const unsigned int *knowns, size_t m,
                      const double *seeds, double *out) {
#if N_SLOPES
    Run *run = it->run;
    double dy[N + 1] = {0}, dgiven[N_GIVEN + 1] = {0}, *found = ARRAY(slope_out);
    if (!run->begun) begin(run);
    take_changes(run);
    for (size_t k = 0; k < m; k++) {
        if (knowns[k] >= N_VARIABLES) return 0;
        const int place = variables[knowns[k]].place;
        if (variables[knowns[k]].kind == STATE) dy[place] += seeds[k];
        else if (variables[knowns[k]].kind == GIVEN && given[place].number >= 0) dgiven[place] += seeds[k];
        else return 0;
    }
    slopes(run, dy, dgiven, found);
    for (size_t k = 0; k < n; k++) {
        if (unknowns[k] >= N_VARIABLES) return 0;
        const int place = variables[unknowns[k]].place, kind = variables[unknowns[k]].kind;
        if (kind == STATE) out[k] = dy[place];
        else if (kind == RATE) out[k] = found[place];
        else if (kind == OBSERVED && variables[unknowns[k]].slope >= 0) out[k] = found[N + variables[unknowns[k]].slope];
        else return 0;
    }
    return 1;
#else
    (void)it; (void)unknowns; (void)n; (void)knowns; (void)m; (void)seeds; (void)out;
    return 0;
#endif
}
