"""Examples in docstrings and pages are run."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["cupel", "cupel._calls", "cupel._engine", "cupel._errors", "cupel._items"])
def test_examples_in_docstrings_hold(name: str) -> None:
    ran = doctest.testmod(importlib.import_module(name))
    assert ran.attempted > 0 and ran.failed == 0


def test_the_examples_of_the_page_run() -> None:
    """Blocks of Python that need no framework run in order, in one namespace."""
    page = (HERE / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    plain = [
        block
        for block in blocks
        if not re.search(r"^(from|import) (?!cupel\b|json\b|asyncio\b)", block, re.MULTILINE)
    ]
    assert len(plain) >= 3
    namespace: dict[str, object] = {}
    for block in plain:
        exec(compile(block, "README.md", "exec"), namespace)
