"""Results as a Parquet file: the columns of the text table, in groups of rows, each with its unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pliant.errors import PliantError
from pliant.host.atomic_files import atomic_write
from pliant.results.columns import blocks_of, columns_of
from pliant.results.contents import ResultContents


def write_parquet(result: ResultContents, path: str | Path, quantities: Sequence[str] | None = None) -> None:
    """The file appears whole or not at all."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as trouble:
        raise PliantError("to_parquet: pyarrow must be installed, by pip install 'pliant[parquet]'") from trouble
    columns = columns_of(result, "to_parquet", quantities)
    fields = [pyarrow.field(column.name, pyarrow.float64(), metadata={"unit": column.unit}) for column in columns]
    schema = pyarrow.schema(fields, metadata={"title": result.name, "message": result.message})
    with atomic_write(path) as draft, parquet.ParquetWriter(draft, schema) as writer:
        for block in blocks_of(result, columns):
            writer.write_table(pyarrow.table([pyarrow.array(column) for column in block.T], schema=schema))
