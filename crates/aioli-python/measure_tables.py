"""Measures a table of signatures in every engine, and prints a record of it as JSON.

    python crates/aioli-python/measure_tables.py > records/MACHINE/DATE-COMMIT-tables.json

Each contender is a process of its own that counts the rows which are not valid in a folder of
Parquet files. It starts, runs once, and then takes turns with verify_table, on all cores, over the
same rows in memory; its ratio is to the turns beside it. Times are microseconds a row.
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aioli
import pyarrow as pa
import pyarrow.parquet as pq
from measure import origin

SET, KEYS, FILES = "mayo2", 50, 10
# A step without a common divisor with the number of keys, so that every key has bad rows.
BAD = slice(0, None, 997)
CORES = len(os.sched_getaffinity(0))

Run = Callable[[], int]


def loop(files: Path, keys: pa.Table) -> Iterator[Run]:
    """Python's loop over the rows, each a call of a key that was expanded before."""
    table = pq.read_table(files)
    pairs = zip(keys["id"].to_pylist(), keys["public_key"].to_pylist(), strict=True)
    known = {name: aioli.load_public_key(key).expand() for name, key in pairs}
    rows = [table[name].to_pylist() for name in ("message", "signature", "key")]

    def run() -> int:
        bad = 0
        for message, signature, key in zip(*rows, strict=True):
            try:
                known[key].verify(signature, message)
            except aioli.InvalidSignature:
                bad += 1
        return bad

    yield run


def memory(files: Path, keys: pa.Table) -> Iterator[Run]:
    table, known = pq.read_table(files), aioli.KeyTable(keys)
    yield lambda: pa.array(aioli.verify_table(table, keys=known)).false_count


def in_parts(files: Path, keys: pa.Table) -> Iterator[Run]:
    """The files themselves, in parts: what the command does."""
    known = aioli.KeyTable(keys)

    def run() -> int:
        parts = (part for file in files.iterdir() for part in pq.ParquetFile(file).iter_batches(65_536))
        return sum(pa.array(aioli.verify_table(part, keys=known)).false_count for part in parts)

    yield run


def polars(files: Path, keys: pa.Table) -> Iterator[Run]:
    import aioli.polars
    import polars as pl

    failures = pl.scan_parquet(files / "*.parquet").filter(~aioli.polars.verify(keys=keys))
    yield lambda: int(failures.select(pl.len()).collect().item())


def daft(files: Path, keys: pa.Table) -> Iterator[Run]:
    import aioli.daft
    import daft

    yield lambda: int(daft.read_parquet(f"{files}/*.parquet").where(~aioli.daft.verify(keys=keys)).count_rows())


def duckdb(files: Path, keys: pa.Table) -> Iterator[Run]:
    import aioli.duckdb
    import duckdb

    with duckdb.connect() as connection:
        aioli.duckdb.register(connection, keys=keys)
        query = f"SELECT count(*) FROM '{files}/*.parquet' WHERE NOT mayo_verify(message, signature, key)"
        yield lambda: int(connection.execute(query).fetchall()[0][0])


@contextlib.contextmanager
def session() -> Iterator[Any]:
    """A session of Spark with a worker for each core."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        # As many pieces as files, so that no core waits for the last one.
        "spark.sql.files.maxPartitionBytes": "32m",
    }
    spark = SparkSession.builder.master(f"local[{CORES}]").config(map=settings).getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def spark(files: Path, keys: pa.Table) -> Iterator[Run]:
    import aioli.spark

    with session() as spark:
        yield lambda: int(aioli.spark.failures(spark.read.parquet(str(files)), keys=keys).count())


def spark_alone(files: Path, keys: pa.Table) -> Iterator[Run]:
    """Gives the workers the same rows, verifies none, and returns none."""

    def nothing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.slice(0, 0)

    with session() as spark:
        frame = spark.read.parquet(str(files))
        yield lambda: int(frame.mapInArrow(nothing, frame.schema).count())


@contextlib.contextmanager
def cluster() -> Iterator[None]:
    """Ray on this machine alone."""
    import ray
    import ray.data

    # As many pieces as files.
    os.environ["RAY_DATA_PARQUET_BIN_PACKING_BYTES"] = str(32 << 20)
    # Reading takes little, but Ray wants a processor for it.
    ray.init(num_cpus=CORES + 1, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False

    try:
        yield
    finally:
        ray.shutdown()


def ray(files: Path, keys: pa.Table) -> Iterator[Run]:
    import aioli.ray
    import ray.data

    def run() -> int:
        dataset = ray.data.read_parquet(str(files))
        return int(aioli.ray.failures(dataset, workers=CORES, keys=keys).count())

    with cluster():
        yield run


class Nothing:
    """A worker that is given the same rows, verifies none, and returns none."""

    def __call__(self, rows: pa.Table) -> pa.Table:
        return rows.slice(0, 0)


def ray_alone(files: Path, keys: pa.Table) -> Iterator[Run]:
    import aioli.ray
    import ray.data

    def run() -> int:
        dataset = ray.data.read_parquet(str(files))
        pool = ray.data.ActorPoolStrategy(size=CORES)
        rows = aioli.ray.ROWS
        return int(dataset.map_batches(Nothing, batch_format="pyarrow", batch_size=rows, compute=pool).count())

    with cluster():
        yield run


# Each with the number of threads of verify_table, and the package whose version is recorded.
CONTENDERS: dict[str, tuple[Callable[[Path, pa.Table], Iterator[Run]], int, str]] = {
    "loop in Python, one thread": (loop, 1, "aioli"),
    "verify_table, one thread": (memory, 1, "pyarrow"),
    "verify_table, files in parts": (in_parts, CORES, "pyarrow"),
    "Polars": (polars, CORES, "polars"),
    "Daft": (daft, CORES, "daft"),
    "DuckDB": (duckdb, CORES, "duckdb"),
    "Spark": (spark, 1, "pyspark"),
    "Spark, nothing verified": (spark_alone, 1, "pyspark"),
    "Ray": (ray, 1, "ray"),
    "Ray, nothing verified": (ray_alone, 1, "ray"),
}
FIND_NOTHING = ["Spark, nothing verified", "Ray, nothing verified"]
NATIVE = "verify_table"


def contend(name: str, folder: Path) -> None:
    """The process of a contender: answers each line of input by a run's number of bad rows."""
    # Engines print where they like.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    make = memory if name == NATIVE else CONTENDERS[name][0]
    for run in make(folder / "items", pq.read_table(folder / "keys.parquet")):
        print("ready", file=answers, flush=True)
        for _ in sys.stdin:
            print(run(), file=answers, flush=True)


class Contender:
    """A contender's process, and its runs."""

    def __init__(self, name: str, threads: int, folder: Path, bad: int) -> None:
        self.name, self.bad = name, 0 if name in FIND_NOTHING else bad
        environment = os.environ | {"RAYON_NUM_THREADS": str(threads)}
        command = [sys.executable, __file__, "--contend", name, "--folder", str(folder)]
        start = time.perf_counter()
        self.process = subprocess.Popen(command, env=environment, text=True, stdin=-1, stdout=-1)
        self.answer("ready")
        self.start_seconds = time.perf_counter() - start

    def answer(self, expected: str) -> None:
        assert self.process.stdout
        given = self.process.stdout.readline().strip()
        if given != expected:
            raise RuntimeError(f"{self.name} answered {given!r}; expected {expected!r}")

    def run(self) -> float:
        assert self.process.stdin
        start = time.perf_counter()
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.answer(str(self.bad))
        return time.perf_counter() - start

    def processor_seconds(self) -> dict[str, float]:
        """The time of its processes and of their children, by the names of the processes."""
        tick = os.sysconf("SC_CLK_TCK")
        parents: dict[int, int] = {}
        used: dict[int, tuple[str, float]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                head, tail = stat.read_text().rsplit(")", 1)
                number, name = head.split(" (", 1)
                fields = tail.split()
                parents[int(number)] = int(fields[1])
                used[int(number)] = (name, (int(fields[11]) + int(fields[12])) / tick)
        seconds: dict[str, float] = {}
        for pid, (name, spent) in used.items():
            ancestor = pid
            while ancestor in parents and ancestor != self.process.pid:
                ancestor = parents[ancestor]
            if ancestor == self.process.pid:
                seconds[name] = seconds.get(name, 0.0) + spent
        return seconds

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def make(folder: Path, rows: int) -> int:
    """Writes items and keys; returns the number of bad rows."""
    (folder / "items").mkdir()
    keys = [aioli.SigningKey.generate(SET) for _ in range(KEYS)]
    known = [key.public_key().public_bytes("DER", "SubjectPublicKeyInfo") for key in keys]
    pq.write_table(pa.table({"id": [f"key {i}" for i in range(KEYS)], "public_key": known}), folder / "keys.parquet")
    messages = [b"receipt %d" % row for row in range(rows)]
    signatures = [b""] * rows
    for number, key in enumerate(keys):
        mine = pa.table({"message": messages[number::KEYS]})
        signatures[number::KEYS] = pa.array(aioli.sign_table(key, mine)).to_pylist()
    bad = signatures[BAD]
    signatures[BAD] = [bytes([signature[0] ^ 1]) + signature[1:] for signature in bad]
    ids = [f"key {row % KEYS}" for row in range(rows)]
    table = pa.table({"row": range(rows), "message": messages, "key": ids, "signature": signatures})
    for part in range(FILES):
        some = table.slice(part * rows // FILES, rows // FILES)
        pq.write_table(some, folder / "items" / f"{part}.parquet")
    return len(bad)


def measure(folder: Path, rows: int, rounds: int, names: list[str]) -> dict[str, Any]:
    bad = make(folder, rows)
    native = Contender(NATIVE, CORES, folder, bad)
    native.run()
    cells = []
    for name in names:
        contender = Contender(name, CONTENDERS[name][1], folder, bad)
        first = contender.run()
        contender.run()
        times: dict[Contender, list[float]] = {native: [], contender: []}
        before = contender.processor_seconds()
        for _ in range(rounds):
            for one, samples in times.items():
                samples.append(one.run() * 1e6 / rows)
        after = contender.processor_seconds()
        contender.close()
        low, middle, high = statistics.quantiles(times[contender], n=4)
        quartiles = {"first_quartile": low, "median": middle, "third_quartile": high}
        beside = statistics.median(times[native])
        unit = 1e6 / rows / rounds
        spent = {process: (seconds - before.get(process, 0.0)) * unit for process, seconds in after.items()}
        processor = {process: spent[process] for process in sorted(spent, key=lambda process: -spent[process])}
        busy = sum(processor.values())
        print(f"{name}: {quartiles['median']:.2f}; native {beside:.2f}; processor {busy:.2f}", file=sys.stderr)
        cells.append(
            {
                "contender": name,
                "version": importlib.metadata.version(CONTENDERS[name][2]),
                "start_seconds": contender.start_seconds,
                "first_run_seconds": first,
                **quartiles,
                "native": beside,
                "ratio": quartiles["median"] / beside,
                "processor": processor,
            }
        )
    native.close()
    return {"cells": cells}


def processor_name() -> str:
    name = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return name[1] if name else "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="a multiple of 500")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", choices=CONTENDERS, metavar="CONTENDER", help="measure these alone")
    parser.add_argument("--contend", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contend:
        return contend(arguments.contend, arguments.folder)
    if arguments.rows % (KEYS * FILES):
        parser.error(f"--rows {arguments.rows}: expected a multiple of {KEYS * FILES}")
    record = {
        **origin(),
        "unit": "microseconds a row",
        "set": SET,
        "rows": arguments.rows,
        "keys": KEYS,
        "rounds": arguments.rounds,
        "processor": processor_name(),
        "cores": CORES,
    }
    with tempfile.TemporaryDirectory() as folder:
        record |= measure(Path(folder), arguments.rows, arguments.rounds, arguments.only or [*CONTENDERS])
    record["load_after"] = os.getloadavg()
    json.dump(record, sys.stdout, indent=2)
    print()
    return None


if __name__ == "__main__":
    main()
