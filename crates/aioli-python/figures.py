"""Writes the figures of the latest record of tables into docs/clusters.md.

    python crates/aioli-python/figures.py

`measure_tables.py` makes the record. A test demands that the page shows the latest one.
"""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/clusters.md"
BEGIN, END = "<!-- written by figures.py -->\n", "<!-- end -->\n"
PRICES = (0.05, 0.10, 0.20)
"""Dollars for an hour of a machine like the record's."""


def latest() -> Path | None:
    """The record with the last date, which its name begins with."""
    return max(ROOT.glob("records/*/*-tables.json"), key=lambda path: path.name, default=None)


def section(path: Path) -> str:
    record: dict[str, Any] = json.loads(path.read_text())
    cells: dict[str, Any] = {cell["contender"]: cell for cell in record["cells"]}
    engines = [name for name in cells if "nothing" not in name and "one thread" not in name]
    speeds = [
        f"| {name} | {cell['median']:.2f} | {cell['ratio']:.2f} | {cell['start_seconds']:.1f} | "
        f"{cell['first_run_seconds']:.1f} |"
        for name, cell in cells.items()
    ]
    costs = [
        f"| {name} | {cost(cells[name], 1):.2f} | " + " | ".join(f"{cost(cells[name], p):.2f}" for p in PRICES) + " |"
        for name in engines
    ]
    link = f"[This record](../{path.relative_to(ROOT)})"
    load = f"{record['load'][0]:.1f} before and {record['load_after'][0]:.1f} after"
    return f"""
{link}: {record["set"]}, {record["rows"]:,} rows under {record["keys"]} keys, {record["cores"]} processors
({record["processor"]}), medians of {record["rounds"]} turns; the machine's load was {load}.

| | µs a row | times `verify_table` | seconds to start | seconds of the first run |
| --- | ---: | ---: | ---: | ---: |
{chr(10).join(speeds)}

Microseconds of all processors together, a row:

{where(cells, "Spark")}
{where(cells, "Ray")}

Hours of that machine for a billion rows, and their cost at a price of so many dollars an hour:

| | hours | {" | ".join(f"at {price:.2f}" for price in PRICES)} |
| --- | ---: | {" | ".join("---:" for _ in PRICES)} |
{chr(10).join(costs)}

"""


def cost(cell: dict[str, Any], price: float) -> float:
    return 1e9 * float(cell["median"]) * 1e-6 / 3600 * price


def where(cells: dict[str, Any], name: str) -> str:
    """What an engine's processors do."""
    all, alone = (sum(cells[what]["processor"].values()) for what in (name, f"{name}, nothing verified"))
    parts = [f"{process} {time:.2f}" for process, time in cells[name]["processor"].items() if time >= 0.05 * all]
    return f"- {name}: {all:.2f}, of which {', '.join(parts)}; {alone:.2f} where nothing is verified"


def write(page: str, text: str) -> str:
    """The page with this text between its marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + text + END + after


def expected(page: str) -> str:
    path = latest()
    return write(page, section(path) if path else "")


if __name__ == "__main__":
    PAGE.write_text(expected(PAGE.read_text()))
