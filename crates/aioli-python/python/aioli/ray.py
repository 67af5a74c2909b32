"""Verifies signatures in datasets of Ray, on one machine or many."""

import os
from typing import Any, Unpack

import pyarrow as pa
import ray.data

from ._engines import Options, Verifier

ROWS = 65_536
"""The rows that a worker is given at a time."""


class _Worker(Verifier):
    """A worker has one processor, and is started again if it dies."""

    def __init__(self, **options: Unpack[Options]) -> None:
        # It is read when the first batch is verified.
        os.environ["RAYON_NUM_THREADS"] = "1"
        super().__init__(**options)

    def __call__(self, rows: pa.Table) -> pa.Table:
        return self.verified(rows)


class _Finder(_Worker):
    def __call__(self, rows: pa.Table) -> pa.Table:
        return self.failures(rows)


def verify(dataset: ray.data.Dataset, *, workers: Any = None, **options: Unpack[Options]) -> ray.data.Dataset:
    """The dataset with columns valid and reason.

    workers is their number, or the least and the most of them. By default one worker starts, and more
    follow while processors are free.
    """
    return _map(_Worker, dataset, workers, options)


def failures(dataset: ray.data.Dataset, *, workers: Any = None, **options: Unpack[Options]) -> ray.data.Dataset:
    """The rows that are not valid, with a column reason. Only these leave the workers."""
    return _map(_Finder, dataset, workers, options)


def _map(worker: type[_Worker], dataset: ray.data.Dataset, workers: Any, options: Options) -> ray.data.Dataset:
    least, most = workers if isinstance(workers, tuple) else (workers or 1, workers)
    pool = ray.data.ActorPoolStrategy(min_size=least, max_size=most)
    return dataset.map_batches(
        worker, fn_constructor_kwargs=options, batch_format="pyarrow", batch_size=ROWS, compute=pool
    )
