"""Files that appear whole or not at all: written under another name in the same folder, then renamed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def draft_of(target: str | Path) -> Iterator[Path]:
    """A name to write to; it becomes `target` when all went well, and is gone when anything went wrong."""
    target = Path(target)
    # the suffix is kept: writers of pictures and netCDF choose the format by it
    handle, name = tempfile.mkstemp(prefix=f".{target.stem}.", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """What new files may not have; asking for it means setting it for a moment."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
