"""Verifies signatures in frames of Spark."""

import os
from collections.abc import Iterator
from typing import Unpack

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from ._engines import Options, Verifier


def verify(frame: DataFrame, **options: Unpack[Options]) -> DataFrame:
    """The frame with columns valid and reason: `verify(frame, keys=keys).filter("NOT valid")`."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Spark runs as many workers as there are processors.
        os.environ["RAYON_NUM_THREADS"] = "1"
        yield from map(Verifier(**options), batches)

    added = [StructField("valid", BooleanType()), StructField("reason", StringType())]
    return frame.mapInArrow(run, StructType([*frame.schema.fields, *added]))
