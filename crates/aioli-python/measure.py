"""Measures operations from Python and prints a record of them as JSON.

    python crates/aioli-python/measure.py > records/MACHINE/DATE-COMMIT-python.json

All operations take turns in each round. Times are in microseconds: of one call, or of one row of a
table of 10,000 on one thread, which is the native loop with Arrow around it.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import aioli
import pyarrow as pa

ROUNDS, CALLS, ROWS = 30, 200, 10_000


def operations(algorithm: str) -> dict[str, tuple[int, Callable[[], object]]]:
    """The number of items in a run, and the run, by the name of the operation."""
    key = aioli.SigningKey.generate(algorithm)
    expanded, public_key = key.expand(), key.public_key()
    expanded_public_key = public_key.expand()
    message = bytes(32)
    signature = key.sign(message)
    table = pa.table({"message": [b"%032d" % i for i in range(ROWS)]})
    table = table.append_column("signature", pa.array(aioli.sign_table(key, table)))
    table = table.append_column("key", pa.array([0] * ROWS))
    keys = aioli.KeyTable(pa.table({"id": [0], "public_key": [public_key.public_bytes_raw()]}), algorithm=algorithm)

    def calls(operation: Callable[..., object], *arguments: bytes) -> tuple[int, Callable[[], object]]:
        def run() -> None:
            for _ in range(CALLS):
                operation(*arguments)

        return CALLS, run

    return {
        "sign": calls(key.sign, message),
        "sign, expanded": calls(expanded.sign, message),
        "verify": calls(public_key.verify, signature, message),
        "verify, expanded": calls(expanded_public_key.verify, signature, message),
        "sign_table": (ROWS, lambda: aioli.sign_table(expanded, table)),
        "verify_table": (ROWS, lambda: aioli.verify_table(table, keys=keys)),
    }


def origin() -> dict[str, object]:
    """The part of a record that says where it comes from."""
    git = ["git", "-C", os.path.dirname(os.path.abspath(__file__))]
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    dirty = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True).stdout != ""
    return {
        "commit": commit,
        "dirty": dirty,
        "python": sys.version,
        "pyarrow": pa.__version__,
        "machine": platform.processor() or platform.machine(),
        "load": os.getloadavg(),
    }


def main() -> None:
    # It is read when the first table is verified.
    os.environ["RAYON_NUM_THREADS"] = "1"
    sets = ["mayo1", "mayo2", "mayo3", "mayo5"]
    runs = {(name, what): run for name in sets for what, run in operations(name).items()}
    times: dict[tuple[str, str], list[float]] = {run: [] for run in runs}
    for _ in range(ROUNDS):
        for run, (items, work) in runs.items():
            start = time.perf_counter()
            work()
            times[run].append((time.perf_counter() - start) * 1e6 / items)
    quartiles = {run: statistics.quantiles(samples, n=4) for run, samples in times.items()}
    cells = [
        {"set": name, "operation": what, "first_quartile": low, "median": middle, "third_quartile": high}
        for (name, what), (low, middle, high) in quartiles.items()
    ]
    record = {**origin(), "unit": "microseconds", "rounds": ROUNDS, "cells": cells}
    json.dump(record, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
