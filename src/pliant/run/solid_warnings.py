"""Warnings about finite-element bodies that deform beyond linear theory, or whose rotation would need stiffening."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.dynamics.kinematics import twists
from pliant.model.modal import ModalBody
from pliant.run.bending_warnings import TURNED
from pliant.run.evidence import Rows

TURN = 0.3  # rad, of a node relative to the root: there linear theory changes lengths by 5 %, as for beams


def turning(evidence: Rows) -> Iterator[str]:
    """Warn of nodes that turn beyond the range of linear theory."""
    times, values = evidence.series
    for node in evidence.traced.tree.nodes:
        body = node.link.body
        if not isinstance(body, ModalBody):
            continue
        turns = np.concatenate([body.model.turns, body.model.frame_turns])
        own = slice(node.own_q.start, node.own_q.stop)
        if np.max(np.abs(turns) @ evidence.largest_q[own]) <= TURN / np.sqrt(3.0):
            continue  # no sum of the shapes reaches the limit
        worst = int(np.argmax(np.max(np.abs(turns) @ evidence.largest_q[own], axis=1)))
        turned = np.linalg.norm(values["q"][:, own] @ turns[worst].T, axis=1)
        k = int(np.argmax(np.where(np.isfinite(turned), turned, -1.0)))
        if turned[k] > TURN:
            yield (
                f"body {node.name!r} turns by {turned[k]:.2g} rad at a node at t = {times[k]:.6g} s; finite-element bodies are "
                f"linear, valid up to {TURN:g} rad; join several bodies by pl.Weld"
            )


def spinning(evidence: Rows) -> Iterator[str]:
    """Warn of a body without geometric stiffness that turns faster than its first frequency."""
    tree = evidence.traced.tree
    plain = [(k, node) for k, node in enumerate(tree.nodes)
             if isinstance(node.link.body, ModalBody) and not len(node.link.body.model.forms)]  # fmt: skip
    if not plain:
        return
    times, values = evidence.series
    moving = twists(tree, list(values["q"].T), list(values["v"].T))
    for k, node in plain:
        assert isinstance(node.link.body, ModalBody)
        lowest = 2.0 * np.pi * float(node.link.body.frequencies[0])
        speed = np.sqrt(sum(np.asarray(x) ** 2 for x in moving[k].omega)) + np.zeros(times.size)
        if evidence.growth(speed**2 - lowest**2) > TURNED:
            row = int(np.nanargmax(speed))
            yield (
                f"body {node.name!r} turns at {speed[row]:.3g} rad/s at t = {times[row]:.6g} s, faster than its first frequency, "
                f"{lowest:.3g} rad/s with a clamped root: without geometric stiffness rotation only softens it; give `geometric` "
                "to its FiniteElements"
            )
