"""Runs each notebook of docs/notebooks from a fresh kernel, in an empty folder.

Not collected with the other tests: `cargo xtask python --full` installs what notebooks import and
runs this file. The notebooks with their charts are then in target/notebooks.
"""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[3]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))

# Kernels warn of their own future.
pytestmark = pytest.mark.filterwarnings("default")


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["engine", "first-table"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    kept = [cell.source for cell in cells if cell.outputs or cell.execution_count]
    assert not kept, "outputs are those of one machine; clear them"
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any("image/png" in output.get("data", {}) for cell in cells for output in cell.outputs)
    made = ROOT / "target/notebooks" / path.name
    made.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, made)
