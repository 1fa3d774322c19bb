"""Examples in docstrings and pages are run."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["cupel_context", "cupel_context._calls", "cupel_context._engine", "cupel_context._errors", "cupel_context._items", "cupel_context._retrieve"])
def test_examples_in_docstrings_hold(name: str) -> None:
    ran = doctest.testmod(importlib.import_module(name))
    assert ran.attempted > 0 and ran.failed == 0


@pytest.mark.parametrize(("page", "least"), [(HERE / "README.md", 7), (HERE.parent / "README.md", 1)])
def test_the_examples_of_a_page_run(page: Path, least: int) -> None:
    """Blocks of Python that need no framework run in order, in one namespace."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    plain = [
        block
        for block in blocks
        if not re.search(r"^(from|import) (?!cupel_context\b|json\b|asyncio\b|logging\b)", block, re.MULTILINE)
    ]
    assert len(plain) >= least
    namespace: dict[str, object] = {}
    for block in plain:
        exec(compile(block, str(page), "exec"), namespace)
