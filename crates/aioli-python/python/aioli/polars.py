"""Verifies signatures in Polars."""

from typing import Unpack

import polars as pl

from ._engines import Options, Verifier, columns


def verify(**options: Unpack[Options]) -> pl.Expr:
    """An expression of booleans: `frame.filter(~aioli.polars.verify(keys=keys))`."""
    verifier = Verifier(**options)

    def verdicts(rows: pl.Series) -> pl.Series:
        return pl.Series(verifier.verdicts(rows.struct.unnest()))

    rows = pl.struct(columns(options))
    return rows.map_batches(verdicts, return_dtype=pl.Boolean, is_elementwise=True).alias("valid")
