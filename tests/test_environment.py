"""The Gymnasium environment among the examples: what Gymnasium's own checker asks, and many arms as one."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

check_env = pytest.importorskip("gymnasium.utils.env_checker").check_env


@pytest.fixture(scope="module")
def example():
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "examples" / "stop_without_ringing.py")))


@pytest.fixture(scope="module")
def compiled(example):
    return example.arm()


def test_gymnasiums_own_checker_passes(example, compiled):
    check_env(example.FlexibleArm(compiled), skip_render_check=True)


def test_an_episode_ends_in_time_and_is_the_same_again(example, compiled):
    env, actions = example.FlexibleArm(compiled), np.random.default_rng(4).uniform(-1.0, 1.0, (150, 1))
    episodes = []
    for _ in range(2):
        env.reset(seed=9)
        episodes.append([env.step(action)[:4] for action in actions])
    first, second = episodes
    assert [step[3] for step in first] == [False] * 149 + [True]
    assert all(np.array_equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(first, second, strict=True))


def test_arms_in_lockstep_are_single_arms(example, compiled):
    arms, env = example.FlexibleArms(3, compiled), example.FlexibleArm(compiled)
    seen, _ = arms.reset(seed=5)
    assert seen in arms.observation_space
    random = np.random.default_rng(5)
    env.arm.swing(random)  # the first of the three is the first to be swung
    assert np.array_equal(env.arm.seen, seen[0])
    for action in np.random.default_rng(6).uniform(-1.0, 1.0, (20, 3, 1)):
        seen, rewards, ended, over, _ = arms.step(action)
        one, reward, *_ = env.step(action[0])
        assert np.array_equal(one, seen[0]) and reward == rewards[0]
        assert not ended.any() and not over.any()
    assert len({tuple(row) for row in seen}) == 3


def test_an_arm_whose_episode_is_over_begins_the_next(example, compiled):
    arms = example.FlexibleArms(2, compiled)
    arms.reset(seed=1)
    for _ in range(149):
        *_, over, _ = arms.step(np.zeros((2, 1)))
        assert not over.any()
    *_, over, _ = arms.step(np.zeros((2, 1)))
    assert over.all()
    assert not any(one.over for one in arms.arms)
