"""`include`: definitions, materials and parts from other files, named relative to the file that includes them.

Included files must be inside the folder of the model (after following links), unless the caller allows otherwise: a model may come
from anyone, and error messages quote the files that are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pliant.files.document import Item, ModelFileError, read_document
from pliant.host.netcdf_head import is_netcdf

MAX_BYTES = 5_000_000  # of one file; far more than any model needs, and still read in seconds
DEEPEST = 20  # levels of files that include each other
SHARED = ("define", "materials", "parts")  # sections that included files may contain
KEYS = ("pliant", "include", *SHARED)


def read_text(path: str | Path) -> str:
    """The text of a file; a file that cannot be read, is too long or is not text is refused."""
    try:
        if not Path(path).is_file():
            missing = "No such file" if not Path(path).exists() else "must be a file"
            raise ModelFileError(f"{path}: cannot be read: {missing}")
        if is_netcdf(path):
            words = "must be a model file, got the result of a run (netCDF)"
            raise ModelFileError(f"{path}: {words}; `pliant info {Path(path).name} --model` prints the model that it came from")
        if Path(path).stat().st_size > MAX_BYTES:
            raise ModelFileError(f"{path}: must be at most {MAX_BYTES} bytes, got {Path(path).stat().st_size}")
        return Path(path).read_text(encoding="utf-8")
    except OSError as trouble:
        raise ModelFileError(f"{path}: cannot be read: {trouble.strerror or trouble}") from None
    except UnicodeDecodeError as trouble:
        raise ModelFileError(f"{path}: must be UTF-8 text, got byte {trouble.object[trouble.start]:#04x}") from None


def read_includes(item: Item, folder: Path | None, above: tuple[Path, ...] = (), outside: bool = False) -> list[Mapping[str, Item]]:
    """The sections of all included files, each once; files that a file includes come before it.

    outside: files may be outside the folder.
    """
    found: list[Mapping[str, Item]] = []
    seen: set[Path] = set()
    _collect(item, folder, None if outside or folder is None else folder.resolve(), above, seen, found)
    return found


def _collect(
    item: Item,
    folder: Path | None,
    inside: Path | None,
    above: tuple[Path, ...],
    seen: set[Path],
    found: list[Mapping[str, Item]],
) -> None:
    if len(above) > DEEPEST:
        raise item.error(f"files must include each other at most {DEEPEST} levels deep")
    for name in item.items() if item.is_list else [item]:
        target = target_of(name, folder, inside)
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
            _collect(sections["include"], target.parent, inside, (*above, target), seen, found)
        found.append(sections)


def target_of(item: Item, folder: Path | None, inside: Path | None) -> Path:
    text = item.text("the name of a file")
    if folder is None:
        raise item.wrong("must be left out when the model is not read from a file (or give loads_model a folder)")
    if Path(text).is_absolute() or "\0" in text:
        raise item.wrong("must be a path relative to this file")
    try:
        target = (folder / text).resolve()
    except (OSError, RuntimeError):  # circular links, or a name that is too long
        raise item.wrong("must be the name of a file") from None
    # Refused before anything is read, so that the message does not reveal whether the file exists.
    if inside is not None and not target.is_relative_to(inside):
        raise item.wrong("must be inside the folder of the model (--allow-includes-outside permits other folders)")
    return target
