"""The page's module on this processor: the same program, the same memory, driven as `machine.js` drives it."""

import ctypes
from functools import cached_property

import numpy as np

from pliant.codegen.standalone import ADDRESS
from pliant.host.processor import host, load_object
from pliant.integrate.memory.run_record import RUN
from pliant.integrate.status import FULL, GO_ON

FLOAT, WHOLE, ADDRESSED = ctypes.c_double, ctypes.c_int64, ctypes.c_void_p


class NativeMachine:
    def __init__(self, live):
        self.live, self.spec = live, live.spec()[0]
        target = host()
        self._engine = load_object(bytes(target.machine(2).emit_object(live.program.linked(target))), target)
        size = live.image.end - live.image.begin
        self._memory = np.zeros(size // 8 + 2)
        begin = -(-self._memory.ctypes.data // 16) * 16
        live.image.begin = begin
        self.contents = live.image.lay_out()
        self.places = dict(live.image.places)
        self.bytes = (ctypes.c_uint8 * size).from_address(begin)

    def _call(self, name, answer, *kinds):
        return ctypes.CFUNCTYPE(answer, *kinds)(self._engine.get_function_address(name))

    def array(self, name, count, kind="f8"):
        return np.frombuffer((ctypes.c_char * (8 * count)).from_address(self.places[name]), dtype=kind)

    @cached_property
    def run(self):
        return np.frombuffer((ctypes.c_char * RUN.itemsize).from_address(self.places["run"]), dtype=RUN)[0:1]

    def begin(self, vector, starts=None):
        """vector: the table's, of what sliders change; starts: of entries of the state."""
        spec = self.spec
        self.bytes[:] = bytes(len(self.bytes))
        self.bytes[: len(self.contents)] = self.contents
        for field, name in self.live.addresses.items():
            address = self._call(ADDRESS + name, WHOLE)()
            if field.startswith("updates["):
                self.array("run.updates", spec["updates"], "i8")[int(field[8:-1])] = address
            else:
                self.run[field] = address
        part = {name: vector[place] for name, place in self.live.parts.items()}
        numbers, prepared = self.array("numbers", part["numbers"].size), self.array("prepared", spec["prepared"])
        numbers[:] = part["numbers"]
        kernel = self._call("prepare", None, FLOAT, *(ADDRESSED,) * 4)
        kernel(0.0, self.places["numbers"], self.places["numbers"], self.places["prepared"], self.places["run.work"])
        first, count = spec["constants"]
        p = self.array("batch.p", spec["parameters"])
        p[:] = self.array("run.p", spec["parameters"])
        p[first : first + count] = prepared[:count]
        p[: spec["head"]] = part["heads"][: spec["head"]]
        self.array("batch.y", spec["n"])[:] = part["start"]
        for place, value in (starts or {}).items():
            self.array("batch.y", spec["n"])[place] = value
        self.array("batch.numbers", part["pairs"].size)[:] = part["pairs"]
        self.array("batch.weight", 1)[:] = part["weight"]
        self.array("run.piece_head", part["heads"].size)[:] = part["heads"]
        if spec["pieces"] == part["ends"].size:
            self.array("run.piece_end", spec["pieces"])[:] = part["ends"]
        self.run["t_stop"] = self.array("run.piece_end", 1)[0]
        self._call("take_up", None, ADDRESSED, ADDRESSED, WHOLE)(self.places["run"], self.places["batch"], 0)
        if "project" in self.live.program.kernels and not np.array_equal(vector, self.live.table.base, equal_nan=True):
            for _ in range(3):
                project = self._call("project", None, FLOAT, *(ADDRESSED,) * 4)
                project(self.run["t"][0], *(self.places[f"run.{name}"] for name in ("y", "p", "y_try", "work")))
                self.array("run.y", spec["n"])[:] = self.array("run.y_try", spec["n"])

    def to_end(self):
        advance = self._call("advance", WHOLE, ADDRESSED)
        while True:
            self.run["budget"] = 20000
            code = advance(self.places["run"])
            if code not in (GO_ON, FULL):
                return code
            if code == FULL:
                self.run["flushed"] = 1

    def lasting(self):
        """The number of contacts that are still closed."""
        p = self.array("run.p", self.spec["parameters"])
        return sum(p[pair["closed"]] != 0.0 for pair in self.spec["pairs"])

    def rows(self):
        """(times, states) of the rows."""
        count, n = int(self.run["n_rows"][0]), self.spec["n"]
        return self.array("run.row_t", count).copy(), self.array("run.row_y", count * n).reshape(count, n).copy()
