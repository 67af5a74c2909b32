"""The command `python -m aioli`: verifies tables in Parquet files."""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aioli

ROWS = 65_536
"""The rows that are read and verified at a time."""


def main() -> int:
    arguments = parser().parse_args()
    try:
        return verify_table(arguments)
    except ImportError as error:
        return complain(f"Parquet files are read by pyarrow: pip install pyarrow ({error})")
    except Exception as error:
        # The exit code of Python's own report would say that rows are not valid.
        return complain(str(error) or repr(error))


def complain(message: str) -> int:
    print(f"python -m aioli: {message}", file=sys.stderr)
    return 2


def parser() -> argparse.ArgumentParser:
    outer = argparse.ArgumentParser("python -m aioli", description="MAYO signatures in tables.")
    commands = outer.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "verify-table",
        help="verify each row of a Parquet file",
        description="Verifies each row of a Parquet file.",
        epilog="Exit codes: 0 all rows are valid, 1 some are not, 2 they could not be verified.",
    )
    command.add_argument("items", type=Path, help="Parquet file with a row for each signature")
    command.add_argument("--keys", type=Path, metavar="PATH", help="Parquet file of public keys: id, public_key")
    command.add_argument("--out", type=Path, metavar="PATH", help="write the rows that are not valid to this file, with columns row and reason")
    command.add_argument(
        "--set",
        choices=aioli.ALGORITHMS,
        help="the keys are bare bytes of this set; without it each is a SubjectPublicKeyInfo",
    )
    for name, what in (("message", "messages"), ("signature", "signatures"), ("key", "keys, or their ids with --keys")):
        command.add_argument(f"--{name}", default=name, metavar="COLUMN", help=f"the column of {what} ({name})")
    return outer


def verify_table(arguments: argparse.Namespace) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    options = {name: getattr(arguments, name) for name in ("message", "signature", "key")}
    if arguments.keys:
        options["keys"] = aioli.KeyTable(pq.read_table(arguments.keys), algorithm=arguments.set)
    else:
        options["algorithm"] = arguments.set
    start = time.monotonic()
    rows = bad = 0
    with pq.ParquetFile(arguments.items) as items, failures(arguments, items) as out:
        show = progress(items.metadata.num_rows)
        for batch in items.iter_batches(ROWS):
            verdicts = pa.record_batch(aioli.verify_table(batch, reason=True, **options))
            wrong = pc.invert(verdicts["valid"])
            if out and verdicts["valid"].false_count:
                places = pa.array(range(rows, rows + len(batch)), pa.int64())
                failed = pa.record_batch([places, *batch.columns, verdicts["reason"]], schema=out.schema)
                out.write_batch(failed.filter(wrong))
            rows += len(batch)
            bad += verdicts["valid"].false_count
            show(rows)
    seconds = time.monotonic() - start
    print(f"{rows:,} rows: {rows - bad:,} valid, {bad:,} not valid; {seconds:.1f} s")
    return 1 if bad else 0


@contextlib.contextmanager
def failures(arguments: argparse.Namespace, items: Any) -> Iterator[Any]:
    """A writer of the rows that are not valid, whose file appears as a whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path: Path | None = arguments.out
    if path is None:
        yield None
        return
    for source in (arguments.items, arguments.keys):
        if source and path.exists() and path.samefile(source):
            raise ValueError(f"{path} is also an input; expected another file for --out")
    taken = items.schema_arrow.names
    row, reason = free("row", taken), free("reason", taken)
    fields = [pa.field(row, pa.int64()), *items.schema_arrow, pa.field(reason, pa.string())]
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            with pq.ParquetWriter(file, pa.schema(fields)) as writer:
                yield writer
            file.close()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def free(name: str, taken: list[str]) -> str:
    """The name, after as many underscores as no column has."""
    while name in taken:
        name = f"_{name}"
    return name


def progress(total: int) -> Any:
    """Shows how far the work is, on a terminal alone."""
    if not sys.stderr.isatty():
        return lambda rows: None

    def show(rows: int) -> None:
        end = "\n" if rows == total else ""
        print(f"\r{rows:,} of {total:,} rows", end=end, file=sys.stderr, flush=True)

    return show


if __name__ == "__main__":
    sys.exit(main())
