"""modelDescription.xml of FMI 3.0 and 2.0, and which variable is which number of the mechanism."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from pliant.equations.c_source import identifier
from pliant.errors import ModelError
from pliant.exchange.exported import Exported
from pliant.exchange.numbers import ANY, INPUT, START
from pliant.files import units
from pliant.trace.layout import FOREVER
from pliant.version import VERSION

TIME, GIVEN, STATE, RATE, OBSERVED, INDICATOR, TOUCHES, BEGAN = range(8)  # kinds of variables in fmi.c
TOLERANCE = "1e-9"  # for an importer's integrator
_BASE = {"[mass]": "kg", "[length]": "m", "[time]": "s", "[current]": "A", "[temperature]": "K", "[substance]": "mol",
         "[luminosity]": "cd"}  # fmt: skip


@dataclass(frozen=True)
class Variable:
    name: str
    kind: int
    place: int
    causality: str = "local"
    unit: str = ""
    meaning: str = ""
    start: float | None = None
    low: float = -ANY
    high: float = ANY
    slope: int = -1  # among the outputs with derivatives
    variability: str = "continuous"
    derivative: int | None = None  # reference of the state whose derivative it is

    @property
    def entry(self) -> tuple[int, int, int]:
        """What C knows of it."""
        return self.kind, self.place, self.slope


def variables_of(exported: Exported) -> list[Variable]:
    """All variables; the place in the list is the value reference."""
    found = [Variable("time", TIME, 0, "independent", "s")]
    for k, one in enumerate(exported.given):
        causality, variability = ("input", "continuous") if one.kind == INPUT else ("parameter", "tunable")
        if one.kind == START:
            variability = "fixed"
        found.append(Variable(one.name, GIVEN, k, causality, one.unit, "", one.value, one.low, one.high, variability=variability))
    for own in exported.outputs:
        slope = exported.sloped.index(own.place) if own.place >= 0 else -1
        kind, place = (OBSERVED, own.place) if own.place >= 0 else (STATE, -1 - own.place)
        found.append(Variable(own.name, kind, place, "output", own.unit, own.meaning, slope=slope))
    traced = exported.compiled.traced
    if exported.hosted:
        first = len(found)
        labels = [label for owner in traced.states for label in owner.labels]
        found += [Variable(f"state {label}", STATE, k) for k, label in enumerate(labels)]
        found += [Variable(f"derivative of {label}", RATE, k, derivative=first + k) for k, label in enumerate(labels)]
        found += [Variable(f"event {k}: {event.name}", INDICATOR, k) for k, event in enumerate(traced.events)]
    for k, pair in enumerate(exported.pairs):
        found.append(Variable(f"touches {pair}", TOUCHES, k, meaning="contacts of this pair so far", variability="discrete"))
        found.append(Variable(f"began {pair}", BEGAN, k, unit="s", meaning="when its present or last contact began, nan: none",
                              variability="discrete"))  # fmt: skip
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ModelError.of("write_fmu", "outputs", "must have other names than inputs and parameters", twice)
    return found


def description(exported: Exported, variables: list[Variable], version: str, token: str) -> str:
    """The document, as text."""
    own = _Third(exported, variables, token) if version == "3.0" else _Second(exported, variables, token)
    root = own.document()
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def build_description(exported: Exported) -> str:
    """buildDescription.xml of FMI 3.0: which file an importer compiles."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    own = SubElement(root, "BuildConfiguration", modelIdentifier=identifier(exported.name))
    files = SubElement(own, "SourceFileSet", language="C99", compilerOptions="-ffp-contract=off")
    SubElement(files, "SourceFile", name="fmi3.c")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


class _Document:
    """What both versions have."""

    version = ""
    token = ""  # its attribute

    def __init__(self, exported: Exported, variables: list[Variable], token: str) -> None:
        self.exported, self.variables, self.own_token = exported, variables, token

    def document(self) -> Element:
        own, hosted = self.exported, self.exported.hosted
        root = Element("fmiModelDescription", fmiVersion=self.version, modelName=own.name, generationTool=f"pliant {VERSION}")
        root.set(self.token, self.own_token)
        root.set("variableNamingConvention", "flat")
        self.more(root)
        kind = SubElement(root, "ModelExchange" if hosted else "CoSimulation", modelIdentifier=identifier(own.name))
        self.abilities(kind)
        self._units(root)
        categories = SubElement(root, "LogCategories")
        for name in ("logStatusWarning", "logStatusError"):
            SubElement(categories, "Category", name=name)
        experiment = SubElement(root, "DefaultExperiment", startTime=repr(own.t_start), tolerance=TOLERANCE)
        if own.t_end < FOREVER:
            experiment.set("stopTime", repr(own.t_end))
        listed = SubElement(root, "ModelVariables")
        for reference, one in enumerate(self.variables):
            self.variable(listed, reference, one)
        self.structure(SubElement(root, "ModelStructure"))
        return root

    def _units(self, root: Element) -> None:
        known = sorted({one.unit for one in self.variables if base_of(one.unit) is not None})
        listed = SubElement(root, "UnitDefinitions")
        for name in known:
            base = base_of(name)
            assert base is not None
            SubElement(SubElement(listed, "Unit", name=name), "BaseUnit", {key: str(power) for key, power in base.items()})

    def attributes(self, one: Variable) -> dict[str, str]:
        """Of the number that a variable is."""
        found = {}
        if one.unit and base_of(one.unit) is not None:
            found["unit"] = one.unit
        if one.derivative is not None:
            found["derivative"] = str(one.derivative + self.first)
        if one.low > -ANY:
            found["min"] = repr(one.low)
        if one.high < ANY:
            found["max"] = repr(one.high)
        if one.start is not None:
            found["start"] = repr(one.start)
        return found

    def describe(self, own: Element, one: Variable) -> None:
        own.set("variability", one.variability)
        if one.meaning:
            own.set("description", one.meaning)
        if one.start is not None and one.causality != "input":
            own.set("initial", "exact")
        elif one.causality in ("local", "output"):
            own.set("initial", "calculated")

    first = 0  # number of the first variable

    def of_kind(self, kind: int) -> Iterator[int]:
        """References of local variables."""
        return (k for k, one in enumerate(self.variables) if one.kind == kind and one.causality == "local")

    @property
    def unknowns(self) -> list[int]:
        return [k for k, one in enumerate(self.variables) if one.causality == "output"]

    def more(self, root: Element) -> None: ...
    def abilities(self, kind: Element) -> None: ...
    def variable(self, listed: Element, reference: int, one: Variable) -> None: ...
    def structure(self, root: Element) -> None: ...


class _Third(_Document):
    version, token = "3.0", "instantiationToken"

    def abilities(self, kind: Element) -> None:
        for name in ("canGetAndSetFMUState", "canSerializeFMUState"):
            kind.set(name, "true")
        kind.set("providesDirectionalDerivatives", str(self.exported.slopes).lower())
        if self.exported.hosted:
            kind.set("needsCompletedIntegratorStep", "true")
        else:
            kind.set("canHandleVariableCommunicationStepSize", "true")
            kind.set("canReturnEarlyAfterIntermediateUpdate", "false")

    def variable(self, listed: Element, reference: int, one: Variable) -> None:
        real = one.kind != TOUCHES
        own = SubElement(
            listed, "Float64" if real else "Int64", name=one.name, valueReference=str(reference), causality=one.causality
        )
        self.describe(own, one)
        for name, value in self.attributes(one).items():
            own.set(name, value)

    def structure(self, root: Element) -> None:
        for reference in self.unknowns:
            SubElement(root, "Output", valueReference=str(reference))
        for reference in self.of_kind(RATE):
            SubElement(root, "ContinuousStateDerivative", valueReference=str(reference))
        for reference, one in enumerate(self.variables):
            if one.causality == "output" or one.kind in (STATE, RATE):
                SubElement(root, "InitialUnknown", valueReference=str(reference))
        for reference in self.of_kind(INDICATOR):
            SubElement(root, "EventIndicator", valueReference=str(reference))


class _Second(_Document):
    version, token, first = "2.0", "guid", 1

    def more(self, root: Element) -> None:
        if self.exported.hosted:
            root.set("numberOfEventIndicators", str(len(self.exported.compiled.traced.events)))

    def abilities(self, kind: Element) -> None:
        for name in ("canGetAndSetFMUstate", "canSerializeFMUstate"):
            kind.set(name, "true")
        kind.set("providesDirectionalDerivative", str(self.exported.slopes).lower())
        if not self.exported.hosted:
            kind.set("canHandleVariableCommunicationStepSize", "true")
        SubElement(SubElement(kind, "SourceFiles"), "File", name="fmi2.c")

    def variable(self, listed: Element, reference: int, one: Variable) -> None:
        own = SubElement(listed, "ScalarVariable", name=one.name, valueReference=str(reference), causality=one.causality)
        self.describe(own, one)
        SubElement(own, "Integer" if one.kind == TOUCHES else "Real", self.attributes(one))

    def structure(self, root: Element) -> None:
        states, rates = self.of_kind(STATE), list(self.of_kind(RATE))
        initial = [*self.unknowns, *states, *rates]
        for name, references in (("Outputs", self.unknowns), ("Derivatives", rates), ("InitialUnknowns", initial)):
            if references:
                listed = SubElement(root, name)
                for reference in sorted(references):
                    SubElement(listed, "Unknown", index=str(reference + 1))


def base_of(unit: str) -> dict[str, int] | None:
    """The exponents of SI's base units; None for a plain number, and for what is no SI unit, such as "m or 1"."""
    if not unit or " or " in unit or unit == "1":
        return None
    try:
        if not units.is_si(unit):
            return None
        powers = dict(units.dimension(unit))
    except ModelError:
        return None
    if any(name not in _BASE or power != int(power) for name, power in powers.items()):
        return None
    found = {_BASE[name]: int(power) for name, power in powers.items() if power}
    if re.search(r"\brad\b", unit):
        found["rad"] = 1
    return found or None
