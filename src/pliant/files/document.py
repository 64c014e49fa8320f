"""A YAML document as items that know their location: file, line and path of keys.

Only the composer of PyYAML is used. Scalars stay text until a reader asks for a number, a word or a boolean, so none of the
surprises of YAML 1.1 (`on` is a boolean, 2e11 is a string, 010 is eight, 1:30 is ninety) reaches a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.resolver import Resolver

from pliant.errors import ModelError, plain
from pliant.errors import did_you_mean as did_you_mean
from pliant.files import units
from pliant.files.formula import Known, ParsedFormula, parse_number, short
from pliant.model.parameter import expression_of
from pliant.scope import foreign_model

LONGEST_PATH, LONGEST_RULE = 200, 1000  # characters of a message
QUOTES = " (put a formula with brackets or commas in quotes)"
OPENED = re.compile(r"expected ',' or '([]}])'")  # of PyYAML, in braces or brackets that are not closed
MAX_NESTING = 40  # levels of mappings and lists; a model needs about ten
MOST_VALUES = 200_000  # in one file; each takes about 40 us to read


class ModelFileError(ModelError):
    """A model file breaks a rule; the message begins with file, line, column and path of keys."""

    def __init__(self, message: str) -> None:
        super().__init__(plain(message))  # the message may quote the file


@dataclass
class Scope:
    """The names that values of a model may refer to, as far as the model has been read."""

    definitions: dict[str, ParsedFormula] = field(default_factory=dict)
    given: Mapping[str, float | str] = field(default_factory=dict)  # values of definitions that replace those of the file
    fixed: frozenset[str] = frozenset()  # definitions that determine the structure of the equations, and so are not parameters
    units: dict[str, str] = field(default_factory=dict)  # in which the file defines numbers, by name
    structural: set[str] = field(default_factory=set)  # definitions that were found to determine it
    materials: dict[str, Any] = field(default_factory=dict)
    coordinates: Known | None = None  # names that formulas may use, once all bodies are known
    system: Any = None  # the System whose places may be named
    folder: Path | None = None  # of the model: files that it names are relative to it
    outside: bool = False  # whether they may be elsewhere


@dataclass(frozen=True)
class Item:
    """One value of the file."""

    node: Any  # a YAML node
    source: str  # the file's name
    at: tuple[int, int]  # line and column of its key, or of the value if it has no key
    path: str = ""  # path of keys, as in bodies.arm.beam.length
    unit: str | None = None  # unit of its number or numbers; None if unknown
    scope: Scope = field(default_factory=Scope)
    coordinates: Mapping[str, str] = field(default_factory=dict)  # m or rad, by the names of coordinates whose numbers it may hold

    def error(self, rule: str) -> ModelFileError:
        line, column = self.at
        where = f"{self.source}:{line}:{column}"
        path, said = short(self.path, LONGEST_PATH), short(rule, LONGEST_RULE)
        return ModelFileError(f"{where}: {path}: {said}" if path else f"{where}: {said}")

    def within(self, node: Any, at: tuple[int, int], path: str) -> Item:
        return replace(self, node=node, at=at, path=path)

    def of_unit(self, unit: str | None) -> Item:
        return replace(self, unit=unit)

    def of_coordinates(self, units: Mapping[str, str]) -> Item:
        return replace(self, coordinates=units)

    @property
    def coordinate(self) -> str | None:
        """m or rad: what the coordinates of its numbers are measured in; None where that differs or is not known."""
        measures = set(self.coordinates.values())
        return measures.pop() if len(measures) == 1 else None

    def wrong(self, rule: str) -> ModelFileError:
        return self.error(f"{rule}, got {self.describe()}")

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and not self.is_nothing

    @property
    def is_nothing(self) -> bool:
        return bool(self.node.tag == "tag:yaml.org,2002:null")

    def describe(self) -> str:
        if self.is_nothing:
            return "nothing"
        if self.is_mapping:
            return "a mapping"
        return "a list" if self.is_list else repr(short(self.node.value))

    def mapping(self, wanted: str = "a mapping of keys and values") -> dict[str, Item]:
        if not self.is_mapping:
            raise self.wrong(f"must be {wanted}")
        found: dict[str, Item] = {}
        for key, value in self.node.value:
            key_item = self.within(key, _place(key), self.path)
            name = key_item.text("a key")
            if name in found:
                raise key_item.error(f"key {name!r} must be given only once, got it twice")
            found[name] = self.within(value, key_item.at, f"{self.path}.{name}" if self.path else name)
        return found

    def fields(self, known: Iterable[str], required: Iterable[str] = ()) -> dict[str, Item]:
        """The entries of a mapping whose keys are all known and include all required ones."""
        found, names = self.mapping(), list(known)
        for key, value in found.items():
            if key not in names:
                hint = _slip(key, value, found) or did_you_mean(key, names)
                raise value.at_key(f"unknown key {key!r}{hint}; known: {', '.join(names)}", self)
        missing = [name for name in required if name not in found]
        if missing:
            raise self.error(f"{', '.join(missing)} must be given, got {', '.join(found) or 'nothing'}")
        return found

    def at_key(self, rule: str, parent: Item) -> ModelFileError:
        """An error about the key of this item."""
        return replace(self, path=parent.path).error(rule)

    def items(self) -> list[Item]:
        if not self.is_list:
            raise self.wrong("must be a list")
        if hint := _decimal_comma(self.node):
            raise self.error(hint)
        return [self.within(node, _place(node), f"{self.path}[{k}]") for k, node in enumerate(self.node.value)]

    def text(self, wanted: str = "a string") -> str:
        if not self.is_scalar or not self.node.value:
            raise self.wrong(f"must be {wanted}")
        return str(self.node.value)

    def number(self, wanted: str = "a number") -> float:
        """A constant expression in SI units, or a number with a unit, as in 250 mm."""
        text = self.text(wanted)
        try:
            return parse_number(text, self.scope.definitions, self.unit)
        except ModelError as trouble:
            if units.split(text) is not None:
                return self.quantity()
            reason = str(trouble)
            plain = reason if reason.startswith("must be") else f"must be {wanted}, got {text!r} ({reason})"
            raise self.error(plain) from None

    def quantity(self) -> float:
        """A number with a unit, in SI."""
        found = units.split(self.text())
        assert found is not None  # checked by the caller
        try:
            return units.convert(*found, self.unit)
        except ModelError as trouble:
            raise self.error(str(trouble)) from None

    def number_or_text(self) -> float | str:
        try:
            return self.number()
        except ModelFileError:
            return self.text()

    def anything(self) -> Any:
        """A number, a string, or a list of these, as written."""
        return tuple(inner.anything() for inner in self.items()) if self.is_list else self.number_or_text()

    def scalars(self) -> Iterator[str]:
        """The texts of all values inside, in their order."""
        left = [self.node]
        while left:
            node = left.pop()
            if isinstance(node, yaml.ScalarNode):
                yield str(node.value)
            else:
                left += reversed([value for _, value in node.value] if isinstance(node, yaml.MappingNode) else node.value)

    def whole(self) -> int:
        number = self.number("a whole number")
        if not number.is_integer():
            raise self.wrong("must be a whole number")
        expression = expression_of(number)
        if expression is not None:
            self.scope.structural.update(parameter.name for parameter in expression.leaves())
        return int(number)

    def truth(self) -> bool:
        words = {"true": True, "false": False}
        text = self.text("true or false")
        if text not in words:
            raise self.wrong("must be true or false")
        return words[text]


def read_document(text: str, source: str, scope: Scope | None = None) -> Item:
    """Parse the single document of a text; anchors, tags and nesting deeper than any model needs are refused."""
    # Values end at a comma or at the end of a line. Counting those takes no time; reading ten million values would take hours.
    values = text.count(",") + text.count("\n")
    if values > MOST_VALUES:
        raise ModelFileError(f"{source}: must contain at most {MOST_VALUES} values, got about {values}")
    if answer := foreign_model(text):
        raise ModelFileError(f"{source}: {answer}")
    try:
        node = _composed(text, source)
    except yaml.YAMLError as trouble:
        mark = getattr(trouble, "problem_mark", None)
        place = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark is not None else source
        problem = getattr(trouble, "problem", None) or str(trouble)
        raise ModelFileError(f"{place}: not valid YAML: {problem}{_hint(text, mark, trouble)}") from None
    if node is None:
        raise ModelFileError(f"{source}: must contain a model, got nothing")
    return Item(node, source, _place(node), scope=scope or Scope())


def build(make: Callable[..., Any], item: Item, /, *args: Any, **values: Any) -> Any:
    """Call a constructor; the file, line and path of the item are added to its error messages."""
    try:
        return make(*args, **values)
    except ModelFileError:
        raise
    except ModelError as trouble:
        raise _blamed(item, str(trouble)).error(str(trouble)) from None
    except (OverflowError, ZeroDivisionError):
        raise item.error("must contain numbers that can be computed with, got some that are too large or too small") from None


def _blamed(item: Item, message: str) -> Item:
    """The item of the field that a message such as 'Beam: length must be > 0 m' is about, else the whole item."""
    match = re.match(r"[^:]*: (\w+)", message)
    if match and item.is_mapping:
        return item.mapping().get(match[1], item)
    return item


def _place(node: Any) -> tuple[int, int]:
    return int(node.start_mark.line) + 1, int(node.start_mark.column) + 1


def _hint(text: str, mark: Any, trouble: yaml.YAMLError) -> str:
    """A hint about common mistakes: tabs, brackets of q['...'], which end an unquoted text, braces, colons, indentation."""
    line = text.splitlines()[mark.line] if mark is not None and mark.line < len(text.splitlines()) else ""
    if "\t" in line:
        return " (indent lines with spaces, not with tabs)"
    if "q[" in line or "v[" in line:
        return QUOTES
    problem, begin = str(getattr(trouble, "problem", "")), getattr(trouble, "context_mark", None)
    opened = OPENED.match(problem)
    if opened and begin is not None:
        bracket = {"}": "{", "]": "["}[opened[1]]
        return f" (the {bracket} at line {begin.line + 1}, column {begin.column + 1} must be closed by a {opened[1]})"
    if problem.endswith(("'}'", "']'")):
        return f" (a {problem[-2]} too many)"
    if problem.endswith("expected ':'") and begin is not None:
        return f" (after the key in line {begin.line + 1}, a colon and a space must follow)"
    return " (lines that belong together must be indented alike, more than the line above)" if "<block end>" in problem else ""


def _slip(key: str, value: Item, found: Mapping[str, Item]) -> str:
    """A hint about an unknown key that is the rest of the value before it, or not indented enough to belong there."""
    names = list(found)
    before = names[max(names.index(key) - 1, 0)]
    text = str(found[before].node.value) if found[before].is_scalar else ""
    if value.is_nothing and key[:1].isdigit() and text.lstrip("+-").isdigit():
        return f" (write a decimal point: {text}.{key})"
    if value.is_nothing and "(" in text:
        return QUOTES
    if value.is_nothing and ":" in key:
        return f" (write a space after the colon: {key.replace(':', ': ', 1)})"
    return f" (indent it if it belongs to {before!r}, which is empty)" if before != key and found[before].is_nothing else ""


def _decimal_comma(node: Any) -> str:
    """What to write instead of [0, -9,81], where one comma has no space behind it, unlike others, and digits on both sides."""
    inner = node.value
    if not node.flow_style or not all(isinstance(one, yaml.ScalarNode) for one in inner):
        return ""
    tight = [a.end_mark.line == b.start_mark.line and b.start_mark.column == a.end_mark.column + 1 for a, b in pairwise(inner)]
    for (a, b), close in zip(pairwise(inner), tight, strict=True):
        if close and not all(tight) and a.value.lstrip("+-").isdigit() and b.value[:1].isdigit():
            return f"must have a decimal point, {a.value}.{b.value}, or a space after the comma, got '{a.value},{b.value}'"
    return ""


def _composed(text: str, source: str) -> Any:
    """The document's node, parsed by libyaml if PyYAML has it; a refused text is parsed by PyYAML too, for its clearer messages."""
    if _Fast is not None and "\t" not in text:  # the two treat tabs differently
        try:
            return _Fast(text, source).get_single_node()
        except yaml.YAMLError:
            pass
    return _Careful(text, source).get_single_node()


class _Strict(Composer):
    """A composer that refuses aliases (which multiply), tags and deep nesting before it builds anything from them."""

    source: str
    depth: int

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()  # type: ignore[attr-defined]  # from the parser that it is combined with
        place = f"{self.source}:{event.start_mark.line + 1}:{event.start_mark.column + 1}"
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ModelFileError(f"{place}: anchors and aliases are not supported (to share a body, put it under parts)")
        if getattr(event, "tag", None):
            raise ModelFileError(f"{place}: tags are not supported, got {short(event.tag)!r}")
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise ModelFileError(f"{place}: mappings and lists must be nested at most {MAX_NESTING} levels deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Careful(_Strict, yaml.SafeLoader):
    def __init__(self, text: str, source: str) -> None:
        yaml.SafeLoader.__init__(self, text)
        self.source, self.depth = source, 0


def _joined_with_libyaml() -> type[_Strict] | None:
    """A strict composer on libyaml's parser, which takes a fifth of the time."""
    if not yaml.__with_libyaml__:
        return None

    class Fast(_Strict, yaml.cyaml.CParser, Resolver):  # type: ignore[misc, name-defined]  # the composer's own methods come first
        def __init__(self, text: str, source: str) -> None:
            yaml.cyaml.CParser.__init__(self, text)  # type: ignore[attr-defined]
            Composer.__init__(self)
            Resolver.__init__(self)
            self.source, self.depth = source, 0

    return Fast


_Fast: Any = _joined_with_libyaml()
