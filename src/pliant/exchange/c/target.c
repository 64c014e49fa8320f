/* A mechanism for a program of one's own: see the header of its name. */
#include "run.c"

typedef char enough_[RUN_SIZE <= BYTES ? 1 : -1];

MECHANISM *API(begin)(void *memory) {
    Run *run = make_run(memory);
    begin(run);
    return (MECHANISM *)run;
}
int API(step)(MECHANISM *it, double t) { return (int)go_to((Run *)it, t); }
int API(set)(MECHANISM *it, int number, double value) {
    return number < 0 || number >= N_GIVEN ? OUTSIDE : set_given((Run *)it, number, value);
}
double API(get)(MECHANISM *it, int number) {
    Run *run = (Run *)it;
    if (number < 0 || number >= N_VARIABLES) return REAL_NAN;
    const int place = variables[number].place;
    return place < 0 ? (take_changes(run), state(run)[-1 - place]) : observed(run)[place];
}
double API(time)(const MECHANISM *it) { return ((const Run *)it)->t; }
long API(touches)(MECHANISM *it, int pair) { return pair < 0 || pair >= N_PAIRS ? -1 : (long)touches_of((Run *)it, pair); }
#ifdef N_EFFORTS
void API(efforts)(MECHANISM *it, const double *a, double *out) {
    Run *run = (Run *)it;
    take_changes(run);
    memcpy(ARRAY(efforts_y), state(run), 8 * N_STATES);
    memcpy(ARRAY(efforts_y) + N_STATES, a, 8 * N_EFFORTS);
    pl_efforts(run->t, AT(efforts_y), AT(run_p), (char *)out, AT(run_work));
}
#endif
