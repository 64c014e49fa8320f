"""The folder of a sweep: its description (`sweep.json`), and one file for each computed batch of cases.

The grouping of cases into batches is written before anything is computed, and never changed. A sweep that is killed and continued
therefore writes the same files as one that was not interrupted, and a sweep that is extended adds batches for the new cases.
The description names every stored case: one that the next sweep does not ask for stays in it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pliant.errors import ModelError, SolveError
from pliant.host.atomic_files import write_text
from pliant.host.netcdf import CHECKSUM
from pliant.study.sweep import over as cases
from pliant.study.sweep.batch import SUFFIX, FileBatch, MemoryBatch, batch_name, check_batch, open_batch, write_batch
from pliant.study.sweep.job import Job
from pliant.study.sweep.over import Over
from pliant.version import VERSION

FORMAT = 1  # version of the folder format
MANIFEST = "sweep.json"
MOST_BATCHES, LARGEST_BATCH = 256, 256  # limits for the batches planned at once, unless their size is given

Keys = tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """The description of a folder: the identity of the sweep, its cases, and their grouping into batches."""

    title: str
    model: str  # fingerprint of the model
    run: str
    keep: str
    kept: tuple[str, ...]  # names of the kept results
    over: Over
    units: dict[str, str]
    keys: Keys  # keys of the cases, in order
    batches: tuple[Keys, ...]
    version: str = VERSION

    def to_json(self) -> str:
        data = {
            "format": FORMAT, "version": self.version, "title": self.title, "model": self.model, "run": self.run,
            "keep": self.keep, "kept": list(self.kept), "units": self.units, "over": self.over.to_json(),
            "keys": list(self.keys), "batches": [list(batch) for batch in self.batches],
        }  # fmt: skip
        return json.dumps({**data, CHECKSUM: _checksum(data)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']}, this pliant reads {FORMAT}")
        if data.pop(CHECKSUM, None) not in (None, _checksum(data)):  # earlier versions wrote none
            raise ValueError("its contents have changed since it was written")
        over, keys = cases.from_json(data["over"]), tuple(str(key) for key in data["keys"])
        if len(over) != len(keys):
            raise ValueError(f"{len(over)} cases with {len(keys)} keys")
        words = {name: str(data[name]) for name in ("title", "model", "run", "keep", "version")}
        batches = tuple(tuple(str(key) for key in batch) for batch in data["batches"])
        return cls(**words, kept=tuple(data["kept"]), over=over, units=dict(data["units"]), keys=keys, batches=batches)


def _checksum(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


def manifest_of(job: Job, over: Over) -> Manifest:
    """The manifest of a sweep without any planned batches."""
    keys = tuple(job.key(case) for case in over)
    units = {name: unit for name, unit in job.subject.units.items() if name in over.columns}
    identities = {"model": job.subject.identity, "run": job.run_identity, "keep": job.keep.identity}
    return Manifest(job.subject.title, **identities, kept=tuple(job.keep.names), over=over, units=units, keys=keys, batches=())


def planned(manifest: Manifest, earlier: Iterable[Keys], size: int | None) -> Manifest:
    """The existing batches, and new ones for the cases that are in none of them."""
    batches = list(earlier)
    known = {key for batch in batches for key in batch}
    new = [key for key in dict.fromkeys(manifest.keys) if key not in known]
    step = size or min(LARGEST_BATCH, math.ceil(len(new) / MOST_BATCHES)) or 1
    batches += [tuple(new[k : k + step]) for k in range(0, len(new), step)]
    return replace(manifest, batches=tuple(batches))


def joined(job: Job, earlier: Manifest, asked: Manifest, stored: Iterable[Keys]) -> Manifest:
    """The description of all cases of the earlier one that are stored, and of those asked for: an index only grows."""
    keep = {key for keys in stored for key in keys} & set(earlier.keys)
    if keep <= set(asked.keys):
        return asked
    if set(asked.keys) <= set(earlier.keys):
        return replace(earlier, batches=asked.batches)
    known = dict(zip(earlier.keys, earlier.over, strict=True)) | dict(zip(asked.keys, asked.over, strict=True))
    over = cases.union(earlier.over, asked.over, known.values(), lambda case, name: job.subject.numbers(case).get(name))
    units = {**earlier.units, **asked.units}
    return replace(asked, over=over, units=units, keys=tuple(job.key(case) for case in over))


class Store:
    """A folder of batches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def manifest_file(self) -> Path:
        return self.folder / MANIFEST

    def begin(self, manifest: Manifest, size: int | None, job: Job) -> Manifest:
        """Continue the sweep in the folder, or create it; an error if the folder holds anything else. The cases asked for."""
        earlier = self.read_manifest()
        if earlier is None:
            self._require_empty()
            index = whole = planned(manifest, (), size)
        else:
            self._require_same(earlier, manifest)
            there, asked = set(self.stored(earlier)), set(manifest.keys)
            whole = planned(manifest, (keys for keys in earlier.batches if keys in there or asked.issuperset(keys)), size)
            index = joined(job, earlier, whole, there)
        if earlier is None or index.to_json() != earlier.to_json():
            with self._telling():
                self.folder.mkdir(parents=True, exist_ok=True)
                write_text(self.manifest_file, index.to_json())
        return whole

    def read_manifest(self) -> Manifest | None:
        """The manifest of the folder; None if there is none."""
        try:
            text = self.manifest_file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            raise ModelError.of("sweep", "store", "must be a folder", str(self.folder)) from None
        except (OSError, UnicodeDecodeError) as trouble:
            raise ModelError(f"{self.manifest_file}: cannot be read: {getattr(trouble, 'strerror', None) or trouble}") from None
        try:
            return Manifest.from_json(text)
        except (ValueError, KeyError, TypeError, AttributeError) as trouble:  # ModelError is a ValueError
            rule = f"must be a complete file written by pliant ({trouble}); nothing was overwritten"
            raise ModelError(f"{self.manifest_file}: {rule}") from None

    def path(self, keys: Sequence[str]) -> Path:
        return self.folder / (batch_name(keys) + SUFFIX)

    def stored(self, manifest: Manifest) -> list[Keys]:
        """The existing batches."""
        try:
            there = set(os.listdir(self.folder))
        except FileNotFoundError:
            return []
        return [keys for keys in manifest.batches if self.path(keys).name in there]

    def check(self, batches: Iterable[Keys]) -> None:
        """Read and verify the existing batches, because they will be used."""
        for keys in batches:
            check_batch(self.path(keys), keys)

    def open(self, batches: Iterable[Keys]) -> list[FileBatch]:
        return [open_batch(self.path(keys), keys) for keys in batches]

    def write(self, batch: MemoryBatch) -> None:
        with self._telling():
            write_batch(batch, self.path(batch.keys))

    def _require_empty(self) -> None:
        """Require a new or empty folder, so that no foreign files are mixed with the sweep's."""
        try:
            others = [name for name in os.listdir(self.folder) if not name.startswith(".")]
        except FileNotFoundError:
            return
        except OSError as trouble:
            raise ModelError.of("sweep", "store", f"must be a folder ({trouble.strerror})", str(self.folder)) from None
        if others:
            rule = f"must be new, empty, or hold a sweep; this folder holds other files, such as {min(others)!r}"
            raise ModelError.of("sweep", "store", rule, str(self.folder))

    def _require_same(self, earlier: Manifest, asked: Manifest) -> None:
        if earlier.version != asked.version:
            rule = f"must have been made by the present version, pliant {asked.version}; it was made by pliant {earlier.version}"
        else:
            names = {"model": "model", "run": "run settings", "keep": "things kept"}
            differing = [words for name, words in names.items() if getattr(earlier, name) != getattr(asked, name)]
            if not differing:
                return
            rule = f"must hold a sweep with the same {' and '.join(differing)}; it holds a different one, of {earlier.title!r}"
        raise ModelError.of("sweep", "store", f"{rule}: choose another folder; nothing was overwritten", str(self.folder))

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Add the folder to errors that prevent writing."""
        try:
            yield
        except (OSError, RuntimeError) as trouble:  # the latter is how HDF5 reports a full disk
            reason = getattr(trouble, "strerror", None) or trouble
            words = "cases stored before are kept, and the same sweep will continue from there"
            raise SolveError(f"{self.folder}: cannot be written ({reason}); {words}") from trouble
