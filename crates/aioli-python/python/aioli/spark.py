"""Verifies signatures in frames of Spark."""

import os
from collections.abc import Callable, Iterator
from typing import Any, Unpack

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from ._engines import Options, Verifier


def verify(frame: DataFrame, **options: Unpack[Options]) -> DataFrame:
    """The frame with columns valid and reason."""
    return _map(Verifier.verified, frame, [_VALID, _REASON], options)


def failures(frame: DataFrame, **options: Unpack[Options]) -> DataFrame:
    """The rows that are not valid, with a column reason. Only these leave the workers."""
    return _map(Verifier.failures, frame, [_REASON], options)


def _map(work: Callable[..., Any], frame: DataFrame, added: list[StructField], options: Options) -> DataFrame:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Spark runs as many workers as there are processors.
        os.environ["RAYON_NUM_THREADS"] = "1"
        verifier = Verifier(**options)
        for batch in batches:
            yield work(verifier, batch)

    return frame.mapInArrow(run, StructType([*frame.schema.fields, *added]))


_VALID, _REASON = StructField("valid", BooleanType()), StructField("reason", StringType())
