"""Stubs and annotations hold, as the checkers that people use see them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]

CORE = [
    "__init__",
    "__main__",
    "_calls",
    "_engine",
    "_errors",
    "_explain",
    "_flat",
    "_items",
    "_request",
    "_sessions",
    "_settings",
    "arrow",
    "types",
]

USE = """
import cupel_context as cupel
from typing import Any

messages: list[dict[str, str]] = [{"role": "user", "content": "a"}]
selection = cupel.select(messages, max_tokens=8)
reveal_type(selection.messages)
reveal_type(cupel.select({"messages": messages}).messages)
reveal_type(cupel.simulate(messages, budgets=[1]))
reveal_type(cupel.Session().next(messages).session["cached_tokens"])
cupel.select(messages, max_tokens="many")
cupel.Engine(polcy="auto")
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=HERE)


def package() -> Path:
    import cupel_context as cupel

    return Path(cupel.__file__).parent


def module(name: str) -> str:
    return "cupel_context" if name == "__init__" else f"cupel_context.{name}"


def test_mypy_is_strict_about_the_package() -> None:
    modules = [part for name in CORE for part in ("-m", module(name))]
    ran = run("mypy", "--strict", "--no-incremental", "--ignore-missing-imports", *modules)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_pyright_agrees() -> None:
    """It is a program for Node, whose path is in CUPEL_PYRIGHT."""
    command = os.environ.get("CUPEL_PYRIGHT")
    if command is None:
        pytest.skip("CUPEL_PYRIGHT names no pyright")
    files = [str(package() / f"{name}.py") for name in CORE if name != "arrow"]
    ran = subprocess.run([command, "--pythonpath", sys.executable, *files], capture_output=True, text=True, cwd=HERE)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_stub_says_what_the_module_has() -> None:
    ran = run("mypy.stubtest", "cupel_context._native")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_callers_see_types(tmp_path: Path) -> None:
    file = tmp_path / "use.py"
    file.write_text(USE)
    ran = run("mypy", "--strict", "--no-incremental", str(file))
    for told in (
        'Revealed type is "list[dict[str, str]]"',
        'Revealed type is "list[Any]"',
        "Windows",
        'Revealed type is "int"',
        'No overload variant of "select"',
        'Unexpected keyword argument "polcy"',
    ):
        assert told in ran.stdout, ran.stdout


def test_types_are_those_of_the_schemas() -> None:
    ran = subprocess.run(
        [sys.executable, "tools/make_types.py", "--check"], cwd=HERE, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr


def test_public_names_are_documented_with_examples() -> None:
    import cupel_context as cupel

    for name in cupel.__all__:
        if name != "__version__":
            assert (getattr(cupel, name).__doc__ or "").strip(), f"{name} has no documentation"
