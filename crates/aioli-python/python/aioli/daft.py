"""Verifies signatures in Daft."""

from typing import Unpack

import daft
import pyarrow as pa

from ._engines import Options, Verifier, columns


def verify(**options: Unpack[Options]) -> daft.Expression:
    """An expression of booleans: `frame.where(~aioli.daft.verify(keys=keys))`."""
    verifier = Verifier(**options)
    names = columns(options)

    def verdicts(*series: daft.Series) -> pa.Array:
        arrays = [one.to_arrow() for one in series]
        return verifier.verdicts(pa.table(dict(zip(names, arrays, strict=True))))

    function = daft.func.batch(return_dtype=daft.DataType.bool(), use_process=False)(verdicts)
    expression: daft.Expression = function(*map(daft.col, names))
    return expression.alias("valid")
