"""What the engines share: the arguments of verify_table, and what a worker holds."""

from typing import Any, TypedDict, Unpack

import pyarrow as pa
import pyarrow.compute as pc

from . import KeyTable, verify_table


class Options(TypedDict, total=False):
    """The arguments of verify_table. If rows go to other processes, keys is a pyarrow.Table."""

    keys: Any
    algorithm: str | None
    message: str
    signature: str
    key: str


def columns(options: Options) -> list[str]:
    """The names of the columns that are read."""
    return [options.get("message", "message"), options.get("signature", "signature"), options.get("key", "key")]


class Verifier:
    """Reads the keys once, for many batches, and again if it is sent to another process."""

    def __init__(self, **options: Unpack[Options]) -> None:
        self.given = options
        keys = options.get("keys")
        self.options: dict[str, Any] = {**options}
        if keys is not None and not isinstance(keys, KeyTable):
            self.options["keys"] = KeyTable(keys, algorithm=self.options.pop("algorithm", None))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.given)

    def verdicts(self, rows: Any) -> pa.Array:
        return pa.array(verify_table(rows, **self.options))

    def verified(self, rows: Any) -> Any:
        """The rows of a table or batch of pyarrow's, with columns valid and reason."""
        verdicts = pa.record_batch(verify_table(rows, reason=True, **self.options))
        return rows.append_column("valid", verdicts["valid"]).append_column("reason", verdicts["reason"])

    def failures(self, rows: Any) -> Any:
        """The rows that are not valid, with a column reason."""
        verified = self.verified(rows)
        return verified.filter(pc.invert(verified["valid"])).drop_columns(["valid"])


def _again(kind: type[Verifier], options: Options) -> Verifier:
    return kind(**options)
