"""The programs in examples/, and those in the documents."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CRATE = Path(__file__).parents[1]
DOCUMENTS = [CRATE / "README.md", CRATE.parents[1] / "docs/python.md"]


@pytest.mark.parametrize("program", sorted(CRATE.glob("examples/*.py")), ids=lambda path: path.name)
def test_an_example_runs(program: Path) -> None:
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "refuse" in done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_programs_of_a_document_run(document: Path, tmp_path: Path) -> None:
    """All blocks of Python in the order of the page, as one session; and then the commands."""
    text = document.read_text()
    programs = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    commands = re.findall(r"^python -m aioli (.*?)(?:  +#.*)?$", text, re.MULTILINE)
    assert programs
    subprocess.run([sys.executable, "-c", "\n".join(programs)], cwd=tmp_path, check=True)
    for command in commands:
        done = subprocess.run([sys.executable, "-m", "aioli", *command.split()], cwd=tmp_path, check=False)
        assert done.returncode == 1, command
