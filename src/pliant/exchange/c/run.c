/* A run of the mechanism in memory of its own: set numbers, advance, read, copy.

   mechanism.h says where everything is in that memory, mechanism.c has the equations and the time loop. The loop marches until a
   time is passed and reads the row there, inside a step that waits: the steps are those of a run that is not interrupted. Where a
   number changes, the waiting step is given up and one ends there, as at a breakpoint. */
#include <stddef.h>
#include "mechanism.h"
#include "mechanism.c"

#if __STDC_HOSTED__
#include <string.h>
#else /* all that is needed of a C library, but for sqrt, floor and the like */
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
#endif
#define REAL_NAN real_of(INT64_C(0x7FF8000000000000))
#define REAL_INFINITY real_of(INT64_C(0x7FF0000000000000))

enum { GO_ON, FULL, AT_STOP, AT_EVENT, PAUSED = 12, BEYOND_END = -100, BACKWARD = -101 }; /* codes of the loop; others end the run with a sentence */
enum { OFTEN = 2 };  /* steps in a row with changed numbers, after which the next change is expected */
enum { OUTSIDE = 1, TOO_LATE = 2 }; /* why a number cannot be set */
#define BUDGET (INT64_C(1) << 50)
#define NEARLY 1e-6  /* of a step: the round-off of the caller's clock */

typedef struct {
    double t;                       /* of the caller, s */
    double given[N_GIVEN + 1];      /* inputs, parameters, starts: as set */
    double out[N_OBSERVED + 1];     /* observed quantities at t */
    double began[N_PAIRS + 1];      /* s: when the present or last contact of a pair began */
    int64_t touches[N_PAIRS + 1];   /* contacts of a pair so far */
    int64_t begun, steps, streak, changed, landed, known, counted, code;
    char *memory;
} Run;

#define RUN_SIZE ((sizeof(Run) + 15) / 16 * 16 + SIZE)
#define REAL(field) (*(double *)(run->memory + FIELD_##field))
#define WHOLE(field) (*(int64_t *)(run->memory + FIELD_##field))
#define ARRAY(place) ((double *)(run->memory + PLACE_##place))
#define WHOLES(place) ((int64_t *)(run->memory + PLACE_##place))
#define AT(place) (run->memory + PLACE_##place)

/* ---- memory */

static void put_addresses(Run *run) {
    for (int k = 0; k < N_ADDRESSES; k++)
        *(int64_t *)(run->memory + addresses[k].field) = (int64_t)(intptr_t)(run->memory + addresses[k].place);
    for (int k = 0; k < N_CALLED; k++) *(int64_t *)(run->memory + called[k].field) = (int64_t)(intptr_t)called[k].function;
}

/* memory: RUN_SIZE bytes, aligned as doubles are */
static Run *make_run(void *memory) {
    Run *run = memory;
    memset(run, 0, sizeof(Run));
    run->memory = (char *)memory + (sizeof(Run) + 15) / 16 * 16;
    run->t = T_START;
    for (int k = 0; k < N_GIVEN; k++) run->given[k] = given[k].value;
    return run;
}

/* Continue from a copy of a run, made here or in another process. */
static void take_copy(Run *run, const void *copy) {
    memcpy(run, copy, RUN_SIZE);
    run->memory = (char *)run + (sizeof(Run) + 15) / 16 * 16;
    if (!run->begun) return;
    const int closed = WHOLE(events) == WHOLE(events_closed);
    put_addresses(run);
    if (closed) WHOLE(events) = WHOLE(events_closed);
}

/* The constants of the equations that follow from the numbers set. */
static void put_numbers(Run *run) {
    for (int k = 0; k < N_GIVEN; k++)
        if (given[k].number >= 0) ARRAY(numbers)[given[k].number] = run->given[k];
#if N_ENTRIES
    pl_expressions(0.0, AT(numbers), AT(numbers), AT(expressed), AT(run_work));
    for (int k = 0; k < N_EXPRESSED; k++) ARRAY(numbers)[expressed[k]] = ARRAY(expressed)[k];
    pl_prepare(0.0, AT(numbers), AT(numbers), AT(prepared), AT(run_work));
    for (int k = 0; k < N_ENTRIES; k++) ARRAY(run_p)[entries[k]] = ARRAY(prepared)[k];
#endif
}

static int differs(const Run *run) {
    for (int k = 0; k < N_GIVEN; k++)
        if (run->given[k] != given[k].value) return 1;
    return 0;
}

/* Put everything at the start. */
static void set_out(Run *run) {
    memcpy(run->memory, contents, sizeof contents);
    memset(run->memory + sizeof contents, 0, SIZE - sizeof contents);
    put_addresses(run);
    if (differs(run)) put_numbers(run);
    for (int k = 0; k < N_GIVEN; k++)
        if (given[k].start >= 0) ARRAY(run_y)[given[k].start] = run->given[k];
    memset(run->touches, 0, sizeof run->touches);
    for (int k = 0; k < N_PAIRS; k++) run->began[k] = REAL_NAN;
    run->t = T_START;
    run->steps = run->streak = run->changed = run->landed = run->known = run->counted = 0;
}

/* ---- contacts */

static int is_closed(Run *run, int pair) { return ARRAY(run_p)[pairs[pair]] != 0.0; }

/* Contacts that have ended since the last look. */
static void count_touches(Run *run) {
#if N_PAIRS
    for (int64_t n = WHOLE(n_touches); run->counted < n; run->counted++) {
        const double *done = ARRAY(run_finished) + FINISHED * run->counted;
        run->touches[(int)done[0]]++;
        run->began[(int)done[0]] = done[1];
    }
#else
    (void)run;
#endif
}

static int64_t touches_of(Run *run, int pair) { return run->touches[pair] + is_closed(run, pair); }

static double began(Run *run, int pair) { return is_closed(run, pair) ? ARRAY(run_touch)[TOUCH * pair] : run->began[pair]; }

#ifdef HOSTED
/* ---- another integrator owns t and y */

static int64_t begin(Run *run) {
    set_out(run);
    run->begun = 1;
    run->code = pl_begin(AT(run));
    return run->code;
}

static void take_changes(Run *run) {
    if (!run->changed) return;
    put_numbers(run);
    run->changed = run->known = 0;
}

static double *state(Run *run) { return ARRAY(run_y); }

/* All that happens at this time and state; the code of an event that ends the run, or negative. */
static int64_t happen(Run *run) {
    take_changes(run);
    run->code = pl_happen(AT(run));
    run->counted = 0;
    count_touches(run);
    run->known = 0;
    return run->code;
}

static double next_time(Run *run) { return WHOLE(piece) + 1 < WHOLE(n_pieces) ? REAL(t_stop) : REAL_INFINITY; }
#else
/* ---- the time loop */

static int64_t advance(Run *run) {
    int64_t code;
    do {
        WHOLE(budget) = BUDGET;
        code = pl_advance(AT(run));
        count_touches(run);
        if (code == FULL) WHOLE(flushed) = 1, run->counted = 0;
    } while (code == GO_ON || code == FULL);
    return code;
}

/* March until the row at t is there; exactly: end a step at t, which lies inside the present piece of time. */
static int64_t reach(Run *run, double t, int exactly) {
    const int64_t pieces = WHOLE(n_pieces);
    ARRAY(run_plan)[0] = t;
    WHOLE(next_save) = WHOLE(n_rows) = 0;
    WHOLE(pausing) = !exactly;
    REAL(t_stop) = exactly ? t : ARRAY(run_piece_end)[WHOLE(piece)];
    if (exactly) WHOLE(n_pieces) = WHOLE(piece) + 1;
    const int64_t code = advance(run);
    WHOLE(n_pieces) = pieces;
    REAL(t_stop) = ARRAY(run_piece_end)[WHOLE(piece)];
    if (code != PAUSED) WHOLE(entering) = 1;
    return code;
}

/* Contacts, flags and controllers at the start; nothing is integrated. */
static int64_t begin(Run *run) {
    set_out(run);
    run->begun = 1;
    run->code = reach(run, T_START, 0);
    if (run->code == PAUSED || run->code == AT_STOP) run->code = 0;
    return run->code;
}

/* Make a step end at the present time. */
static int64_t land(Run *run) {
    int64_t code = AT_STOP;
    if (WHOLE(waiting)) {
        if (REAL(waiting_t) > run->t) { /* give the step up, but keep its length */
            WHOLE(waiting) = 0;
            for (int e = 0; e < N_EVENTS; e++) WHOLES(run_hit)[e] = 0;
            WHOLE(accepted)--, WHOLE(rejected)++;
            if (WHOLE(error_rows) > 0 && REAL(waiting_h) > REAL(h)) REAL(h) = REAL(waiting_h);
        }
        do code = reach(run, run->t, 1); while (code == AT_EVENT);
    }
    for (int64_t k = 0; k < WHOLE(n_updates); k++) WHOLES(run_piece_due)[WHOLE(n_updates) * WHOLE(piece) + k] = 0; /* have run */
    WHOLE(entering) = WHOLE(restart) = 1;
    return code == AT_STOP ? 0 : code;
}

/* Numbers set since the last step apply from the present time on. */
static int64_t take_changes(Run *run) {
    if (!run->changed) return 0;
    run->changed = run->known = 0;
    if (!run->begun || run->steps == 0) return begin(run); /* nothing was integrated with the earlier ones */
    const int64_t code = land(run);
    run->landed = 1;
    put_numbers(run);
    return code;
}

static double *state(Run *run) { return ARRAY(run_row_y); }

/* Advance to time t; 0, AT_EVENT if an event has ended the run before, or the code of a failure. */
static int64_t go_to(Run *run, double t) {
    if (run->begun && run->code > 0 && !(run->changed && run->steps == 0)) return run->code; /* has ended */
    int64_t code = run->begun ? take_changes(run) : begin(run);
    if (code != 0) return run->code = code;
    if (t > T_END && t - T_END <= NEARLY * (t - run->t)) t = T_END;
    if (t > T_END) return run->code = BEYOND_END;
    if (t < run->t) return run->code = BACKWARD;
    run->streak = run->landed ? run->streak + 1 : 0;
    run->landed = run->known = 0;
    while (t > run->t) {
        code = reach(run, t, run->streak >= OFTEN && t < ARRAY(run_piece_end)[WHOLE(piece)]);
        if (code == PAUSED || (code == AT_STOP && REAL(t) >= t)) break;
        if (code != AT_STOP) {
            memcpy(ARRAY(run_row_y), ARRAY(run_y), 8 * N);
            run->t = REAL(t);
            run->steps++;
            return run->code = code;
        }
    }
    run->t = t;
    run->steps++;
    return run->code = 0;
}
#endif

/* ---- reading */

static int set_given(Run *run, int k, double value) {
    if (!(value >= given[k].low && value <= given[k].high)) return OUTSIDE; /* nan among them */
    if (run->given[k] == value) return 0;
    if (given[k].start >= 0 && run->steps > 0) return TOO_LATE;
    run->given[k] = value;
    run->changed = 1;
    return 0;
}

static const double *observed(Run *run) {
    if (!run->begun) begin(run);
    take_changes(run);
    if (!run->known) pl_observe(run->t, (char *)state(run), AT(run_p), (char *)run->out, AT(run_work));
    run->known = 1;
    return run->out;
}

#if N_SLOPES
/* The derivatives of the rates of the state, then of the outputs that are observed, along dy and along numbers set. */
static void slopes(Run *run, const double *dy, const double *dgiven, double *out) {
    double *y = ARRAY(slope_y), *p = ARRAY(slope_p), *dp = p + N_P;
    memcpy(y, state(run), 8 * N);
    memcpy(y + N, dy, 8 * N);
    for (int k = 0; k < N_ENTRIES; k++) dp[k] = 0.0;
    for (int j = 0; j < N_GIVEN; j++) {
        if (dgiven[j] == 0.0 || given[j].number < 0) continue;
        const double value = run->given[j], size = value < 0.0 ? -value : value, h = STEP * (size > 0.0 ? size : 1.0);
        for (int side = 1; side >= -1; side -= 2) { /* what follows from a number is nearly linear in it */
            run->given[j] = value + side * h;
            put_numbers(run);
            for (int k = 0; k < N_ENTRIES; k++) dp[k] += dgiven[j] * side * ARRAY(run_p)[entries[k]] / (2.0 * h);
        }
        run->given[j] = value;
        put_numbers(run);
    }
    memcpy(p, ARRAY(run_p), 8 * N_P);
    pl_slope(run->t, (char *)y, (char *)p, (char *)out, AT(run_work));
}
#endif
