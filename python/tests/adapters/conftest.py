"""Tests of adapters find the run that they share, and its examples run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"

sys.path.insert(0, str(HERE))


def ran(name: str) -> str:
    """What an example prints, run as a program of its own."""
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def example() -> object:
    return ran
