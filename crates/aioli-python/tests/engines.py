"""100,000 rows, 1,024 of them bad, through every engine: each finds exactly these.

Not collected with the other tests, as the engines are large: `cargo xtask python --full` installs
them and runs this file.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aioli
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

# Engines warn of their own future.
pytestmark = pytest.mark.filterwarnings("default")

ROWS, BAD, KEYS = 100_000, 1024, 50

KINDS = [
    "another message", "null message", "another signature", "flipped bit", "short", "long", "empty", "null signature",
    "another key", "unknown key", "null key",
]


def spoil(row: dict[str, Any], kind: str, other: dict[str, Any]) -> None:
    signature = row["signature"]
    row |= {
        "another message": {"message": row["message"] + b"."},
        "null message": {"message": None},
        "another signature": {"signature": other["signature"]},
        "flipped bit": {"signature": bytes([signature[0] ^ 1]) + signature[1:]},
        "short": {"signature": signature[1:]},
        "long": {"signature": signature + b"\0"},
        "empty": {"signature": b""},
        "null signature": {"signature": None},
        "another key": {"key": other["key"]},
        "unknown key": {"key": "nobody"},
        "null key": {"key": None},
    }[kind]


class Items:
    """Files of rows in a folder, the keys, and the numbers of the bad rows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        keys = [aioli.SigningKey.generate("mayo2") for _ in range(KEYS)]
        rows: list[dict[str, Any]] = [
            {"row": row, "key": f"key {row % KEYS}", "message": b"message %d" % row} for row in range(ROWS)
        ]
        for number, key in enumerate(keys):
            mine = rows[number::KEYS]
            signatures = aioli.sign_table(key, pa.table({"message": [row["message"] for row in mine]}))
            for row, signed in zip(mine, pa.array(signatures).to_pylist(), strict=True):
                row["signature"] = signed
        # The step has no divisor in common with the number of keys, so every key has bad rows.
        self.bad = [i * 97 for i in range(BAD)]
        for i, place in enumerate(self.bad):
            spoil(rows[place], KINDS[i % len(KINDS)], rows[place + 1])
        self.table = pa.Table.from_pylist(rows)
        for part in range(10):
            pq.write_table(self.table.slice(part * ROWS // 10, ROWS // 10), folder / f"items-{part}.parquet")
        self.files = str(folder / "items-*.parquet")
        encoded = [key.public_key().public_bytes("DER", "SubjectPublicKeyInfo") for key in keys]
        self.keys = pa.table({"id": [f"key {number}" for number in range(KEYS)], "public_key": encoded})


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Items:
    return Items(tmp_path_factory.mktemp("items"))


def test_arrow(items: Items) -> None:
    valid = pa.array(aioli.verify_table(items.table, keys=items.keys))
    assert items.table.filter(pc.invert(valid))["row"].to_pylist() == items.bad


def test_polars(items: Items) -> None:
    import aioli.polars
    import polars as pl

    for frame in pl.scan_parquet(items.files), pl.from_arrow(items.table).lazy():
        failures = frame.filter(~aioli.polars.verify(keys=items.keys)).collect()
        assert sorted(failures["row"]) == items.bad
    added = pl.scan_parquet(items.files).with_columns(aioli.polars.verify(keys=items.keys)).collect()
    assert added["valid"].sum() == ROWS - BAD


def test_duckdb(items: Items) -> None:
    import aioli.duckdb
    import duckdb

    with duckdb.connect() as connection:
        aioli.duckdb.register(connection, keys=items.keys)
        query = f"SELECT row FROM '{items.files}' WHERE NOT mayo_verify(message, signature, key) ORDER BY row"
        assert [row for (row,) in connection.execute(query).fetchall()] == items.bad
        # A relation is a table, too.
        column = aioli.verify_table(connection.sql(f"SELECT * FROM '{items.files}'"), keys=items.keys)
        assert pa.array(column).false_count == BAD


def test_spark(items: Items, monkeypatch: pytest.MonkeyPatch) -> None:
    import aioli.spark
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.ui.enabled": "false", "spark.sql.execution.arrow.maxRecordsPerBatch": "65536"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    try:
        verified = aioli.spark.verify(session.read.parquet(items.files), keys=items.keys)
        failures = verified.filter("NOT valid").orderBy("row").collect()
        assert [row["row"] for row in failures] == items.bad
        assert all(row["reason"] for row in failures)
        alone = aioli.spark.failures(session.read.parquet(items.files), keys=items.keys)
        assert alone.columns == [*items.table.column_names, "reason"]
        assert sorted(row["row"] for row in alone.collect()) == items.bad
    finally:
        session.stop()


@contextlib.contextmanager
def ray_here() -> Iterator[None]:
    import ray

    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()


def test_ray_loses_nothing_when_a_worker_dies(items: Items, tmp_path: Path) -> None:
    import aioli.ray
    import ray.data
    from ray.data.expressions import col

    killed = tmp_path / "killed"

    def wait(batch: pa.Table) -> pa.Table:
        """Holds rows back until a worker was killed, so that it dies before the work is done."""
        while batch["row"][0].as_py() >= ROWS // 2 and not killed.exists():
            time.sleep(0.05)
        return batch

    def kill() -> None:
        while not (workers := processes("_Worker")):
            time.sleep(0.05)
        os.kill(workers[0], signal.SIGKILL)
        killed.touch()

    with ray_here():
        dataset = ray.data.read_parquet(str(items.folder)).map_batches(wait, batch_format="pyarrow")
        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        failures = aioli.ray.verify(dataset, workers=1, keys=items.keys).filter(expr=~col("valid")).take_all()
    assert killed.exists()
    assert sorted(row["row"] for row in failures) == items.bad
    assert all(row["reason"] for row in failures)


def processes(name: str) -> list[int]:
    """The processes of Ray that have this in their names."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "ray::" in line and name in line]


def test_daft(items: Items) -> None:
    import aioli.daft
    import daft

    frame = daft.read_parquet(items.files)
    failures = frame.where(~aioli.daft.verify(keys=items.keys)).to_pydict()
    assert sorted(failures["row"]) == items.bad


def test_the_programs_of_the_page_run(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/clusters.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(programs) > 3
    subprocess.run([sys.executable, "-c", "\n".join(programs)], cwd=tmp_path, check=True, timeout=600)
