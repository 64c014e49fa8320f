"""Lock-step ensembles on a GPU of a machine that has a driver and NumPy but no pliant: kernels and members are carried there.

    python benchmarks/gpu_bundle.py --make FOLDER           # here: PTX, members, and what this machine's own build makes of some
    python benchmarks/gpu_bundle.py --run FOLDER [--json FILE]   # there: needs src/pliant/host/cuda.py beside it, and NumPy

chain: the falling chain, 1.5 s, starts scattered by 1 %, rtol 1e-6, works and contact statistics kept. ball: a Hertz ball, 1 s. ten
links: a chain of ten elastic links, 0.5 s. numbers: 100,000 chains of three links whose mass, E, contact stiffness, restitution and
friction all differ. million: a million chains, lowest point 0.5 to 2 m high, angles +-0.5 rad, e 0.3 to 0.95, mu 0 to 0.6, 1.5 s.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

COMPARED = 64  # members that this machine runs too
MILLION, NUMBERS = 1_000_000, 100_000
MANY = 2_097_152  # falling chains
LEDGER_ROWS = 8
FLOOR = 0.01  # m: contacts are pressed in by a few mm at most


def random_chains(count: int, links: int) -> dict[str, np.ndarray]:
    """Height of the root and angles: nothing is nearer to the floor than the height drawn."""
    rng = np.random.default_rng(7)
    height, angles = rng.uniform(0.5, 2.0, count), rng.uniform(-0.5, 0.5, (count, links))
    ends = np.cumsum(np.sin(np.cumsum(angles, axis=1)), axis=1)
    return {"height": height - np.minimum(ends.min(axis=1), 0.0), **{f"angle{k}": angles[:, k] for k in range(links)}}


# ---- here


def link_chain(links: int, parameters: dict[str, Any], height: float = 2.0) -> Any:
    import pliant as pl

    section = pl.Section(A=3.75e-4, Iz=4.883e-9, shear_factor=5 / 6)
    system = pl.System(f"chain of {links}", gravity=(0, -9.81))
    frame = None
    for k in range(links):
        beam = pl.Beam(length=1.0, mass_per_length=parameters.get("mass", 1.0), theory="timoshenko", section=section,
                       modes=pl.Modes("ss", 1), rotary_inertia=2.9473e-5, stiffening="none",
                       material=pl.Material(E=parameters.get("E", 2e11), G=7.7e10))  # fmt: skip
        joint = pl.Planar(position=(0.0, height), angle=0.3) if frame is None else pl.Revolute(angle=0.1)
        frame = (system.add(f"l{k}", beam, joint=joint) if frame is None else system.add(f"l{k}", beam, joint=joint, on=frame)).tip
    law = pl.HuGuo(stiffness=parameters.get("K", 1e8), restitution=parameters.get("e", 0.5))
    system.contact(points=system.ends(), against=pl.Plane(normal=(0, 1)), normal=law,
                   friction=pl.Ambrosio(mu=parameters.get("mu", 0.2), v0=1e-3, v1=1e-2))  # fmt: skip
    return system


def make(folder: Path) -> None:
    import pliant as pl
    from pliant.ensemble.member_numbers import MemberNumbers
    from pliant.ensemble.members import MemberPlan
    from pliant.gallery.falling_chain import falling_chain

    folder.mkdir(parents=True, exist_ok=True)
    fine, coarse = pl.DOP853(rtol=1e-6, atol=1e-9), pl.DormandPrince(rtol=1e-6, atol=1e-9)
    chain = pl.compile_system(falling_chain())
    angles = chain.traced.y0[2] * (1.0 + 0.01 * np.random.default_rng(1).normal(size=131_072))
    for name, method in (("chain DOP853", fine), ("chain DormandPrince", coarse)):
        bundle(folder, name, chain, method, 1.5, {2: angles})
    ball = pl.System("ball", gravity=(0, -9.81))
    body = ball.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0.0, 1.0)))
    ball.contact(points=pl.Sphere(body.root, 0.05), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e6))
    heights = 1.0 + 0.2 * np.random.default_rng(2).uniform(size=COMPARED)
    bundle(folder, "ball DormandPrince", pl.compile_system(ball), coarse, 1.0, {1: heights}, recipe="heights")
    ten = pl.compile_system(link_chain(10, {}, 0.5))
    bundle(folder, "ten links DOP853", ten, fine, 0.5, {2: 0.3 + 0.003 * np.random.default_rng(3).normal(size=16_384)})

    drawn = np.random.default_rng(5)
    ranges = {"e": (0.3, 0.95), "mu": (1e-9, 0.6), "K": (3e7, 3e8), "E": (1e11, 3e11), "mass": (0.5, 2.0)}
    parameters = {name: pl.Parameter(name, float(np.mean(low_high))) for name, low_high in ranges.items()}
    varied = pl.compile_system(link_chain(3, parameters))
    bank = 500  # of masses and E, whose beams are integrated one by one; every member has its own e, mu and K
    values = {name: drawn.uniform(*ranges[name], NUMBERS) for name in ("e", "mu", "K")}
    plan = MemberPlan.of(varied, "articulated", None, 0.0, values, None, None)
    plain = MemberNumbers.of(plan)
    assert plain is not None
    constants, good = plain.constants(plan, np.arange(NUMBERS))
    assert good.all()
    slow = {name: drawn.uniform(*ranges[name], bank) for name in ("E", "mass")}
    beams = MemberPlan.of(varied, "articulated", None, 0.0, slow, None, None)
    changing = varied.traced.layout.n_changing
    rows = np.array([beams.compiled(k).traced.parameters(0.0, 1.5)[changing:] for k in range(bank)])
    base = varied.traced.parameters(0.0, 1.5)[changing:]
    own = np.flatnonzero(np.any(rows != base, axis=0))
    plain_columns = np.flatnonzero(np.any(constants != base, axis=0))
    assert not set(own) & set(plain_columns)
    columns = {int(k): constants[:, k] for k in plain_columns}
    banked = {int(k): rows[:, k] for k in own}
    starts = {2: 0.3 + 0.003 * np.random.default_rng(3).normal(size=NUMBERS)}
    bundle(folder, "numbers DOP853", varied, fine, 1.5, starts, constants=columns, bank=banked)

    two = {name: parameters[name] for name in ("e", "mu")}
    wild = pl.compile_system(link_chain(3, two))
    values = {name: drawn.uniform(*ranges[name], MILLION) for name in ("e", "mu")}
    plan = MemberPlan.of(wild, "articulated", None, 0.0, values, None, None)
    plain = MemberNumbers.of(plan)
    assert plain is not None
    constants, good = plain.constants(plan, np.arange(MILLION))
    assert good.all()
    columns = {int(k): constants[:, k] for k in np.flatnonzero(np.any(constants != constants[0], axis=0))}
    chains = random_chains(COMPARED, 3)
    names = [wild.traced.tree.positions[k] for k in wild.traced.free_q]
    places = [names.index(name) for name in ("l0.y", "l0.angle", "l1.angle", "l2.angle")]
    first = dict(zip(places, chains.values(), strict=True))
    rows_at = np.linspace(0.0, 1.5, LEDGER_ROWS + 2)[:-1]
    bundle(folder, "million DOP853", wild, fine, 1.5, first, constants=columns, recipe="random_chains", plan=rows_at)


def bundle(
    folder: Path,
    name: str,
    compiled: Any,
    method: Any,
    t_end: float,
    starts: dict[int, np.ndarray],
    *,
    constants: dict[int, np.ndarray] | None = None,
    bank: dict[int, np.ndarray] | None = None,
    recipe: str = "",
    plan: np.ndarray | None = None,
) -> None:
    """One case: its kernel, its members, and what the host build makes of the first of them."""
    from pliant.ensemble.lockstep.device import device_text, ptx_of
    from pliant.ensemble.lockstep.gpu import CONSTANTS_SYMBOL, RECORD_SYMBOL
    from pliant.ensemble.lockstep.lists import COUNTS
    from pliant.ensemble.lockstep.rounds import kernels_of
    from pliant.ensemble.lockstep.runs import HostLoop, HostRuns, LockstepMembers, LockstepTolerances, inputs_of
    from pliant.ensemble.lockstep.tables import SHARED
    from pliant.ensemble.lockstep_model import corner_speeds, lockstep_model
    from pliant.host.cache_folder import user_cache
    from pliant.host.stages import Stages
    from pliant.run.contact_phases import pair_numbers
    from pliant.run.simulate import Run, weight_of

    model, traced, own = lockstep_model(compiled), compiled.traced, constants is not None
    run = Run(compiled, method, 0.0, t_end, np.array([t_end]), None, None, None, Stages())
    memory, n = run.stepper.memory, traced.n_controlled
    atol = np.append(run.stepper.plain_atol[:n] * memory.loosened, np.append(run.stepper.plain_atol, 0.0)[n])
    rtol, longest = float(memory.run["rtol"]), float(memory.run["max_step"])
    tolerances = LockstepTolerances(rtol, atol, method.rtol, memory.loosened, longest, 10**6)
    p, changing = traced.parameters(0.0, t_end), traced.layout.n_changing
    count = min(COMPARED, *(len(x) for x in starts.values()))
    y = np.tile(traced.y0, (count, 1))
    for k, column in starts.items():
        y[:, k] = column[:count]
    rows = np.tile(p[changing:], (count if own else 1, 1))
    for k, column in (constants or {}).items():
        rows[:, k] = column[:count]
    for k, column in (bank or {}).items():
        rows[:, k] = np.resize(column, count)
    heads = np.array([traced.head(0.0, t_end)])
    members = LockstepMembers(y, p[:changing], rows, np.array([weight_of(traced)]), pair_numbers(traced)[None, :, 0],
                              corner_speeds(compiled), np.array([t_end]), heads, np.empty(0) if plan is None else plan,
                              0.0)  # fmt: skip
    numbers, inputs = inputs_of(members, tolerances)
    loop = HostLoop.of(model, method.tableau, own, user_cache("machine-code"))
    ends = HostRuns(loop).run(members, tolerances, 1)
    text = device_text(model, method.tableau, own)
    (folder / f"{name}.ptx").write_bytes(ptx_of(text, user_cache("machine-code")))
    facts = {"name": name, "kernels": list(kernels_of(text).items()), "lane_bytes": 8 * text.records.size, "lists": COUNTS,
             "fields": SHARED, "numbers": numbers, "recipe": recipe, "n": model.n, "changing": changing,
             "pairs": len(model.pairs), "works": model.n_works, "t_end": t_end, "controlled": n,
             "count": len(next(iter(starts.values()))), "y0": traced.y0.tolist(),
             "constants": p[changing:].tolist(), "own": own,
             "symbol": CONSTANTS_SYMBOL, "record": RECORD_SYMBOL}  # fmt: skip
    (folder / f"{name}.json").write_text(json.dumps(facts))
    if plan is not None:
        (folder / f"{name}.rows").write_bytes(rows_ptx(compiled))
    arrays = {f"input {key}": value for key, value in inputs.items()} | {f"host {key}": value for key, value in ends.arrays.items()}
    arrays |= {f"start {k}": column for k, column in starts.items()} | {f"constant {k}": c for k, c in (constants or {}).items()}
    np.savez(folder / f"{name}.npz", **arrays, **{f"bank {k}": column for k, column in (bank or {}).items()})
    print(f"{name}: host codes {np.bincount(ends.code + 1)}, steps {ends.steps.mean():.0f}", flush=True)


ROWS = {"rows": "i8", "each": "i8", "y": "f8*", "p": "f8*", "constants": "f8*", "out": "f8*"}  # the record of the second kernel
HELD = ("kinetic", "gravity", "strain", "spring", "contact")


def rows_ptx(compiled: Any) -> bytes:
    """A kernel of its own: energies and gaps of kept rows, one row a thread. `each` rows belong to one member."""
    from dataclasses import replace

    from pliant.codegen.guards import guard_bit
    from pliant.codegen.member_lanes import Lanes, MemberProgram, intrinsics, member_text, sines_text
    from pliant.codegen.own_functions import CONSTANTS, OWN
    from pliant.codegen.plain import Setting, intrinsics_text, plain_text
    from pliant.ensemble.lockstep.device import TARGETS, machine_of, optimised

    traced, lanes = compiled.traced, Lanes(1, True, whole=True)
    observe, places = traced.functions["observe"], traced.layout.observed
    outputs = [x for name in (*HELD, "gap") for x in observe.outputs[places[name]]]
    program = replace(observe, name="member_rows", outputs=outputs).program()
    member = MemberProgram.of(program, traced.layout.n_changing, lanes)
    own = Setting(constants=CONSTANTS, attributes="alwaysinline nounwind")
    declared = "\n".join(line for line in intrinsics_text().splitlines() if line not in intrinsics(lanes))
    n, changing = traced.y0.size, traced.layout.n_changing
    steps = {"y": n, "p": changing, "constants": compiled.traced.parameters(0.0, 1.0).size - changing, "out": len(outputs)}
    read = "".join(f"""
  %at.{name} = getelementptr i64, ptr addrspace(4) @rows_record, i64 {list(ROWS).index(name)}
  %{name}.first = load ptr, ptr addrspace(4) %at.{name}
  %{name}.index = mul i64 {"%member" if name == "constants" else "%row"}, {step}
  %{name} = getelementptr double, ptr %{name}.first, i64 %{name}.index""" for name, step in steps.items())  # fmt: skip
    awake = "  %bits0 = add i64 0, 0" + "".join(f"""
  %guard{k}.at = getelementptr double, ptr %p, i64 {place}
  %guard{k} = load double, ptr %guard{k}.at
  %guard{k}.awake = fcmp une double %guard{k}, 0.0
  %guard{k}.bit = select i1 %guard{k}.awake, i64 {guard_bit(k)}, i64 0
  %bits{k + 1} = or i64 %bits{k}, %guard{k}.bit""" for k, place in enumerate(program.guards))  # fmt: skip
    kernel = f"""@rows_record = addrspace(4) externally_initialized global [{len(ROWS)} x i64] zeroinitializer, align 8
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
define ptx_kernel void @observe_rows() nounwind {{
entry:
  %work = alloca [{member.n_work} x double], align 8
  %rows = load i64, ptr addrspace(4) @rows_record
  %each.at = getelementptr i64, ptr addrspace(4) @rows_record, i64 1
  %each = load i64, ptr addrspace(4) %each.at
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %before = mul i32 %block, %size
  %own = add i32 %before, %thread
  %first = zext i32 %own to i64
  %threads = mul i32 %blocks, %size
  %step = zext i32 %threads to i64
  br label %test
test:
  %row = phi i64 [ %first, %entry ], [ %next, %go ]
  %some = icmp slt i64 %row, %rows
  br i1 %some, label %go, label %done
go:
  %member = sdiv i64 %row, %each{read}
{awake}
  call void @member_rows(double 0.0, ptr %y, ptr %p, ptr %constants, ptr %out, ptr %work, i64 %bits{len(program.guards)})
  %next = add i64 %row, %step
  br label %test
done:
  ret void
}}
"""
    parts = [intrinsics(lanes), declared, sines_text(lanes), plain_text(OWN, own)]
    parts += [member_text("member_rows", member, lanes), kernel]
    text = "\n".join(parts)
    machine = machine_of(*TARGETS[True])
    return bytes(machine.emit_assembly(optimised(text, machine)).encode())


# ---- there


def load_cuda() -> Any:
    path = Path(__file__).parents[1] / "src" / "pliant" / "host" / "cuda.py"
    path = path if path.exists() else Path(__file__).parent / "cuda.py"
    spec = importlib.util.spec_from_file_location("cuda", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["cuda"] = module
    spec.loader.exec_module(module)
    return module


def run_all(folder: Path, json_file: Path | None, only: str) -> None:
    cuda = load_cuda()
    device = cuda.Device(cuda.Driver())
    print(f"{device.name}, {device.multiprocessors} multiprocessors", flush=True)
    figures: dict[str, Any] = {"device": device.name, "date": time.strftime("%Y-%m-%d")}
    for path in sorted(folder.glob("*.json")):
        if only in path.stem:
            try:
                figures[path.stem] = run_case(cuda, device, path)
            except Exception as trouble:  # the next case may do
                print(path.stem, "failed:", trouble, flush=True)
                figures[path.stem] = {"failed": str(trouble)}
            if json_file is not None:
                json_file.write_text(json.dumps(figures, indent=1) + "\n")


def run_case(cuda: Any, device: Any, path: Path) -> dict[str, Any]:
    facts, arrays = json.loads(path.read_text()), np.load(path.with_suffix(".npz"))
    module = cuda.Module(device, path.with_suffix(".ptx").read_bytes())
    kernels = [cuda.Kernel(module, *each) for each in facts["kernels"]]
    rounds = cuda.Rounds(tuple(kernels), facts["lane_bytes"], facts["lists"])
    attempt, judge = kernels[2:]
    if not facts["own"]:
        module.fill(facts["symbol"], np.array(facts["constants"]))
    made = attempt.facts
    for kernel in (attempt, judge):
        print(f"{path.stem}: {kernel.facts.registers} registers, {kernel.facts.local_bytes} B local, {kernel.facts.blocks} blocks "
              f"of {kernel.block}, {module.load_seconds:.1f} s to load", flush=True)  # fmt: skip
    inputs = {key[6:]: arrays[key] for key in arrays.files if key.startswith("input ")}
    small = ends_of(facts, len(inputs["y"]), inputs["plan"].size)
    few = -(-len(inputs["y"]) // cuda.WARP) * cuda.WARP
    cuda.run_batch(module, facts["fields"], facts["numbers"], inputs, small, facts["record"], lambda room: rounds.run(room, few))
    agree = {key: float(np.nanmax(np.abs(small[key] - arrays[f"host {key}"]), initial=0.0)) for key in ("y_end", "t_end", "tally")}
    compared = ("y_end", "t_end", "tally", "code", "steps")
    bits = all(np.array_equal(small[key], arrays[f"host {key}"], equal_nan=True) for key in compared)
    print(f"  against the host build: bit for bit {bits}, largest difference {agree}", flush=True)
    members = many(facts, arrays)
    count = len(members["y"])
    lanes = rounds.lanes(count, device.free_bytes)
    ends = ends_of(facts, count, inputs["plan"].size)
    seconds, whole = [], []
    for _ in range(1 if count >= MILLION and "million" in path.stem else 3):
        began = time.perf_counter()
        numbers = {**facts["numbers"], "members": count}
        seconds.append(cuda.run_batch(module, facts["fields"], numbers, {**inputs, **members}, ends, facts["record"],
                                      lambda room: rounds.run(room, lanes)))  # fmt: skip
        whole.append(time.perf_counter() - began)
    attempts = np.sort(ends["steps"] + ends["refused"])
    print(f"  steps and refusals {attempts.mean():.0f}, at most {attempts[-3:]}; seconds {seconds}")
    figures = {"members": count, "per_second": count / min(seconds), "per_second_with_copies": count / min(whole),
               "registers": made.registers, "local_bytes": made.local_bytes, "load_seconds": module.load_seconds,
               "bit_for_bit": bits, "difference": agree, "codes": np.bincount(ends["code"] + 1).tolist(),
               "steps": float(ends["steps"].mean()),
               "touches": float(ends["tally"][..., 0].sum() / count), "nan": int(np.isnan(ends["y_end"]).any(axis=1).sum()),
               "unfinished": int((ends["code"] != 0).sum())}  # fmt: skip
    if "million" in path.stem:
        touches = ends["tally"][..., 0].sum(axis=1).astype(np.int16)
        np.savez(path.with_name("million ends.npz"), y=ends["y_end"][:, :9].astype(np.float32), touches=touches)
        figures |= ledger_and_floor(cuda, device, path, facts, ends, members["constants"])
        odd = np.flatnonzero((ends["code"] != 0) | np.isnan(ends["y_end"]).any(axis=1))
        np.savez(path.with_name("million odd.npz"), members=odd, code=ends["code"][odd], y=members["y"][odd])
    print(f"  {count} members: {figures['per_second']:.4g} a second, {figures['per_second_with_copies']:.4g} with copies; codes "
          f"{figures['codes']}, steps {figures['steps']:.0f}, touches {figures['touches']:.2f}, nan {figures['nan']}",
          flush=True)  # fmt: skip
    return figures


def ledger_and_floor(
    cuda: Any, device: Any, path: Path, facts: dict[str, Any], ends: dict[str, np.ndarray], constants: np.ndarray
) -> dict[str, Any]:
    """The error of the energy balance over its scale, as `pl.ensemble` measures it, and the deepest gap: over all rows and ends."""
    module = cuda.Module(device, path.with_suffix(".rows").read_bytes())
    kernel = cuda.Kernel(module, "observe_rows")
    count, rows, n, works = len(ends["code"]), ends["row_y"].shape[1], facts["controlled"], facts["works"]
    y = np.concatenate([ends["row_y"], ends["y_end"][:, None]], axis=1)
    p = np.concatenate([ends["row_p"], ends["p_end"][:, None]], axis=1)
    out = np.empty((count, rows + 1, len(HELD) + facts["pairs"]))
    inputs = {"y": y, "p": p, "constants": constants}
    cuda.run_batch(module, ROWS, {"rows": count * (rows + 1), "each": rows + 1}, inputs, {"out": out}, "rows_record",
                   lambda _: kernel(kernel.facts.blocks * kernel.block))  # fmt: skip
    held, gaps = out[..., : len(HELD)], out[..., len(HELD) :]
    balance = held.sum(axis=2) - y[..., n : n + works].sum(axis=2)
    swings = (np.nanmax(held, axis=1) - np.nanmin(held, axis=1)).max(axis=1)
    reach = (ends["reach"][..., 1] - ends["reach"][..., 0]).max(axis=1)
    scale = np.maximum(np.maximum(swings, reach), np.nanmax(np.abs(held[..., 0]), axis=1))
    error = np.nanmax(np.abs(balance - balance[:, :1]), axis=1) / scale
    worst = np.sort(error)
    figures = {"ledger_worst": float(worst[-1]), "ledger_median": float(np.median(error)), "ledger_99.9_percent":
               float(worst[int(0.999 * count)]), "deepest_gap_m": float(np.nanmin(gaps)), "rows_looked_at": count * (rows + 1),
               "through_the_floor": int((np.nanmin(gaps, axis=(1, 2)) < -FLOOR).sum())}  # fmt: skip
    print("  " + ", ".join(f"{name} {value:.3g}" for name, value in figures.items()), flush=True)
    return figures


def many(facts: dict[str, Any], arrays: Any) -> dict[str, np.ndarray]:
    """All members of a case."""
    columns = {int(key[6:]): arrays[key] for key in arrays.files if key.startswith("start ")}
    constants = {int(key[9:]): arrays[key] for key in arrays.files if key.startswith("constant ")}
    count = MANY if "chain" in facts["name"] else facts["count"]
    if facts["recipe"] == "heights":
        count = 4_000_000
        columns = {1: 1.0 + 0.2 * np.random.default_rng(2).uniform(size=count)}
    if facts["recipe"] == "random_chains":
        chains = random_chains(MILLION, 3)
        count, columns = MILLION, dict(zip(columns, chains.values(), strict=True))
    y = np.tile(np.array(facts["y0"]), (count, 1))
    for k, column in columns.items():
        y[:, k] = np.resize(column, count)
    if not facts["own"]:
        return {"y": y}
    rows = np.tile(np.array(facts["constants"]), (count, 1))
    for k, column in constants.items():
        rows[:, k] = column
    for key in arrays.files:
        if key.startswith("bank "):
            rows[:, int(key[5:])] = np.resize(arrays[key], count)
    return {"y": y, "constants": rows}


def ends_of(facts: dict[str, Any], count: int, rows: int) -> dict[str, np.ndarray]:
    n, changing, pairs = facts["n"], facts["changing"], facts["pairs"]
    whole = {name: np.full(count, -1, dtype=np.int64) for name in ("code", "event", "steps", "refused")}
    shapes = {"t_end": (count,), "y_end": (count, n), "p_end": (count, changing), "tally": (count, pairs, 5),
              "reach": (count, facts["works"], 2), "row_y": (count, rows, n), "row_p": (count, rows, changing)}  # fmt: skip
    return {**whole, **{name: np.full(shape, np.nan) for name, shape in shapes.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", type=Path)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.make is not None:
        make(options.make)
    if options.run is not None:
        run_all(options.run, options.json, options.only)


if __name__ == "__main__":
    main()
