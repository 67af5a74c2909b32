"""The command `python -m aioli verify-table`."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import aioli
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "aioli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Items, of which every seventh is not valid; keys; and where failures are to go."""
    keys = [aioli.SigningKey.generate(name) for name in ("mayo1", "mayo2")]
    rows = [{"message": b"%d" % i, "key": i % 2, "signature": keys[i % 2].sign(b"%d" % i)} for i in range(100)]
    for row in rows[::7]:
        row["message"] = b"another"
    encoded = [key.public_key().public_bytes("DER", "SubjectPublicKeyInfo") for key in keys]
    items, known = tmp_path / "items.parquet", tmp_path / "keys.parquet"
    pq.write_table(pa.Table.from_pylist(rows), items, row_group_size=30)
    pq.write_table(pa.table({"id": [0, 1], "public_key": encoded}), known)
    return items, known, tmp_path / "failures.parquet"


def test_failures_are_counted_and_written(files: tuple[Path, Path, Path]) -> None:
    items, keys, out = files
    done = run("verify-table", items, "--keys", keys, "--out", out)
    assert done.returncode == 1 and done.stderr == ""
    assert done.stdout.startswith("100 rows: 85 valid, 15 not valid; ")
    failures = pq.read_table(out)
    assert failures.column_names == ["row", "message", "key", "signature", "reason"]
    assert failures["row"].to_pylist() == list(range(0, 100, 7))
    assert set(failures["reason"].to_pylist()) == {"signature is not valid for this message and key"}
    assert failures.drop_columns(["row", "reason"]).equals(pq.read_table(items).take(list(range(0, 100, 7))))
    assert sorted(path.name for path in out.parent.iterdir()) == ["failures.parquet", "items.parquet", "keys.parquet"]


def test_all_valid_is_success(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    items, keys, out = files
    good = tmp_path / "good.parquet"
    pq.write_table(pq.read_table(items).slice(1, 6), good)
    done = run("verify-table", good, "--keys", keys, "--out", out)
    assert done.returncode == 0 and done.stdout.startswith("6 rows: 6 valid, 0 not valid; ")
    assert pq.read_table(out).num_rows == 0


def test_keys_may_be_bare_bytes_in_each_row(tmp_path: Path) -> None:
    key = aioli.SigningKey.generate("mayo2")
    raw = key.public_key().public_bytes_raw()
    table = pa.table({"text": [b"a", b"b"], "signature": [key.sign(b"a")] * 2, "key": [raw, raw]})
    pq.write_table(table, tmp_path / "items.parquet")
    done = run("verify-table", tmp_path / "items.parquet", "--set", "mayo2", "--message", "text")
    assert done.returncode == 1 and done.stdout.startswith("2 rows: 1 valid, 1 not valid; ")


def test_failures_are_a_table_to_verify_again(files: tuple[Path, Path, Path]) -> None:
    items, keys, out = files
    run("verify-table", items, "--keys", keys, "--out", out)
    again = out.with_name("again.parquet")
    done = run("verify-table", out, "--keys", keys, "--out", again)
    assert done.returncode == 1 and done.stdout.startswith("15 rows: 0 valid, 15 not valid; ")
    failures = pq.read_table(again)
    assert failures.column_names == ["_row", "row", "message", "key", "signature", "reason", "_reason"]
    assert failures["_row"].to_pylist() == list(range(15)) and failures["row"].to_pylist()[1] == 7


def test_what_cannot_be_verified_is_told_and_nothing_is_written(files: tuple[Path, Path, Path]) -> None:
    items, keys, out = files
    text = items.parent / "text"
    text.write_text("no table")
    refused: list[tuple[list[object], str]] = [
        ([items.parent / "absent", "--keys", keys], "absent"),
        ([text, "--keys", keys], "Parquet"),
        ([items, "--keys", keys, "--message", "m"], 'no column "m"'),
        ([items, "--keys", items], 'no column "public_key"'),
        ([items], 'column "key" is of Int64; expected Binary'),
        ([items, "--keys", keys, "--set", "mayo4"], "invalid choice"),
        ([], "the following arguments are required: items"),
    ]
    for arguments, message in refused:
        done = run("verify-table", *arguments, "--out", out)
        assert (done.returncode, done.stdout) == (2, "") and message in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    for source in items, keys:
        before = source.read_bytes()
        done = run("verify-table", items, "--keys", keys, "--out", source)
        assert done.returncode == 2 and "is also an input" in done.stderr
        assert source.read_bytes() == before
    assert not [path for path in out.parent.iterdir() if path.name.startswith(".") or path == out]


def test_pyarrow_is_asked_for(files: tuple[Path, Path, Path]) -> None:
    script = "import runpy, sys; sys.modules['pyarrow'] = None; runpy.run_module('aioli', run_name='__main__')"
    command = [sys.executable, "-c", script, "verify-table", str(files[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "pip install pyarrow" in done.stderr


def test_progress_is_shown_on_a_terminal(files: tuple[Path, Path, Path]) -> None:
    items, keys, _ = files
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "aioli", "verify-table", str(items), "--keys", str(keys)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=inner, check=False)
    os.close(inner)
    shown = os.read(outer, 10_000).decode()
    os.close(outer)
    assert done.returncode == 1 and done.stdout.startswith(b"100 rows")
    assert "100 of 100 rows" in shown
