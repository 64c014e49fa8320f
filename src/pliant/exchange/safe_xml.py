"""XML of strangers as a tree of elements that know their lines, and that know which of their content was read.

Document types and entities are refused before anything is expanded, so that no file grows in memory or reads another one. Whatever
a reader never asks for is listed by `unread`: nothing that a file says is lost silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from pliant.errors import did_you_mean
from pliant.files.document import ModelFileError
from pliant.files.include import read_text
from pliant.model import check

DEEPEST = 200  # levels of elements
MOST_ELEMENTS = 100_000


@dataclass
class Element:
    """An element of an XML file."""

    file: str
    tag: str
    given: Mapping[str, str]  # attributes
    line: int
    children: list[Element] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)  # attributes that were read
    seen: bool = False  # whether the element itself was read

    @property
    def where(self) -> str:
        """Its place in messages: arm.urdf, line 12: joint 'elbow'."""
        named = f" {self.given['name']!r}" if self.given.get("name") else ""
        return f"{self.file}, line {self.line}: {self.tag}{named}"

    def wrong(self, field: str, rule: str, value: object) -> ModelFileError:
        """The error of one of its fields."""
        return ModelFileError.of(self.where, field, rule, value)

    def all(self, *tags: str) -> list[Element]:
        """Its children with these tags, which count as read."""
        found = [child for child in self.children if child.tag in tags]
        for child in found:
            child.seen = True
        return found

    def only(self, tag: str) -> Element | None:
        """Its child with a tag, if there is one."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].wrong(tag, f"must be given once, line {found[0].line} gives it already", tag)
        return found[0] if found else None

    def needed(self, tag: str) -> Element:
        """Its child with a tag, which it must have."""
        child = self.only(tag)
        if child is None:
            raise self.wrong(tag, "must be given", None)
        return child

    def text(self, name: str, usual: str | None = None) -> str:
        """An attribute; without a usual value it must be given and not be empty."""
        self.asked.add(name)
        value = self.given.get(name, usual)
        if not value:
            raise self.wrong(name, "must be given", value)
        return value

    def choice(self, name: str, allowed: Mapping[str, Any]) -> str:
        """An attribute that is one of these words."""
        value = self.text(name)
        if value not in allowed:
            raise self.wrong(name, f"must be one of {', '.join(allowed)}{did_you_mean(value, allowed)}", value)
        return value

    def numbers(self, name: str, count: int, usual: str | None = None) -> tuple[float, ...]:
        """So many numbers of an attribute."""
        text = self.text(name, usual)
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            values = []
        if len(values) != count:
            raise self.wrong(name, "must be a number" if count == 1 else f"must be {count} numbers", text)
        return tuple(check.number(self.where, name, value) for value in values)

    def number(self, name: str, usual: str | None = None) -> float:
        """A number of an attribute."""
        return self.numbers(name, 1, usual)[0]

    def size(self, name: str, usual: str | None = None, zero: bool = False) -> float:
        """A number of an attribute, > 0, or >= 0 if it may be zero."""
        value = self.number(name, usual)
        return (check.not_negative if zero else check.positive)(self.where, name, value)

    def walk(self) -> Iterator[Element]:
        """The element and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)


def read_xml(path: str | Path) -> Element:
    """The root element of a file."""
    file, opened, count = str(path), list[Element](), 0
    roots: list[Element] = []
    parser = expat.ParserCreate()

    def refused(field: str, rule: str, value: object) -> ModelFileError:
        return ModelFileError.of(f"{file}, line {parser.CurrentLineNumber}", field, rule, value)

    def begin(tag: str, given: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS:
            raise refused("element", f"must be among the first {MOST_ELEMENTS}", tag)
        if len(opened) >= DEEPEST:
            raise refused("element", f"must be at most {DEEPEST} levels deep", tag)
        element = Element(file, tag, given, parser.CurrentLineNumber)
        (opened[-1].children if opened else roots).append(element)
        opened.append(element)

    def doctype(name: str, *_: object) -> None:
        raise refused("DOCTYPE", "must be left out: document types and entities are not read", name)

    parser.StartElementHandler, parser.EndElementHandler = begin, lambda _: opened.pop()
    parser.StartDoctypeDeclHandler = doctype
    text = read_text(path)
    try:
        parser.Parse(text, True)
    except expat.ExpatError as trouble:
        reason = expat.ErrorString(trouble.code)
        raise ModelFileError(f"{file}, line {trouble.lineno}, column {trouble.offset + 1}: must be XML, got {reason}") from None
    roots[0].seen = True
    return roots[0]


def unread(root: Element) -> list[str]:
    """What was never read: whole elements, and attributes of read ones, each kind with its count and its first line."""
    lines: dict[str, list[int]] = {}
    waiting: list[tuple[Element, tuple[str, ...]]] = [(root, ())]
    while waiting:
        element, path = waiting.pop()
        if not element.seen:
            lines.setdefault(" ".join(path), []).append(element.line)
            continue
        for name in element.given:
            if name not in element.asked:
                lines.setdefault(" ".join((*path, name)), []).append(element.line)
        waiting += [(child, (*path, child.tag)) for child in reversed(element.children)]
    return [f"{what}: {_times(places)}" for what, places in lines.items()]


def _times(lines: list[int]) -> str:
    return f"line {lines[0]}" if len(lines) == 1 else f"{len(lines)} times, first in line {lines[0]}"
