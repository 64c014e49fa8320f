"""Stages: what is told while something is made, and whose seconds are counted where."""

import pytest

from pliant.host.stages import Stages


def test_words_come_when_a_stage_begins_and_those_of_before_come_back():
    told = []
    stages = Stages(told.append)
    stages.say("in flight")
    with stages.stage("loops"), stages.stage("jacobian", "compiling the Jacobian"):
        pass
    assert told == ["in flight", "compiling the Jacobian", "in flight"]


def test_a_stage_inside_another_counts_for_itself_alone(monkeypatch):
    """By a clock of its own, which no busy machine holds up."""
    clock = [0.0]
    monkeypatch.setattr("pliant.host.stages.perf_counter", lambda: clock[0])
    stages = Stages()
    with stages.stage("setup"):
        for _ in range(2):
            with stages.stage("loops"):
                clock[0] += 0.02
        clock[0] += 0.01
    assert stages.seconds == pytest.approx({"loops": 0.04, "setup": 0.01})


def test_seconds_count_where_a_stage_fails():
    stages = Stages()
    with pytest.raises(ValueError), stages.stage("trace", "deriving the equations"):
        raise ValueError
    assert set(stages.seconds) == {"trace"}
