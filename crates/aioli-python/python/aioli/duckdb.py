"""Verifies signatures in DuckDB."""

from typing import Unpack

import duckdb
import pyarrow as pa

from ._engines import Options, Verifier, columns


def register(
    connection: duckdb.DuckDBPyConnection,
    *,
    name: str = "mayo_verify",
    key_type: str = "VARCHAR",
    **options: Unpack[Options],
) -> None:
    """Makes a function of SQL: `... WHERE NOT mayo_verify(message, signature, key)`.

    Messages and signatures are BLOBs; keys, or their ids, have the type key_type.
    """
    verifier = Verifier(**options)
    names = columns(options)

    def verdicts(message: pa.Array, signature: pa.Array, key: pa.Array) -> pa.Array:
        return verifier.verdicts(pa.table(dict(zip(names, (message, signature, key), strict=True))))

    blob, boolean = duckdb.sqltype("BLOB"), duckdb.sqltype("BOOLEAN")
    types = [blob, blob, duckdb.sqltype(key_type)]
    # Nulls come here too, and are not valid.
    connection.create_function(name, verdicts, types, boolean, type="arrow", null_handling="special")
