"""A flexible arm that must stop without ringing, as a Gymnasium environment: one arm, or many in lockstep.

A motor turns a slender arm in a horizontal plane. Each episode begins with the arm in full swing; the agent sees the hub and the
arm's bending, sets the motor's torque 100 times a second, and is to bring the tip to rest. A hub that is braked hard leaves the arm
ringing. A policy that is linear in what is seen is found by the cross-entropy method, all its candidates in lockstep, and stops
the arm for good.
"""

import gymnasium as gym
import matplotlib.pyplot as plt
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

import pliant as pl

DT, EPISODE = 0.01, 1.5  # s, between two torques, and altogether
TORQUE = 6.0  # N m, the most that the motor gives
SWING = (0.15, 0.3)  # s, for which the motor spins the arm up before an episode
SEEN = np.array([8.0, 0.05, 0.05, 5.0, 5.0])  # rad/s, m, m, m/s, m/s: sizes of what is seen
MOST_SEEN = 50.0  # of these sizes: a motor that turns one way all the time stays far below


def arm():
    """The arm, compiled; its torque is an input."""
    section = pl.Section.rectangle(height=0.003, width=0.03)
    beam = pl.Beam(length=0.8, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 2),
                   damping=pl.KelvinVoigt(1e5))  # fmt: skip
    system = pl.System("arm", gravity=(0, 0))
    hub = system.add("hub", pl.RigidBody(mass=1.0, inertia=0.05), joint=pl.Revolute())
    system.add("arm", beam, joint=pl.Weld(), on=hub.root)
    system.drive("motor", "hub.angle", pl.Parameter("torque", 0.0, unit="N m", low=-TORQUE, high=TORQUE))
    return pl.compile_system(system)


METHOD = pl.DormandPrince(rtol=1e-5, atol=1e-7)


class OneArm:
    """A run of the arm: begins an episode, takes a torque, tells what is seen and how fast the tip is."""

    def __init__(self, compiled):
        self.run = pl.start(compiled, method=METHOD, record=False)
        self.rest = self.run.save()

    def swing(self, random):
        """Back to rest, and spun up."""
        self.run.restore(self.rest)
        self.run.step(random.uniform(*SWING), {"torque": TORQUE * random.uniform(0.5, 1.0)})
        self.begun = self.run.t

    def turn(self, action):
        self.run.step(DT, {"torque": TORQUE * min(max(float(action), -1.0), 1.0)})

    @property
    def seen(self):
        """Rate of the hub; bending of the arm and its rate, mode by mode."""
        return np.concatenate([self.run.v[:1], self.run.q[1:], self.run.v[1:]]) / SEEN

    @property
    def tip_speed(self):
        return float(np.hypot(*self.run.observe()["tip_velocity", "arm"][:2]))

    @property
    def over(self):
        return self.run.t - self.begun >= EPISODE - 0.5 * DT


class FlexibleArm(gym.Env):
    """One arm. Reward: less than zero by how fast the tip is."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, compiled=None):
        self.observation_space = gym.spaces.Box(-MOST_SEEN, MOST_SEEN, SEEN.shape, np.float64)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float64)
        self.arm = OneArm(compiled or arm())

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.arm.swing(self.np_random)
        return self.arm.seen, {}

    def step(self, action):
        self.arm.turn(action[0])
        speed = self.arm.tip_speed
        return self.arm.seen, -speed * DT, False, self.arm.over, {"tip_speed": speed}


class FlexibleArms(VectorEnv):
    """Many arms in lockstep, each with its own random swing; an arm whose episode is over begins the next one at once."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, num_envs, compiled=None):
        self.num_envs, compiled = num_envs, compiled or arm()
        self.arms = [OneArm(compiled) for _ in range(num_envs)]
        self.single_observation_space = gym.spaces.Box(-MOST_SEEN, MOST_SEEN, SEEN.shape, np.float64)
        self.single_action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float64)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self._np_random = np.random.default_rng(seed)
        for one in self.arms:
            one.swing(self.np_random)
        return self.seen, {}

    def step(self, actions):
        for one, action in zip(self.arms, actions[:, 0].tolist(), strict=True):
            one.turn(action)
        rewards = np.array([-one.tip_speed * DT for one in self.arms])
        over = np.array([one.over for one in self.arms])
        for one, ended in zip(self.arms, over, strict=True):
            if ended:
                one.swing(self.np_random)
        return self.seen, rewards, np.zeros(self.num_envs, dtype=bool), over, {}

    @property
    def seen(self):
        return np.array([one.seen for one in self.arms])


def rewards_of(arms, gains, seed):
    """What linear policies, one for each arm, earn in an episode that is the same for all."""
    for one in arms.arms:
        one.swing(np.random.default_rng(seed))
    seen, total = arms.seen, np.zeros(arms.num_envs)
    for _ in range(round(EPISODE / DT)):
        seen, rewards, *_ = arms.step(-np.sum(gains * seen, axis=1, keepdims=True))
        total += rewards
    return total


def search(arms, rounds=10, best=6, seed=2):
    """Gains by the cross-entropy method: the best candidates of a round tell where the next ones are looked for."""
    random = np.random.default_rng(seed)
    mean, spread = np.array([1.0, 0.0, 0.0, 0.0, 0.0]), np.full(5, 1.0)
    for k in range(rounds):
        gains = mean + spread * random.normal(size=(arms.num_envs, 5))
        gains[0] = mean
        order = np.argsort(rewards_of(arms, gains, seed=k))
        elite = gains[order[-best:]]
        mean, spread = elite.mean(axis=0), elite.std(axis=0) + 0.02
    return mean


def episode(env, gains, seed):
    """(time, tip's speed) of an episode under a linear policy."""
    seen, _ = env.reset(seed=seed)
    speeds, over = [env.arm.tip_speed], False
    while not over:
        seen, _, _, over, told = env.step(-np.atleast_1d(gains @ seen))
        speeds.append(told["tip_speed"])
    return DT * np.arange(len(speeds)), np.array(speeds)


def settled(times, speeds, limit):
    """When the tip was faster than a limit for the last time, s."""
    return float(times[np.flatnonzero(speeds > limit)[-1]])


if __name__ == "__main__":
    compiled = arm()
    env = FlexibleArm(compiled)
    gains = search(FlexibleArms(24, compiled))
    braked, stopped = (episode(env, chosen, seed=77) for chosen in (np.array([20.0, 0, 0, 0, 0]), gains))
    limit = 0.02 * braked[1][0]
    print("gains", np.round(gains, 2))
    ringing, quiet = settled(*braked, limit), settled(*stopped, limit)
    print(f"faster than 2 % of its first speed for {ringing:.2f} s where the hub is braked, for {quiet:.2f} s by the policy")
    assert quiet < 0.5 < 1.0 < ringing

    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    axes.semilogy(*braked, label="hub braked hard")
    axes.semilogy(*stopped, label="policy that sees the bending")
    axes.axhline(limit, color="0.6", lw=0.8)
    axes.set(xlabel="time, s", ylabel="speed of the tip, m/s")
    axes.legend()
    figure.savefig("stop_without_ringing.png", dpi=150)
