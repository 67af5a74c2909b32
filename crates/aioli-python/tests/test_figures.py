"""The figures in docs/clusters.md."""

import json
from pathlib import Path
from typing import Any

import figures
import pytest


def cell(name: str, median: float) -> dict[str, Any]:
    return {
        "contender": name, "median": median, "ratio": median / 2, "start_seconds": 1.0, "first_run_seconds": 3.0,
        "processor": {"java": median, "python": median / 2, "idle": 0.0},
    }


def test_the_page_shows_the_latest_record_and_no_other_figures() -> None:
    page = figures.PAGE.read_text()
    assert page == figures.expected(page), "run crates/aioli-python/figures.py"


def test_figures_follow_from_a_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    names = ["Spark", "Spark, nothing verified", "Ray", "Ray, nothing verified"]
    record = {
        "set": "mayo2", "rows": 1000, "keys": 5, "cores": 2, "processor": "a processor", "rounds": 5,
        "load": [0.25, 0, 0], "load_after": [1.5, 0, 0],
        "cells": [cell(name, 3.6 + i) for i, name in enumerate(names)],
    }
    folder = tmp_path / "records/machine"
    folder.mkdir(parents=True)
    for date in ("2026-01-01", "2026-01-02"):
        (folder / f"{date}-1234567-tables.json").write_text(json.dumps(record))
    path = figures.latest()
    assert path and path.name.startswith("2026-01-02")
    text = figures.section(path)
    assert "| Spark | 3.60 | 1.80 | 1.0 | 3.0 |" in text
    assert "| Spark | 1.00 | 0.05 | 0.10 | 0.20 |" in text
    assert "- Spark: 5.40, of which java 3.60, python 1.80; 6.90 where nothing is verified" in text
    page = f"a\n{figures.BEGIN}old\n{figures.END}b\n"
    assert figures.expected(page) == f"a\n{figures.BEGIN}{text}{figures.END}b\n"
