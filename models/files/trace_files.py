"""Tables in files: columns of CSV and Parquet files as texts and numbers, or one sentence with the line and the rule."""

import csv
import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.errors import PATH, InstanceError, NotInstalled, shown
from fairalloc.models.files.jsonio import read_text
from fairalloc.models.numbers import Floats, plain


@dataclass(frozen=True)
class CsvTable:
    """The text of some columns of a CSV file and the line each row came from."""

    path: Path
    lines: Sequence[int]
    columns: Mapping[str, Sequence[str]]

    def numbers(self, column: str, *, whole: bool = False, missing: bool = False) -> Floats:
        """A column as finite numbers; `whole` where they must be whole, `missing` where an empty field is nan and no error."""
        text = self.columns[column]
        result = np.array([_number(t) for t in text])
        good = np.isfinite(result) & ((result == np.floor(result)) | (not whole))
        if missing:
            good |= np.array([t == "" for t in text])
        for k in np.flatnonzero(~good)[:1]:
            where, kind = f"{column} in line {self.lines[k]} of {self.path}", "whole" if whole else "finite"
            raise InstanceError(f"{where} is {text[k]!r}, but it must be a {kind} number")
        return result


def _number(text: str) -> float:
    try:
        return float(text) if text.isascii() and "_" not in text else np.nan  # Python reads 1_0 as 10
    except ValueError:
        return np.nan


def sample_file(folder: str | Path, *parts: str) -> Path:
    """A file of the data folder; InstanceError where there is no such folder."""
    if not Path(folder).is_dir():
        raise InstanceError(f"the data folder is {shown(str(folder), PATH)}, but there is no such folder")
    return Path(folder, *parts)


def csv_table(path: str | Path, columns: Sequence[str] = (), *, separator: str = ",") -> CsvTable:
    """The given columns of a .csv or .csv.gz file, () = all; separator "" = comma, semicolon or tab, as in the first line.

    InstanceError where the file cannot be read or has no rows, or a column or a field is missing.
    """
    lines = _lines(Path(path), separator)
    names = lines.pop(0)[1] if lines else []
    if not lines:
        raise InstanceError(f"{path} has no rows")
    columns = columns or names
    for column in columns:
        if (found := names.count(column)) != 1:
            there = ", ".join(names)
            raise InstanceError(f"{path} has {found} columns {column!r}, but it must have one: the columns are {there}")
    for number, fields in [line for line in lines if len(line[1]) != len(names)][:1]:
        there = f"{len(fields)} field{'s' * (len(fields) != 1)}"
        raise InstanceError(f"line {number} of {path} has {there}, but it must have {len(names)}")
    values = dict(zip(names, zip(*(fields for _, fields in lines), strict=True), strict=True))
    return CsvTable(Path(path), [number for number, _ in lines], {c: values[c] for c in columns})


def _lines(path: Path, separator: str) -> list[tuple[int, list[str]]]:
    """Line number and fields of every row of a .csv or .csv.gz file that is not empty; Bitbrains pads its fields with tabs."""
    try:
        text = gzip.decompress(path.read_bytes()).decode("utf-8-sig") if path.suffix == ".gz" else read_text(path)
        separator = separator or max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [(reader.line_num, [field.strip() for field in fields]) for fields in reader]
    except InstanceError:
        raise
    except csv.Error as error:
        raise InstanceError(f"{path} is not CSV: {error} in line {reader.line_num}") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:  # ValueError: no UTF-8, in the file or its name
        raise InstanceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return [row for row in rows if any(row[1])]


def pyarrow(what: str = "parquet files") -> Any:
    """The package that reads some files; NotInstalled where it is missing."""
    try:
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise NotInstalled(f'{what} need pyarrow: pip install "fairalloc[traces]"') from None
    return pyarrow


def parquet_table(path: str | Path, columns: Sequence[str] | None = None) -> Any:
    """A parquet file as a table of pyarrow, with those of the given columns that it has; None = all."""
    found = pyarrow()
    try:
        with Path(path).open("rb") as file:
            source = found.parquet.ParquetFile(file)
            names = source.schema_arrow.names
            table = source.read(columns=columns and [c for c in columns if c in names])
    except (OSError, ValueError, found.ArrowException) as error:  # ValueError: no UTF-8, in the file or its name
        # pyarrow also raises OSError, for damaged pages, but without the system's reason.
        reason = getattr(error, "strerror", None) or "it is not a whole parquet file"
        raise InstanceError(f"{path} cannot be read: {reason}") from None
    for name in [name for name in names if names.count(name) > 1][:1]:
        raise InstanceError(f"{path} has {names.count(name)} columns {name!r}, but it must have one")
    return table


def parquet_columns(path: Path, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The given columns of a parquet file as arrays of finite numbers; NotInstalled without pyarrow."""
    table = parquet_table(path, columns)
    for column in [column for column in columns if column not in table.column_names][:1]:
        raise InstanceError(f"{path} has no column {column!r}")
    result = {column: table[column].to_numpy() for column in columns}
    for column in [c for c, values in result.items() if not plain(values) or not np.all(np.isfinite(values))][:1]:
        raise InstanceError(f"column {column!r} of {path} holds something else than finite numbers")
    return result
