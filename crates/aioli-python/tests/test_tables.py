"""Tables of signatures: every type of column, every kind of bad row."""

import os
import subprocess
import sys
from typing import Any

import aioli
import pyarrow as pa
import pytest

ROWS = 24


@pytest.fixture(scope="module")
def key() -> aioli.SigningKey:
    return aioli.SigningKey.generate("mayo2")


@pytest.fixture(scope="module")
def table(key: aioli.SigningKey) -> pa.Table:
    """Signatures by two keys, the second of which has the rows at odd places."""
    keys = [key, aioli.SigningKey.generate("mayo2")]
    messages = [f"message {i}".encode() for i in range(ROWS)]
    return pa.table({
        "message": messages,
        "signature": [keys[i % 2].sign(message) for i, message in enumerate(messages)],
        "key": [keys[i % 2].public_key().public_bytes_raw() for i in range(ROWS)],
    })


def verdicts(*arguments: Any, **options: Any) -> list[bool]:
    column = aioli.verify_table(*arguments, **options)
    result: list[bool] = pa.array(column).to_pylist()
    assert len(column) == len(result)
    return result


def reasons(*arguments: Any, **options: Any) -> list[str | None]:
    batch = pa.record_batch(aioli.verify_table(*arguments, reason=True, **options))
    found: list[str | None] = batch["reason"].to_pylist()
    assert batch["valid"].to_pylist() == [reason is None for reason in found]
    assert found and batch.schema == pa.schema([pa.field("valid", pa.bool_(), False), pa.field("reason", pa.string())])
    return found


def key_table(table: pa.Table, ids: list[Any]) -> pa.Table:
    return pa.table({"id": ids, "public_key": table["key"][:2]})


def test_every_row_of_a_good_table_is_valid(table: pa.Table) -> None:
    assert verdicts(table, algorithm="mayo2") == [True] * ROWS
    assert reasons(table, algorithm="mayo2") == [None] * ROWS
    for part in table.to_batches()[0], table.slice(5, 7), table.to_batches()[0].slice(3), table.to_reader(5):
        assert set(verdicts(part, algorithm="mayo2")) == {True}
    in_pieces = pa.concat_tables([table.slice(i, 5) for i in range(0, ROWS, 5)])
    assert verdicts(in_pieces, algorithm="mayo2") == [True] * ROWS
    assert verdicts(table.slice(0, 0), algorithm="mayo2") == []


class Batch:
    """A batch that can be had as an array alone."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        pair: tuple[object, object] = self.batch.__arrow_c_array__()
        return pair


def test_a_batch_is_taken_as_an_array(table: pa.Table) -> None:
    batch = Batch(table.to_batches()[0])
    assert verdicts(batch, algorithm="mayo2") == [True] * ROWS
    with pytest.raises(TypeError, match="expected a table, given a column of Int64"):
        aioli.verify_table(Batch(pa.array([1])), algorithm="mayo2")
    row = pa.array([{"message": b""}, None])
    with pytest.raises(ValueError, match="null as a whole"):
        aioli.verify_table(Batch(row), algorithm="mayo2")


@pytest.mark.parametrize("type_", [
    pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int8(), pa.binary()),
    pa.dictionary(pa.uint32(), pa.large_binary()), "fixed",
], ids=str)
@pytest.mark.parametrize("name", ["signature", "key"])
def test_bytes_may_have_any_of_arrows_types(table: pa.Table, name: str, type_: Any) -> None:
    width = len(table[name][0].as_py())
    values = table[name].to_pylist()
    values[3] = None
    column = pa.array(values, pa.binary(width) if type_ == "fixed" else pa.binary())
    if pa.types.is_dictionary(column_type := column.type if type_ == "fixed" else type_):
        column = column.cast(column_type.value_type).dictionary_encode().cast(column_type)
    else:
        column = column.cast(column_type)
    changed = table.set_column(table.column_names.index(name), name, column)
    assert changed.schema.field(name).type == column_type
    assert reasons(changed, algorithm="mayo2") == [None] * 3 + [f"{name} is null"] + [None] * (ROWS - 4)
    assert verdicts(changed.slice(3), algorithm="mayo2") == [False] + [True] * (ROWS - 4)


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string())], ids=str)
def test_messages_may_be_strings(table: pa.Table, type_: Any) -> None:
    texts = pa.array([message.decode() for message in table["message"].to_pylist()])
    column = texts.dictionary_encode().cast(type_) if pa.types.is_dictionary(type_) else texts.cast(type_)
    assert verdicts(table.set_column(0, "message", column), algorithm="mayo2") == [True] * ROWS


@pytest.mark.parametrize("type_", [
    pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.string(),
    pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int32(), pa.int64()),
], ids=str)
def test_ids_may_be_numbers_strings_or_bytes(table: pa.Table, type_: Any) -> None:
    def ids(numbers: list[int | None]) -> pa.Array:
        value_type = type_.value_type if pa.types.is_dictionary(type_) else type_
        if pa.types.is_integer(value_type):
            column = pa.array(numbers, value_type)
        else:
            column = pa.array([None if number is None else str(number) for number in numbers]).cast(value_type)
        return column.dictionary_encode().cast(type_) if pa.types.is_dictionary(type_) else column

    of_rows: list[int | None] = [100 + i % 2 for i in range(ROWS)]
    of_rows[4], of_rows[7] = None, 99
    expected: list[str | None] = [None] * ROWS
    expected[4], expected[7] = "key is null", "no key has this id"
    rows = table.set_column(2, "key", ids(of_rows))
    keys = pa.table({"id": ids([100, 101]), "public_key": table["key"][:2]})
    assert reasons(rows, keys=keys, algorithm="mayo2") == expected
    assert reasons(rows, keys=aioli.KeyTable(keys, algorithm="mayo2")) == expected


def test_a_bad_row_is_false_and_says_why(table: pa.Table) -> None:
    columns = table.to_pydict()
    expected: list[str | None] = [None] * ROWS
    columns["message"][0], expected[0] = b"another", "signature is not valid for this message and key"
    columns["message"][1], expected[1] = None, "message is null"
    columns["signature"][2], expected[2] = None, "signature is null"
    columns["signature"][3], expected[3] = b"short", "signature of mayo2 has 239 bytes, not 5"
    columns["signature"][4], expected[4] = b"", "signature of mayo2 has 239 bytes, not 0"
    columns["key"][5], expected[5] = None, "key is null"
    columns["key"][6], expected[6] = b"short", "public key of mayo2 has 2928 bytes, not 5"
    columns["key"][7], expected[7] = columns["key"][0], "signature is not valid for this message and key"
    columns["signature"][8] = columns["signature"][8][:-1] + bytes([columns["signature"][8][-1] ^ 1])
    expected[8] = expected[0]
    bad = pa.table(columns)
    assert reasons(bad, algorithm="mayo2") == expected
    assert verdicts(bad, algorithm="mayo2") == [reason is None for reason in expected]


def test_keys_of_several_sets_name_their_set_themselves(table: pa.Table) -> None:
    keys = [aioli.SigningKey.generate(name) for name in aioli.ALGORITHMS if name != "mayo2-round2"]
    message = b"one message"
    rows = pa.table({
        "m": [message] * len(keys),
        "s": [key.sign(message) for key in keys],
        "k": [key.public_key().public_bytes("DER", "SubjectPublicKeyInfo") for key in keys],
    })
    names = {"message": "m", "signature": "s", "key": "k"}
    assert verdicts(rows, **names) == [True] * len(keys)
    assert set(reasons(rows, algorithm="mayo1", **names)[1:3]) == {
        f"public key of mayo1 has 1456 bytes, not {len(rows['k'][i].as_py())}" for i in (1, 2)
    }
    assert reasons(table.slice(0, 1)) == ["not a key in PEM or DER: " + reason_of_der(table["key"][0].as_py())]
    pem = pa.array([key.public_key().public_bytes("PEM", "SubjectPublicKeyInfo").decode() for key in keys])
    known = aioli.KeyTable(pa.table({"n": list(range(len(keys))), "p": pem}), id="n", public_key="p")
    assert len(known) == len(keys)
    by_id = rows.set_column(2, "k", pa.array(range(len(keys))))
    assert verdicts(by_id, keys=known, **names) == [True] * len(keys)


def reason_of_der(file: bytes) -> str:
    with pytest.raises(ValueError) as caught:
        aioli.load_public_key(file)
    return str(caught.value).removeprefix("not a key in PEM or DER: ")


def test_a_bad_key_of_a_key_table_concerns_its_rows_alone(table: pa.Table) -> None:
    keys = pa.table({"id": [0, 1, 2], "public_key": [table["key"][0].as_py(), b"short", None]})
    rows = table.set_column(2, "key", pa.array([0, 1, 2] * (ROWS // 3)))
    found = reasons(rows, keys=keys, algorithm="mayo2")
    assert found[:3] == [None, "public key of mayo2 has 2928 bytes, not 5", "public key is null"]


def test_what_concerns_all_rows_raises(table: pa.Table, key: aioli.SigningKey) -> None:
    with pytest.raises(ValueError, match='no column "message"; the columns are signature, key'):
        aioli.verify_table(table.drop_columns("message"), algorithm="mayo2")
    with pytest.raises(ValueError, match='no column "m"'):
        aioli.sign_table(key, table, message="m")
    with pytest.raises(TypeError, match='column "message" is of Int64; expected Binary, LargeBinary, .* or a dictionary'):
        aioli.verify_table(table.set_column(0, "message", pa.array(range(ROWS))), algorithm="mayo2")
    with pytest.raises(TypeError, match='column "id" is of Float64; expected integers'):
        aioli.KeyTable(key_table(table, [0.0, 1.0]))
    with pytest.raises(TypeError, match="expected a table with Arrow's PyCapsule interface .*; given <class 'dict'>"):
        aioli.verify_table(table.to_pydict(), algorithm="mayo2")
    with pytest.raises(ValueError, match="unknown set"):
        aioli.verify_table(table, algorithm="mayo4")
    with pytest.raises(ValueError, match="keys 0 and 1 have one id"):
        aioli.KeyTable(key_table(table, [7, 7]))
    with pytest.raises(ValueError, match="key 1 has no id"):
        aioli.KeyTable(key_table(table, ["a", None]))
    known = aioli.KeyTable(key_table(table, [0, 1]), algorithm="mayo2")
    with pytest.raises(ValueError, match="expected no algorithm"):
        aioli.verify_table(table, keys=known, algorithm="mayo2")


def test_the_error_of_a_producer_is_told() -> None:
    def fail() -> Any:
        yield pa.record_batch({"message": [b""], "signature": [b""], "key": [b""]})
        raise RuntimeError("the disk is on fire")

    schema = pa.schema([(name, pa.binary()) for name in ("message", "signature", "key")])
    with pytest.raises(ValueError, match="the disk is on fire"):
        aioli.verify_table(pa.RecordBatchReader.from_batches(schema, fail()), algorithm="mayo2")


def test_a_capsule_of_something_else_is_refused(table: pa.Table) -> None:
    class Wrong:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return table.schema.__arrow_c_schema__()

    with pytest.raises(ValueError, match="incorrect name"):
        aioli.verify_table(Wrong(), algorithm="mayo2")


def test_a_stream_is_read_once(table: pa.Table) -> None:
    class Same:
        capsule = table.__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.capsule

    assert verdicts(Same(), algorithm="mayo2") == [True] * ROWS
    with pytest.raises(ValueError, match="already released"):
        aioli.verify_table(Same(), algorithm="mayo2")


def test_a_table_is_signed(table: pa.Table, key: aioli.SigningKey) -> None:
    messages = table["message"].to_pylist()
    messages[5] = None
    rows = pa.table({"message": messages})
    for signer in key, key.expand(checked=True):
        column = pa.array(aioli.sign_table(signer, rows))
        assert column.type == pa.binary(239) and column.null_count == 1
        signed = rows.append_column("signature", column)
        signed = signed.append_column("key", pa.array([key.public_key().public_bytes_raw()] * ROWS))
        assert reasons(signed, algorithm="mayo2") == [None] * 5 + ["message is null"] + [None] * (ROWS - 6)
    assert len(aioli.sign_table(key, rows.slice(0, 0))) == 0


def test_a_column_shows_its_length_and_type(table: pa.Table) -> None:
    column = aioli.verify_table(table, algorithm="mayo2")
    assert repr(column) == f"<aioli.Column of {ROWS} x Boolean>"
    assert pa.DataType._import_from_c_capsule(column.__arrow_c_schema__()) == pa.bool_()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_of_a_process_verifies_too() -> None:
    # The fork is made in a process of its own, as one with other threads gives warnings, which fail
    # here.
    script = """
import os, sys, warnings
import aioli, pyarrow as pa
warnings.simplefilter("ignore")
key = aioli.SigningKey.generate("mayo2")
rows = pa.table({"message": [b"m"] * 64, "signature": [key.sign(b"m")] * 64})
rows = rows.append_column("key", pa.array([key.public_key().public_bytes_raw()] * 64))
def all_valid():
    return pa.array(aioli.verify_table(rows, algorithm="mayo2")).to_pylist() == [True] * 64
assert all_valid()
child = os.fork()
if child == 0:
    os._exit(0 if all_valid() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert all_valid()
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
