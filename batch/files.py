"""Files of texts for batch coding: Parquet, CSV and TSV are read as a stream of small tables, and codes are written.

A row is never left out: what cannot be read as a text comes along with its row number, and the coder says why. CSV is
read by the standard library, which keeps undecodable bytes (PEP 383); a TSV has no quotes (IANA registration of
text/tab-separated-values).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinical.errors import SourceError

CHUNK: Final = 2_000
"""Rows coded at once: a second or two of work, which is what an interruption loses."""
BUFFER: Final = 1 << 20
"""Bytes of a Parquet column read at once, so that a file of one huge row group does not have to fit in memory."""
FIELD_MAX: Final = 1 << 20
"""Characters of one CSV field; longer means a quote that was never closed."""
WRITTEN_ROWS: Final = 64_000
"""Rows of a row group of the output."""

KEPT: Final = "kept:"
"""Before the names of input columns that go into the output as they are, so that none is mistaken for one of ours."""
READABLE: Final = (".parquet", ".csv", ".tsv")
WRITABLE: Final = (".parquet", ".csv")


@dataclass(frozen=True)
class TextFile:
    """A file of texts. `id_column` None: the number of the row, from 1, is its id; `kept`: columns that are handed
    on."""

    path: Path
    column: str = "text"
    id_column: str | None = None
    kept: tuple[str, ...] = ()

    def count(self) -> int:
        """The number of rows, at least 1. Reads a CSV to its end: what is wrong with it shows before any work is done.

        Raises SourceError where the file is not there, of no known kind, without the columns, or with open quotes.
        """
        if self.path.suffix not in READABLE:
            raise SourceError(self.path.name, None, f"ends in {self.path.suffix!r}", " or ".join(READABLE), "rename it")
        if not self.path.is_file():
            raise SourceError(self.path.name, None, f"is not in {self.path.parent}", "a file", "name another")
        if self.path.suffix == ".parquet":
            self._check_parquet()
            rows = int(_opened(self.path).metadata.num_rows)
        else:
            rows = sum(1 for _ in self._lines_below(*self._header()))
        if rows == 0:
            raise SourceError(self.path.name, None, "holds no rows", "at least one text", "name another file")
        return rows

    def tables(self, size: int = CHUNK) -> Iterator[pa.Table]:
        """Tables of at most `size` rows in the order of the file: row (from 0), id, text (large_binary), malformed,
        and `kept:NAME` for each kept column."""
        first = 0
        for ids, texts, malformed, kept in self._parquet(size) if self.path.suffix == ".parquet" else self._csv(size):
            row = pa.array(range(first, first + len(texts)), pa.int64())
            identifiers = pc.add(row, 1) if ids is None else ids
            more = {f"{KEPT}{name}": column for name, column in zip(self.kept, kept, strict=True)}
            yield pa.table({"row": row, "id": identifiers, "text": texts, "malformed": malformed} | more)
            first += len(texts)

    def _wanted(self) -> list[str]:
        return list(dict.fromkeys([self.column, *([self.id_column] if self.id_column else []), *self.kept]))

    def _check_parquet(self) -> None:
        schema = _opened(self.path).schema_arrow
        for name in self._wanted():
            if name not in schema.names:
                raise _without(self.path, name, schema.names)
        kind = schema.field(self.column).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (_is_text(kind) or pa.types.is_null(kind)):
            raise SourceError(self.path.name, None, f"column {self.column} is {kind}", "text", "name another --column")

    def _parquet(self, size: int) -> Iterator[tuple[Any, pa.Array, pa.Array, list[Any]]]:
        with _opened(self.path) as file:
            for batch in file.iter_batches(size, columns=self._wanted(), use_threads=False):
                ids = batch.column(self.id_column) if self.id_column else None
                kept = [batch.column(name) for name in self.kept]
                yield ids, _bytes(batch.column(self.column)), pa.repeat(False, len(batch)), kept

    def _csv(self, size: int) -> Iterator[tuple[Any, pa.Array, pa.Array, list[Any]]]:
        names, delimiter = self._header()
        text, id_column = names.index(self.column), names.index(self.id_column) if self.id_column else None
        rows = self._lines_below(names, delimiter)
        while chunk := list(islice(rows, size)):
            fitting = [len(row) == len(names) for row in chunk]
            texts = [_raw(row[text]) if fits else None for row, fits in zip(chunk, fitting, strict=True)]
            malformed = pa.array([not fits for fits in fitting], pa.bool_())
            kept = [_ids(chunk, names.index(name)) for name in self.kept]
            yield _ids(chunk, id_column), pa.array(texts, pa.large_binary()), malformed, kept

    def _lines_below(self, names: Sequence[str], delimiter: str) -> Iterator[list[str]]:
        """The rows below the header. A blank line is an empty text where there is one column, and else no row."""
        rows = _lines(self.path, delimiter)
        next(rows)
        return (row or [""] for row in rows if row or len(names) == 1)

    def _header(self) -> tuple[list[str], str]:
        """Names of the columns, and the delimiter: the one under which the wanted columns are there."""
        widest: list[str] = []
        fault: SourceError | None = None
        for delimiter in "\t" if self.path.suffix == ".tsv" else ",;\t":
            try:
                names = next(_lines(self.path, delimiter), [])
            except SourceError as error:  # `"id";"text"`: another delimiter stands behind a closing quote
                fault = fault or error
                continue
            if set(self._wanted()) <= set(names):
                return names, delimiter
            widest = max(widest, names, key=len)
        if fault is not None and len(widest) < 2:
            raise fault
        raise _without(self.path, next(name for name in self._wanted() if name not in widest), widest)


def _opened(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER)
    except pa.ArrowInvalid:
        raise SourceError(path.name, None, "is damaged or no Parquet", "a Parquet file", "write it again") from None


def _without(path: Path, name: str, names: Sequence[str]) -> SourceError:
    known = ", ".join(name.encode(errors="replace").decode()[:40] for name in names[:20]) or "nothing"
    remedy = "name them with --column and --id-column"
    return SourceError(path.name, 1, f"has no column {name}; it has {known}", "the named columns", remedy)


def _is_text(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in (*tests, pa.types.is_string_view, pa.types.is_binary_view))


def _bytes(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        return pa.array(
            [None if value is None else value.as_buffer().to_pybytes() for value in column], pa.large_binary()
        )
    if pa.types.is_string(column.type):
        column = column.cast(pa.binary())
    return column.cast(pa.large_binary())


def _lines(path: Path, delimiter: str) -> Iterator[list[str]]:
    """Fields of each line. Raises SourceError, without the content, where quotes leave open what a field is."""
    csv.field_size_limit(FIELD_MAX)
    quoting: Literal[0, 3] = csv.QUOTE_NONE if path.suffix == ".tsv" else csv.QUOTE_MINIMAL
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, quoting=quoting, strict=True)
        try:
            yield from reader
        except csv.Error:
            expected = f"closed quotes, doubled inside, and fields up to {FIELD_MAX:,} characters"
            found = "a quote is not closed, or something stands behind a closing one"
            raise SourceError(path.name, reader.line_num, found, expected, "mend the file") from None


def _raw(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _ids(rows: Sequence[Sequence[str]], column: int | None) -> pa.Array | None:
    if column is None:
        return None
    readable = (_raw(row[column]).decode(errors="replace") if column < len(row) else None for row in rows)
    return pa.array(list(readable), pa.string())


def write(tables: Iterable[pa.Table], path: Path, about: dict[str, str]) -> None:
    """Write tables of one schema as Parquet (`about` in its metadata) or as CSV, a few at a time."""
    (_write_parquet if path.suffix == ".parquet" else _write_csv)(tables, path.with_name(f"{path.name}.tmp"), about)
    path.with_name(f"{path.name}.tmp").replace(path)


def _write_parquet(tables: Iterable[pa.Table], path: Path, about: dict[str, str]) -> None:
    writer: pq.ParquetWriter | None = None
    for table in _gathered(tables):
        if writer is None:
            schema = table.schema.with_metadata({"befund": json.dumps(about, sort_keys=True)})
            writer = pq.ParquetWriter(path, schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _gathered(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    held: list[pa.Table] = []
    for table in tables:
        held.append(table)
        if sum(map(len, held)) >= WRITTEN_ROWS:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def _write_csv(tables: Iterable[pa.Table], path: Path, about: dict[str, str]) -> None:
    """Lists are written with a blank between their values."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for number, table in enumerate(tables):
            if number == 0:
                writer.writerow(table.column_names)
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                writer.writerow([_cell(value) for value in row])


def _cell(value: object) -> object:
    if isinstance(value, list):
        return " ".join(f"{each:.6g}" if isinstance(each, float) else str(each) for each in value)
    return value
