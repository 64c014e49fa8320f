"""Outcomes of a run: codes in the loop, sentences for the user."""

from __future__ import annotations

from enum import Enum

# Return codes of the compiled loop.
GO_ON, FULL = 0, 1  # the budget of evaluations is used up; a buffer is full
AT_STOP, AT_EVENT, SMALL_STEP, NOT_A_NUMBER, STEP_LIMIT = 2, 3, 4, 5, 6
TURN = 7  # another family of methods would be better from here on
NEW_PHASE = 8  # a contact has closed or opened, and the caller wants to know
LOST_EVENT = 9
AGAIN = (GO_ON, FULL, TURN, NEW_PHASE)  # for the stepper only: call again
CAME_OPEN = 10  # a constraint does not hold at the end of the step
CHATTERS = 11  # a flag changes endlessly without time advancing
DIVERGED = 13  # fixed steps are too long for the equations
CROWDED = 14  # more pairs of a group touch at once than there is room for
PAUSED = 12  # all requested rows exist; the step that passed the last of them is waiting
ON, REFUSED = -1, -2  # inside the loop: continue; the attempted step was refused


class Status(Enum):
    """All outcomes of a run; in every case the rows computed so far are kept."""

    REACHED = "the run reached t = {t} s"
    EVENT = "event {events} stopped the run at t = {t} s"
    STEP_TOO_SMALL = (
        "the step fell to {h} s at t = {t} s, too short to advance t in double precision: the motion has a singularity "
        "there, or the equations are too stiff or too rough for {method} at this tolerance; try a looser rtol or atol, an implicit "
        "method instead of an explicit one, or check which quantity grows there"
    )
    NOT_FINITE = (
        "the right-hand side gave nan or inf at t = {t} s, and even a step of {h} s did not get past it: look for a division "
        "by zero, a root of a negative number or an overflow in that state, or try a smaller max_step to avoid it"
    )
    TOO_MANY_STEPS = "the limit of {limit} steps was used up at t = {t} s (step {h} s); raise max_steps or loosen rtol"
    OUT_OF_TIME = "the limit of {limit} s of computing time was used up at t = {t} s (step {h} s)"
    EVENT_LOST = (
        "event {events} changed sides by t = {t} s without being located: this is a bug in pliant's event search; the rows up to "
        "then are valid; please report the model"
    )
    CHATTERS = (
        "{events} kept changing sides at t = {t} s: on either side of its jump the force pushes the state back across it, and "
        "the force has no value in between; smooth the formula over a small range, or use a friction law with sticking"
    )
    CAME_OPEN = "a constraint is off by {amount} at t = {t_open} s; the last step that kept it ended at {t} s"
    DIVERGED = (
        "the run became unstable at t = {t} s: in the next step of {h} s the state grows by energy that no source supplies; use a "
        "shorter step, or a method with error control"
    )
    CROWDED = (
        "more pairs of the contact among shapes touch at t = {t} s than there is room for, six per sphere: its spheres are of very "
        "different sizes, or pressed into each other; put the large ones into pairs, by points= and against="
    )
    STOPPED_BY_PYTHON = "a controller that Python runs failed at t = {t} s"
    INTERRUPTED = "the run was interrupted from outside at t = {t} s"

    def sentence(self, **fields: object) -> str:
        return self.value.format(**{name: _short(value) for name, value in fields.items()})

    @property
    def goes_on(self) -> bool:
        """Whether the motion may be continued: it ended at the caller's stop or at an event, without an error."""
        return self in (Status.REACHED, Status.EVENT)


STATUS_OF_CODE = {
    AT_STOP: Status.REACHED,
    AT_EVENT: Status.EVENT,
    SMALL_STEP: Status.STEP_TOO_SMALL,
    NOT_A_NUMBER: Status.NOT_FINITE,
    STEP_LIMIT: Status.TOO_MANY_STEPS,
    LOST_EVENT: Status.EVENT_LOST,
    CAME_OPEN: Status.CAME_OPEN,
    DIVERGED: Status.DIVERGED,
    CHATTERS: Status.CHATTERS,
    CROWDED: Status.CROWDED,
}


def _short(value: object) -> object:
    return f"{value:.12g}" if isinstance(value, float) else value
