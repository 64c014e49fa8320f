"""`include`: definitions, materials and parts from other files, named relative to the file that includes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pliant.files.document import Item, ModelFileError, read_document

MAX_BYTES = 20_000_000  # of one file: far beyond any model, far below what fills a memory
SHARED = ("define", "materials", "parts")  # what included files may hold
KEYS = ("pliant", "include", *SHARED)


def read_text(path: str | Path) -> str:
    """The text of a file, refused where it is none."""
    try:
        if not Path(path).is_file():
            missing = "No such file" if not Path(path).exists() else "must be a file"
            raise ModelFileError(f"{path}: cannot be read: {missing}")
        if Path(path).stat().st_size > MAX_BYTES:
            raise ModelFileError(f"{path}: must be at most {MAX_BYTES} bytes, got {Path(path).stat().st_size}")
        return Path(path).read_text(encoding="utf-8")
    except OSError as trouble:
        raise ModelFileError(f"{path}: cannot be read: {trouble.strerror or trouble}") from None
    except UnicodeDecodeError as trouble:
        raise ModelFileError(f"{path}: must be UTF-8 text, got byte {trouble.object[trouble.start]:#04x}") from None


def read_includes(item: Item, folder: Path | None, above: tuple[Path, ...] = ()) -> list[Mapping[str, Item]]:
    """The sections of all files that an include names, those that these include before them; each file once."""
    found: list[Mapping[str, Item]] = []
    seen: set[Path] = set()
    _collect(item, folder, above, seen, found)
    return found


def _collect(
    item: Item, folder: Path | None, above: tuple[Path, ...], seen: set[Path], found: list[Mapping[str, Item]]
) -> None:
    for name in item.items() if item.is_list else [item]:
        target = _target(name, folder)
        if target in above:
            chain = " includes ".join(path.name for path in (*above[above.index(target) :], target))
            raise name.error(f"files must not include each other in a circle, got {chain}")
        if target in seen:
            continue
        seen.add(target)
        try:
            document = read_document(read_text(target), str(target), name.scope)
        except ModelFileError as trouble:
            raise name.error(str(trouble)) from None
        sections = document.fields(KEYS)
        if "include" in sections:
            _collect(sections["include"], target.parent, (*above, target), seen, found)
        found.append(sections)


def _target(item: Item, folder: Path | None) -> Path:
    text = item.text("the name of a file")
    if folder is None:
        raise item.wrong("must be left out of a text that is no file (or say in which folder to look)")
    if Path(text).is_absolute() or "\0" in text:
        raise item.wrong("must be a path relative to this file")
    return (folder / text).resolve()
