"""Model files: YAML with the vocabulary of the Python API, read into a System and written back."""

from pliant.files.document import ModelFileError
from pliant.files.formula import parse_formula, parse_number
from pliant.files.reader import Model, load_model, loads_model
from pliant.files.run_settings import RunSettings
from pliant.files.writer import dump_model

__all__ = [
    "Model",
    "ModelFileError",
    "RunSettings",
    "dump_model",
    "load_model",
    "loads_model",
    "parse_formula",
    "parse_number",
]
